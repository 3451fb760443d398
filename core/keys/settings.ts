import { checkGlobs, checkText } from '../accounts/text.ts'
import { GatewayError } from '../errors.ts'
import type { KeysTable } from '../store/schema.ts'
import type { ApiKey } from './api-key.ts'

/** What a key may be told to be, when it is made and later. */
export interface KeySettings {
  /** 1 to 100 characters, for people. */
  readonly name: string
  /** Globs of model ids that narrow what the account may call. */
  readonly models: readonly string[]
  /** A rate class of routes.yaml; null: the account's, or else the default one. */
  readonly rateClass: string | null
  /** Milliseconds since 1970; null: never. */
  readonly expires: number | null
  /** Labels for usage and metrics, such as `team`. */
  readonly tags: Readonly<Record<string, string>>
}

const MOST_TAGS = 10

/** The settings of a key as they stand, for the audit trail: its times as people read them. */
export function settingsOf({ name, models, rateClass, expiresAt, tags }: ApiKey) {
  const expires_at = expiresAt === undefined ? null : new Date(expiresAt).toISOString()
  return { name, models, rate_class: rateClass ?? null, expires_at, tags }
}

type Columns = Pick<KeysTable, 'name' | 'models' | 'rate_class' | 'expires_at' | 'tags'>

/** How settings are stored: the columns of those that are given. */
export function columnsOf<Given extends Partial<KeySettings>>(
  given: Given,
): Given extends KeySettings ? Columns : Partial<Columns> {
  const { name, models, rateClass, expires, tags } = given
  const columns: Partial<Columns> = {
    ...(name !== undefined && { name }),
    ...(models !== undefined && { models: JSON.stringify(models) }),
    ...(rateClass !== undefined && { rate_class: rateClass }),
    ...(expires !== undefined && { expires_at: expires }),
    ...(tags !== undefined && { tags: JSON.stringify(tags) }),
  }
  return columns as Given extends KeySettings ? Columns : Partial<Columns>
}

/** Throws `invalid_value` where a key cannot be so. */
export function checkSettings({ name, models, rateClass, expires, tags }: Partial<KeySettings>): void {
  if (name !== undefined) checkText('name', name)
  if (rateClass != null) checkText('rate_class', rateClass)
  if (models !== undefined) checkGlobs('models', models)
  if (expires != null && !(expires > Date.now())) throw invalid('expires_at', 'it has passed already; give a time to come')
  checkTags(tags ?? {})
}

function checkTags(tags: KeySettings['tags']): void {
  const entries = Object.entries(tags)
  if (entries.length > MOST_TAGS) throw invalid('tags', `a key has at most ${MOST_TAGS}`)
  for (const [name, value] of entries) {
    if (!/^[a-z][a-z0-9_-]{0,31}$/.test(name))
      throw invalid(
        'tags',
        `${JSON.stringify(name)} is no name of a tag; write lower-case letters, digits, dashes and underscores, such as "team"`,
      )
    checkText(`tags.${name}`, value)
  }
}

const invalid = (param: string, detail: string): GatewayError => new GatewayError('invalid_value', { param, values: { detail } })
