import { tokensOf } from '../observe/tokens.ts'
import type { AttemptRecord, LinkRecord, Outcome, Principal } from '../plugin/api.ts'
import type { CallsTable } from '../store/schema.ts'
import { timeOfRequest } from './request-id.ts'
import { storable } from './storable.ts'

/** What is known of a call beside its outcome. */
export interface KnownCall {
  /** The request id. */
  readonly id: string
  readonly principal: Principal | undefined
  readonly tags: Readonly<Record<string, string>>
}

/** A call that has ended, as it waits to be written down: it holds on to nothing large, and nothing of what was asked and answered. */
export interface CallRecord extends Omit<CallsTable, 'at' | 'attempts' | 'links' | 'tags'> {
  readonly attempts: readonly AttemptRecord[]
  readonly links: readonly LinkRecord[]
  readonly tags: Readonly<Record<string, string>>
}

/** Each is a sum of its own. */
const MOST_TAGS = 32
/** A chain may be as long as its operator likes. */
const MOST_LINKS = 100
/** No call has so many; an upstream that says so must not make a sum too large for the database. */
const MOST_TOKENS = 1e9

/** Made for every call, so it is no more than one object: what costs more is left to `callRow`. */
export function callRecord(outcome: Outcome, { id, principal, tags }: KnownCall): CallRecord {
  const { kind, error, served, attempts, links, usage, times } = outcome
  const tokens = usage && tokensOf(usage)
  return {
    id,
    account_id: principal?.account ?? null,
    key_id: principal?.keyId ?? null,
    endpoint: outcome.endpoint,
    model: outcome.model?.id ?? null,
    stream: outcome.stream ? 1 : 0,
    status: outcome.status,
    outcome: kind,
    // Who leaves has no error: nothing went wrong but that.
    fault: error?.fault ?? (kind === 'client_closed' ? 'caller' : null),
    error: error?.row ?? null,
    error_code: error?.code ?? null,
    attempts,
    links,
    served: served === undefined ? 0 : 1,
    total_us: microseconds(times.total),
    first_byte_us: times.firstByte === undefined ? null : microseconds(times.firstByte),
    overhead_us: microseconds(times.overhead),
    input_tokens: tokens?.input ?? null,
    output_tokens: tokens?.output ?? null,
    cached_tokens: tokens?.cached_input ?? null,
    reasoning_tokens: tokens?.reasoning ?? null,
    estimated: usage !== undefined && outcome.usageEstimated ? 1 : 0,
    // What the operator says of the call stands above what the key says.
    tags: principal?.tags === undefined ? tags : { ...principal.tags, ...tags },
  }
}

/** The row of a call, every field of it something that each database takes, whatever a plugin has said of the call. */
export function callRow(record: CallRecord): CallsTable {
  return {
    ...record,
    at: timeOfRequest(record.id),
    account_id: named(record.account_id),
    key_id: named(record.key_id),
    model: named(record.model),
    error_code: named(record.error_code),
    attempts: JSON.stringify(record.attempts.map(attemptFields)),
    links: JSON.stringify(record.links.slice(0, MOST_LINKS).map(linkFields)),
    input_tokens: counted(record.input_tokens),
    output_tokens: counted(record.output_tokens),
    cached_tokens: counted(record.cached_tokens),
    reasoning_tokens: counted(record.reasoning_tokens),
    tags: tagsText(record.tags),
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

function tagsText(tags: CallRecord['tags']): string {
  const all = Object.entries(tags)
  if (all.length === 0) return '{}'
  const texts = all.filter(([, value]) => typeof value === 'string').slice(0, MOST_TAGS)
  return JSON.stringify(Object.fromEntries(texts.map(([tag, value]) => [storable(tag), storable(value)])))
}

const counted = (tokens: number | null): number | null => (tokens === null ? null : Math.min(tokens, MOST_TOKENS))

const microseconds = (ms: number): number => Math.round(ms * 1000)
