import { tokensOf } from '../protocol/usage.ts'
import type { AttemptRecord, LinkRecord, Outcome, Principal } from '../sdk/api.ts'
import type { CallsTable } from '../store/schema.ts'
import { timeOfRequest } from '../text/ids.ts'

/** What is known of a call beside its outcome. */
export interface KnownCall {
  /** The request id. */
  readonly id: string
  readonly principal: Principal | undefined
  readonly tags: Readonly<Record<string, string>>
}

/** Each is a sum of its own. */
const MOST_TAGS = 32
/** A chain may be as long as its operator likes. */
const MOST_LINKS = 100
/** No call has so many; an upstream that says so must not make a sum too large for the database. */
const MOST_TOKENS = 1e9

/**
 * The row of a call, every field of it something that each database takes, whatever a plugin has said of the call. It holds on to
 * nothing of the call but texts: rows wait for a while, and what they held would have to be moved about by the garbage collector.
 */
export function callRow(outcome: Outcome, { id, principal, tags }: KnownCall): CallsTable {
  const { kind, error, served, attempts, links, usage, times } = outcome
  const tokens = usage && tokensOf(usage)
  return {
    id,
    at: timeOfRequest(id),
    account_id: named(principal?.account),
    key_id: named(principal?.keyId),
    endpoint: outcome.endpoint,
    model: named(outcome.model?.id),
    stream: outcome.stream ? 1 : 0,
    status: outcome.status,
    outcome: kind,
    // Who leaves has no error: nothing went wrong but that.
    fault: error?.fault ?? (kind === 'client_closed' ? 'caller' : null),
    error: error?.row ?? null,
    error_code: named(error?.code),
    attempts: JSON.stringify(attempts.map(attemptFields)),
    links: JSON.stringify(links.slice(0, MOST_LINKS).map(linkFields)),
    served: served === undefined ? 0 : 1,
    total_us: microseconds(times.total),
    first_byte_us: times.firstByte === undefined ? null : microseconds(times.firstByte),
    overhead_us: microseconds(times.overhead),
    input_tokens: counted(tokens?.input),
    output_tokens: counted(tokens?.output),
    cached_tokens: counted(tokens?.cached_input),
    reasoning_tokens: counted(tokens?.reasoning),
    estimated: usage !== undefined && outcome.usageEstimated ? 1 : 0,
    // What the operator says of the call stands above what the key says.
    tags: tagsText(principal?.tags === undefined ? tags : { ...principal.tags, ...tags }),
  }
}

function attemptFields({ namespace, model, provider, result, ms }: AttemptRecord): AttemptRecord {
  return { namespace, model: storable(model), provider, result, ms: microseconds(ms) / 1000 }
}

function linkFields({ name, ms }: LinkRecord): LinkRecord {
  return { name: storable(name), ms: microseconds(ms) / 1000 }
}

/** What a stranger's link says of a call may be no text at all. */
const named = (name: unknown): string | null => (typeof name === 'string' ? storable(name) : null)

function tagsText(tags: KnownCall['tags']): string {
  const all = Object.entries(tags)
  if (all.length === 0) return '{}'
  const texts = all.filter(([, value]) => typeof value === 'string').slice(0, MOST_TAGS)
  return JSON.stringify(Object.fromEntries(texts.map(([tag, value]) => [storable(tag), storable(value)])))
}

const counted = (tokens: number | undefined): number | null => (tokens === undefined ? null : Math.min(tokens, MOST_TOKENS))

const microseconds = (ms: number): number => Math.round(ms * 1000)

/** Characters of what clients, upstreams and plugins name: a model's own name may be as long as a body. */
const LONGEST_NAME = 200

/** A name as each database takes it: PostgreSQL's texts hold no NUL, and none of its keys may be too long. */
export function storable(name: string): string {
  return name.slice(0, LONGEST_NAME).replaceAll('\0', '')
}
