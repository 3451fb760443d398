import type { ApiKey } from '../../api/keys.ts'

const DAY = 24 * 60 * 60 * 1000

/** The lifetimes to choose from, in days. */
const LIFETIMES = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '1 year'],
] as const

/** The default option. */
const DEFAULT = '90'

/** The option of all that an account allows, where that has an end. */
const LONGEST = 'longest'

/** An option of a field. */
export interface ExpiryChoice {
  readonly value: string
  readonly label: string
}

/** The options for a new key. `days`: the longest life that its account allows; null: any. */
export function choicesOfNew(days: number | null): readonly ExpiryChoice[] {
  if (days === null) return [...LIFETIMES.map(choiceOf), { value: 'never', label: 'Never' }]
  const shorter = LIFETIMES.filter(([value]) => Number(value) < days)
  return [
    ...shorter.map(choiceOf),
    { value: LONGEST, label: `In ${days} ${days === 1 ? 'day' : 'days'}, the longest life of keys` },
  ]
}

/** The options for a key that there is. */
export function choicesOf({ created_at, expires_at }: ApiKey, days: number | null): readonly ExpiryChoice[] {
  if (days === null) return choicesOfNew(null).filter(({ value }) => value !== 'never' || expires_at !== null)
  const now = Date.now()
  const life = days * DAY
  const end = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at)
  // What lives too long may be shortened to the life of a new key.
  const latest = Math.max(Date.parse(created_at ?? '') + life, Math.min(end, now + life))
  return LIFETIMES.filter(([value]) => now + Number(value) * DAY <= latest).map(choiceOf)
}

const choiceOf = ([value, label]: (typeof LIFETIMES)[number]): ExpiryChoice => ({ value, label: `In ${label}` })

/** The option that is chosen at first. */
export const defaultOf = (choices: readonly ExpiryChoice[]): string =>
  (choices.find(({ value }) => value === DEFAULT) ?? choices.at(-1))!.value

/** The expiry of an option, RFC 3339; null: never; undefined: as late as the account allows. */
export function expiryOf(choice: string): string | null | undefined {
  if (choice === LONGEST) return undefined
  return choice === 'never' ? null : new Date(Date.now() + Number(choice) * DAY).toISOString()
}
