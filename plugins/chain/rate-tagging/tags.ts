import {
  type CallState,
  compileTemplate,
  type FieldProblem,
  type HostMetrics,
  InvalidConfig,
  type ModelId,
  type Outcome,
  type Principal,
  type Template,
} from 'unified-model-gateway/plugin'

/** What a tag may be made of. */
export interface TagSource {
  readonly principal: Principal
  readonly rateClass: string
  /** Unknown until the body has been read. */
  readonly model: ModelId | undefined
  /** The value of a request header; '' if it is absent. */
  header(name: string): string
}

const PLACES: Readonly<Record<string, (source: TagSource) => string | undefined>> = {
  account: ({ principal }) => principal.account,
  key: ({ principal }) => principal.name,
  key_id: ({ principal }) => principal.keyId,
  kind: ({ principal }) => principal.kind,
  class: ({ rateClass }) => rateClass,
  namespace: ({ model }) => model?.namespace,
  model: ({ model }) => model?.model,
}

const HEADER = 'header.'
/** A tag that the key or its account has. */
const TAG = 'tag.'

/** Tags are logged: what identifies a client must not be among them. */
const CREDENTIALS = ['authorization', 'proxy-authorization', 'cookie', 'x-api-key', 'api-key', 'x-goog-api-key']

const MAX_LENGTH = 64

/** The tags of a configuration, compiled. */
export interface Tags {
  readonly names: readonly string[]
  /** Whether a tag can only be known once the body has been read. */
  readonly needModel: boolean
  /** Sets those tags whose values are all known. */
  set(tags: Record<string, string>, source: TagSource): void
}

/** Compiles the templates. Throws an InvalidConfig. */
export function compileTags(templates: Readonly<Record<string, string>>): Tags {
  const problems: FieldProblem[] = []
  const compiled = Object.entries(templates).flatMap(([name, text]) => {
    try {
      return [[name, compileTag(text)] as const]
    } catch (error) {
      problems.push({ path: ['tags', name], message: `has a faulty template: ${(error as Error).message}` })
      return []
    }
  })
  if (problems.length > 0) throw new InvalidConfig(...problems)
  return {
    names: compiled.map(([name]) => name),
    needModel: compiled.some(([, { names }]) => names.includes('namespace') || names.includes('model')),
    set(tags, source) {
      for (const [name, template] of compiled) {
        const tag = template.fill((place) => filled(place, source))
        if (tag !== undefined) tags[name] = tag
      }
    },
  }
}

/** Clients choose some of the values: what does not print is dropped, the rest is cut, and nothing counts as unknown. */
function filled(place: string, source: TagSource): string | undefined {
  const value = rawValue(place, source)
  const printable = (value ?? '').replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim()
  return [...printable].slice(0, MAX_LENGTH).join('') || undefined
}

function rawValue(place: string, source: TagSource): string | undefined {
  if (place.startsWith(HEADER)) return source.header(place.slice(HEADER.length))
  return place.startsWith(TAG) ? ownTag(source.principal, place.slice(TAG.length)) : PLACES[place]!(source)
}

/** A tag of a key or its account. */
const ownTag = ({ tags = {} }: Principal, name: string): string | undefined =>
  Object.hasOwn(tags, name) ? tags[name] : undefined

function compileTag(text: string): Template {
  const template = compileTemplate(text, [...Object.keys(PLACES), `${HEADER}*`, `${TAG}*`])
  const secret = template.names.find((place) => CREDENTIALS.includes(place.replace(HEADER, '').toLowerCase()))
  if (secret !== undefined) throw new Error(`{${secret}} is a credential, which a tag would write into the log`)
  return template
}

const NANO_USD = 1e9

/** Counts a call that ended under those of its tags that the operator allows as labels. */
export type CountTagged = ({ tags, principal }: Pick<CallState, 'tags' | 'principal'>, outcome: Outcome) => void

/** Counts by tags of calls, and by those of their keys and accounts. */
export function createTagMetrics(labels: readonly string[], metrics: HostMetrics): CountTagged {
  if (labels.length === 0) return () => undefined
  const requests = metrics.counter('umg_tagged_requests_total', 'Calls by tag.', labels)
  const tokens = metrics.counter('umg_tagged_tokens_total', 'Tokens by tag, estimates included.', labels)
  const costs = metrics.counter('umg_tagged_cost_usd_total', 'Cost of calls in US dollars by tag, estimates included.', labels)

  return ({ tags, principal }, { usage, cost }) => {
    const values = labels.map((label) => tags[label] ?? (principal && ownTag(principal, label)) ?? '')
    requests.add(1, ...values)
    if (usage !== undefined) tokens.add(usage.total_tokens, ...values)
    if (cost !== undefined) costs.add(cost.nanoUsd / NANO_USD, ...values)
  }
}
