import { GatewayError } from '../../errors.ts'
import type { UpstreamRefusal } from '../../sdk/api.ts'
import { isRecord } from '../../sdk/json.ts'
import { refusalOf } from '../../sdk/refusals.ts'
import type { CleanedBody, KeptReferences } from '../client-protocol.ts'
import type { EventKind, EventReader, ReplyFormat, StreamedCall, WholeReply } from '../format.ts'
import { isKeptBy, type Keeper, unsealed, withSealedIds } from '../kept-ids.ts'
import { readState, STATE_PREFIX } from '../state.ts'
import { parseUpstreamObject, type ScannedReply } from '../upstream-json.ts'
import { UsageReport } from '../usage-report.ts'
import { writtenLength } from '../written-text.ts'

interface Response extends Readonly<Record<string, unknown>> {
  readonly object?: unknown
  readonly error?: unknown
  readonly usage?: Readonly<Record<string, unknown>> | null
}

interface Event {
  readonly type?: string
  readonly response?: Response
  readonly error?: unknown
}

/** Replies of upstreams that speak the Responses API, as they reach the client. */
export const responsesReply: ReplyFormat = {
  endpoint: 'responses',
  reader: (call) => new ResponseStreamReader(call),
  typed: true,
  // The last event ends the stream; no marker follows.
  done: '',
  whole,
  usage: usageOf,
  normalise: (translated) => translated,
  generates: true,
  keptBy: (keeper, call) => (call.member('store') === false ? responsesReply : sealedReply(keeper)),
}

/** The same replies, with ids that name their keeper. */
const sealedReply = (keeper: Keeper): ReplyFormat => ({
  ...responsesReply,
  reader: (call) => new ResponseStreamReader(call, keeper),
  whole: (reply) => whole(reply, keeper),
})

/** Events that end a stream; each contains the whole response. */
const LAST = new Set(['response.completed', 'response.incomplete', 'response.failed'])
/** Events before the first one with content. */
const PRELUDE = new Set(['response.created', 'response.queued', 'response.in_progress'])

/** Reads the events of a streamed response; of those with a type it parses only the last one. */
class ResponseStreamReader implements EventReader {
  finished = false
  readonly report: UsageReport
  refusal: UpstreamRefusal | undefined
  readonly #keeper: Keeper | undefined
  /** Of the event that was read last. */
  #response: Response | undefined

  /** `keeper`: of the response, if it is kept. */
  constructor(call: StreamedCall, keeper?: Keeper) {
    this.report = new UsageReport(call)
    this.#keeper = keeper
  }

  sent(frame: string): string {
    return this.#response === undefined ? frame : withSealedIds(frame, this.#response, this.#keeper!)
  }

  read(data: string, named: string): EventKind {
    this.#response = undefined
    if (data.trim() === '') return 'drop'
    if (!data.startsWith('{')) return 'malformed'
    const type = typeOf(data, named)
    if (this.#keeper !== undefined && type !== undefined && PRELUDE.has(type)) this.#response = parse(data)?.response
    // The events that end a part repeat its text.
    if (type?.endsWith('.delta')) this.report.wrote(writtenLength(data))
    if (type !== undefined && type !== 'error' && !LAST.has(type)) return 'pass'
    const event = parse(data)
    if (event === undefined) return 'malformed'
    if (type === 'error' || event.error != null) return this.#refuse(event)
    if (type === undefined) return 'pass'
    if (event.response === undefined) return 'malformed'
    this.report.read(usageOf(event.response), true)
    if (type === 'response.failed') return this.#refuse(event.response)
    if (this.#keeper !== undefined) this.#response = event.response
    this.finished = true
    return 'last'
  }

  isMeaningful(data: string, named: string): boolean {
    return !PRELUDE.has(typeOf(data, named) ?? '')
  }

  #refuse(body: unknown): EventKind {
    this.refusal = refusalOf(body)
    return 'error'
  }
}

/** OpenAI writes an event's type first. Anchored, so that text inside the event cannot match. */
const TYPE_FIRST = /^\{\s*"type"\s*:\s*"([\w.]+)"/
/** Servers built on the official Python types, such as vLLM, write it last. */
const TYPE_LAST = /"type"\s*:\s*"([\w.]+)"\s*\}\s*$/
/** In characters: longer than any type at the end. */
const TAIL = 200

/** An event's type, from its data or its SSE `event:` field; undefined if both lack it. */
function typeOf(data: string, named: string): string | undefined {
  return (TYPE_FIRST.exec(data) ?? TYPE_LAST.exec(data.slice(-TAIL)))?.[1] ?? (named === '' ? parse(data)?.type : named)
}

function whole(reply: ScannedReply, keeper?: Keeper): WholeReply | undefined {
  if (reply.has('error')) return { refusal: refusalOf(reply.pick('error')) }
  const response = reply.pick('object', 'usage', 'id', 'previous_response_id') as Response
  if (response.object !== 'response') return undefined
  const usage = usageOf(response)
  if (keeper === undefined) return { usage }
  return { usage, body: Buffer.from(withSealedIds(reply.bytes.toString('latin1'), response, keeper), 'latin1') }
}

/** Renames usage to chat completions' fields, which limits, metrics and usage rows use. */
function usageOf({ usage }: Response): unknown {
  if (!isRecord(usage)) return undefined
  const { input_tokens, output_tokens, input_tokens_details, output_tokens_details, ...others } = usage
  return {
    ...others,
    prompt_tokens: input_tokens,
    completion_tokens: output_tokens,
    prompt_tokens_details: input_tokens_details,
    completion_tokens_details: output_tokens_details,
  }
}

/** Bytes as latin1, as the relay keeps them. */
const parse = (data: string): Event | undefined => parseUpstreamObject(Buffer.from(data, 'latin1'))

/** Text of a body that may not reach an upstream of the protocol as it is: the state of another upstream. */
export const SUSPICIOUS = [`"${STATE_PREFIX}`] as const

/** Removes the reasoning items of another upstream: OpenAI answers 400 to an encrypted content that it did not write. */
export function cleaned(body: Readonly<Record<string, unknown>>): CleanedBody {
  const items: readonly unknown[] = Array.isArray(body.input) ? body.input : []
  const input = items.filter((item) => !isForeign(item))
  return { changes: input.length === items.length ? {} : { input }, dropped: [] }
}

const isForeign = (item: unknown): boolean =>
  isRecord(item) && item.type === 'reasoning' && readState(item.encrypted_content) !== undefined

/** The member with the id of a response. */
const PREVIOUS = 'previous_response_id'

/** A response is found by its id alone, and only for the account that it was made for. */
export const REFERENCES: KeptReferences = {
  unnamed: ['conversation', 'prompt'],
  toUpstream(call) {
    const id = unsealed(call.member(PREVIOUS))
    return id === undefined ? {} : { [PREVIOUS]: id }
  },
  idIn: (call) => call.member(PREVIOUS),
  check(call, keeper) {
    const id = call.member(PREVIOUS)
    if (id == null || isKeptBy(id, keeper)) return
    throw new GatewayError('previous_response_not_found', { param: PREVIOUS, values: { id: String(id).slice(0, 200) } })
  },
}
