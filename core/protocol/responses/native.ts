import type { Call, UpstreamRefusal } from '../../sdk/api.ts'
import { isRecord } from '../../sdk/json.ts'
import { refusalOf } from '../../sdk/refusals.ts'
import type { RequestBody } from '../call.ts'
import type { CleanedBody, OpenedTexts } from '../client-protocol.ts'
import type { EventKind, EventReader, ReplyFormat, StreamedCall, WholeReply } from '../format.ts'
import { isSealable, type KeptCall, sealed, unsealed } from '../kept-ids.ts'
import type { KeptReply } from '../kept-reply.ts'
import { frame } from '../sse.ts'
import { readState, STATE_PREFIX } from '../state.ts'
import { parseUpstreamObject, type ScannedReply } from '../upstream-json.ts'
import { readUsage } from '../usage.ts'
import { servedVariants, UsageReport } from '../usage-report.ts'
import type { ServedVariants } from '../variants.ts'
import { writtenLength } from '../written-text.ts'
import { summaryMessage } from './compactions.ts'
import { itemIdIn } from './own-ids.ts'

interface Response extends Readonly<Record<string, unknown>> {
  readonly object?: unknown
  readonly error?: unknown
  readonly usage?: Readonly<Record<string, unknown>> | null
  readonly status?: unknown
  readonly id?: unknown
  readonly previous_response_id?: unknown
  readonly output?: unknown
  readonly service_tier?: unknown
}

interface Event {
  readonly type?: string
  readonly response?: Response
  readonly item?: unknown
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
  keptBy(kept, call) {
    if (kept.kept !== undefined) return ownReply(kept.kept)
    return call.member('store') === false ? responsesReply : sealedReply(kept, call)
  },
}

/** Replies of `POST /v1/responses/compact`. */
export const compactedReply: ReplyFormat = {
  endpoint: 'responses.compact',
  whole(reply) {
    if (reply.has('error')) return { refusal: refusalOf(reply.pick('error')) }
    const response = reply.pick('object', 'usage', 'service_tier') as Response
    if (response.object !== 'response.compaction' || !reply.listsObjects('output')) return undefined
    return { usage: usageOf(response), served: servedBy(response) }
  },
  usage: usageOf,
  normalise: (translated) => translated,
  generates: true,
}

/** The same replies, with ids that name their keeper. */
const sealedReply = (kept: KeptCall, call: Call): ReplyFormat => ({
  ...responsesReply,
  reader: (streamed) => new ResponseStreamReader(streamed, new SealedIds(kept, atMost(kept, call))),
  whole: (reply) => whole(reply, kept),
})

/** The same replies, with the ids of what the gateway keeps. */
const ownReply = (kept: KeptReply): ReplyFormat => ({
  ...responsesReply,
  reader: (streamed) => new KeptStreamReader(streamed, kept),
  whole(reply) {
    const known = whole(reply)
    if (known === undefined || known.refusal !== undefined) return known
    const own = new OwnIds(kept)
    const text = own.responseOf(parseUpstreamObject(reply.bytes)!)
    if (known.unfinished !== true) kept.complete(text)
    return { ...known, body: Buffer.from(text) }
  },
})

/** The ids of a reply that the gateway keeps, and what clients get in their place. */
class OwnIds {
  readonly #kept: KeptReply
  readonly #own = new Map<string, string>()

  constructor(kept: KeptReply) {
    this.#kept = kept
  }

  addItem(item: unknown): void {
    if (isRecord(item) && isSealable(item.id) && !this.#own.has(item.id)) this.#own.set(item.id, itemIdIn(this.#kept.id, item.id))
  }

  /** The response as the client gets it: JSON. */
  responseOf(response: Response): string {
    const { id, previous, conversation, isStored, isBackground } = this.#kept
    if (Array.isArray(response.output)) for (const item of response.output) this.addItem(item)
    return this.applyTo(
      JSON.stringify({
        ...response,
        id,
        previous_response_id: previous,
        store: isStored,
        ...(isBackground && { background: true }),
        ...(conversation !== undefined && { conversation: { id: conversation } }),
      }),
    )
  }

  /** JSON text with these ids. */
  applyTo(json: string): string {
    return withIds(json, (id, name) => {
      // An event may name an item that none has shown.
      if (name === 'item_id') this.addItem({ id })
      return this.#own.get(id)
    })
  }
}

/** The most tokens of the answer, and of the whole conversation after it. */
interface Tokens {
  readonly answer: number | undefined
  readonly conversation: number | undefined
}

/** A stream begins with the id: what the call will have used is not known yet. */
function atMost({ promptTokens }: KeptCall, call: Call): Tokens {
  const cap = call.member('max_output_tokens')
  const answer = Number.isSafeInteger(cap) ? (cap as number) : undefined
  return { answer, conversation: answer === undefined || promptTokens === undefined ? undefined : promptTokens + answer }
}

/** An id of an object, or of an item that an event belongs to. Quotes inside a text are escaped: only members match. */
const ID_MEMBER = /"(id|item_id|previous_response_id)"(\s*:\s*)"([\w.:-]+)"/g

/** The ids of a reply, and what clients get in their place. */
class SealedIds {
  readonly #kept: KeptCall
  readonly #tokens: Tokens
  readonly #sealed = new Map<string, string>()

  constructor(kept: KeptCall, tokens: Tokens) {
    this.#kept = kept
    this.#tokens = tokens
  }

  addResponse({ id, previous_response_id: previous, output }: Response): void {
    this.#add(id, this.#tokens.conversation)
    if (isSealable(previous) && unsealed(this.#kept.previous) === previous)
      this.#sealed.set(previous, this.#kept.previous as string)
    if (Array.isArray(output)) for (const item of output) this.addItem(item)
  }

  addItem(item: unknown): void {
    if (isRecord(item)) this.#add(item.id, this.#tokens.answer)
  }

  /** JSON text with these ids sealed. */
  applyTo(json: string): string {
    return withIds(json, (id) => this.#sealed.get(id))
  }

  #add(id: unknown, tokens: number | undefined): void {
    if (isSealable(id) && !this.#sealed.has(id)) this.#sealed.set(id, sealed(id, this.#kept.keeper, tokens))
  }
}

/** JSON text with other ids. */
const withIds = (json: string, ownOf: (id: string, name: string) => string | undefined): string =>
  json.replace(ID_MEMBER, (member, name: string, colon: string, id: string) => {
    const own = ownOf(id, name)
    return own === undefined ? member : `"${name}"${colon}"${own}"`
  })

/** Events that end a stream; each contains the whole response. */
const LAST = new Set(['response.completed', 'response.incomplete', 'response.failed'])
/** Events before the first one with content; each contains the response. */
const PRELUDE = new Set(['response.created', 'response.queued', 'response.in_progress'])

const HAS_RESPONSE = /"response"\s*:\s*\{/

/** Most of them have a usage of null. */
const HAS_USAGE = /"usage"\s*:\s*\{/

/** An event that shows an item for the first time. */
const ITEM_ADDED = 'response.output_item.added'
/** Events that contain an item. */
const ITEM_EVENTS = new Set([ITEM_ADDED, 'response.output_item.done'])

/**
 * Reads the events of a streamed response; of those with a type it parses only the last one, and those with new ids if they are kept. The last one
 * repeats the whole answer: what the others lack, a client finds there.
 */
class ResponseStreamReader implements EventReader {
  finished = false
  unfinished = false
  readonly report: UsageReport
  refusal: UpstreamRefusal | undefined
  readonly #ids: SealedIds | undefined
  #hasBegun = false
  #hasItems = false

  /** `ids`: of the response, if it is kept. */
  constructor(call: StreamedCall, ids?: SealedIds) {
    this.report = new UsageReport(call)
    this.#ids = ids
  }

  sent(frame: string): string {
    return this.#ids === undefined ? frame : this.#ids.applyTo(frame)
  }

  read(data: string, named: string): EventKind {
    if (data.trim() === '') return 'drop'
    if (!data.startsWith('{')) return 'malformed'
    const type = typeOf(data, named)
    if (type !== undefined && !this.#isInPlace(type, data)) return 'malformed'
    if (type !== undefined && PRELUDE.has(type) && HAS_USAGE.test(data)) this.report.read(usageOf(parse(data)?.response ?? {}))
    if (this.#ids !== undefined && type !== undefined && (type === ITEM_ADDED || PRELUDE.has(type))) this.#seal(parse(data))
    // The events that end a part repeat its text.
    if (type?.endsWith('.delta')) this.report.wrote(writtenLength(data))
    if (type !== undefined && type !== 'error' && !LAST.has(type)) return 'pass'
    const event = parse(data)
    if (event === undefined) return 'malformed'
    if (type === 'error' || event.error != null) return this.#refuse(event)
    const { response } = event
    if (type === undefined || !isRecord(response) || typeof response.status !== 'string') return 'malformed'
    this.report.servedBy(servedBy(response))
    this.report.read(usageOf(response), true)
    if (type === 'response.failed') return this.#refuse(response)
    // Some servers leave the items out here, when their own events had them.
    this.#hasItems ||= Array.isArray(response.output) && response.output.some(isRecord)
    if (response.status === 'completed' && !this.#hasItems) return 'malformed'
    this.#seal(event)
    this.finished = true
    this.unfinished = isUnfinished(response)
    return 'last'
  }

  /** Whether the response has begun that the event belongs to. Types that are not known may belong to none. */
  #isInPlace(type: string, data: string): boolean {
    if (PRELUDE.has(type)) {
      this.#hasBegun = HAS_RESPONSE.test(data)
      return this.#hasBegun
    }
    this.#hasItems ||= ITEM_EVENTS.has(type)
    return this.#hasBegun || !type.startsWith('response.') || LAST.has(type)
  }

  #seal(event: Event | undefined): void {
    if (event?.response != null) this.#ids?.addResponse(event.response)
    this.#ids?.addItem(event?.item)
  }

  isMeaningful(data: string, named: string): boolean {
    return this.#hasBegun && !PRELUDE.has(typeOf(data, named) ?? '')
  }

  #refuse(body: unknown): EventKind {
    this.refusal = refusalOf(body)
    return 'error'
  }
}

/** Reads the events of a streamed response that the gateway keeps. Its own id stands in each event that contains the response. */
class KeptStreamReader extends ResponseStreamReader {
  readonly #kept: KeptReply
  readonly #ids: OwnIds
  /** The event that contains the response, as the client gets it. */
  #frame: string | undefined

  constructor(call: StreamedCall, kept: KeptReply) {
    super(call)
    this.#kept = kept
    this.#ids = new OwnIds(kept)
  }

  override read(data: string, named: string): EventKind {
    const kind = super.read(data, named)
    this.#frame = undefined
    if (kind !== 'pass' && kind !== 'last') return kind
    const type = typeOf(data, named)
    if (kind === 'last' || PRELUDE.has(type!)) this.#frame = this.#responseFrame(data, type!, kind === 'last')
    else if (ITEM_EVENTS.has(type!)) this.#ids.addItem(parse(data)?.item)
    return kind
  }

  override sent(text: string): string {
    return this.#frame ?? this.#ids.applyTo(text)
  }

  #responseFrame(data: string, type: string, isLast: boolean): string | undefined {
    const { response, ...event } = parse(data) ?? {}
    if (!isRecord(response)) return undefined
    const own = this.#ids.responseOf(response)
    if (isLast) this.#kept.complete(own)
    const json = `${JSON.stringify(event).slice(0, -1)},"response":${own}}`
    return `event: ${type}\n${frame(Buffer.from(json).toString('latin1'))}`
  }
}

/** An upstream that keeps nothing has to give the reasoning that it otherwise keeps, so that the conversation can go on with it. */
export function unkept(body: Pick<RequestBody, 'member'>): Readonly<Record<string, unknown>> {
  const include = body.member('include')
  const asked: readonly unknown[] = Array.isArray(include) ? include : []
  // A model that does not reason may refuse it.
  const reasons = body.member('reasoning') != null && !asked.includes(REASONING)
  return { store: false, ...(reasons && { include: [...asked, REASONING] }) }
}

const REASONING = 'reasoning.encrypted_content'

/** OpenAI writes an event's type first. Anchored, so that text inside the event cannot match. */
const TYPE_FIRST = /^\{\s*"type"\s*:\s*"([\w.]+)"/
/** Servers built on the official Python types, such as vLLM, write it last. */
const TYPE_LAST = /"type"\s*:\s*"([\w.]+)"\s*\}\s*$/
/** In characters: longer than any type at the end. */
const TAIL = 200

/** An event's type, from its data or its SSE `event:` field; undefined if both lack it. */
export function typeOf(data: string, named: string): string | undefined {
  return (TYPE_FIRST.exec(data) ?? TYPE_LAST.exec(data.slice(-TAIL)))?.[1] ?? (named === '' ? parse(data)?.type : named)
}

function whole(reply: ScannedReply, kept?: KeptCall): WholeReply | undefined {
  if (reply.has('error')) return { refusal: refusalOf(reply.pick('error')) }
  const response = reply.pick('object', 'usage', 'status', 'id', 'previous_response_id', 'service_tier') as Response
  const { object, status } = response
  const hasOutput = reply.listsObjects('output') || (reply.isEmptyList('output') && status !== 'completed')
  if (object !== 'response' || typeof status !== 'string' || !hasOutput) return undefined
  const usage = usageOf(response)
  const known = { usage, unfinished: isUnfinished(response), served: servedBy(response) }
  if (kept === undefined) return known
  const tokens = readUsage(usage)
  const ids = new SealedIds(kept, { answer: tokens?.completion_tokens, conversation: tokens?.total_tokens })
  ids.addResponse({ ...response, output: reply.get('output') })
  return { ...known, body: Buffer.from(ids.applyTo(reply.bytes.toString('latin1')), 'latin1') }
}

const servedBy = ({ service_tier }: Response): ServedVariants | undefined => servedVariants({ service_tier })

const isUnfinished = ({ status }: Response): boolean => status === 'queued' || status === 'in_progress'

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

/**
 * Removes the reasoning items of another upstream, and puts summaries in the place of compactions: OpenAI answers 400 to an encrypted content
 * that it did not write.
 */
export function cleaned(body: Readonly<Record<string, unknown>>, opened: OpenedTexts): CleanedBody {
  const items: readonly unknown[] = Array.isArray(body.input) ? body.input : []
  const input = items.filter((item) => !isForeign(item)).map((item) => asMessage(item, opened))
  const isSame = input.length === items.length && input.every((item, index) => item === items[index])
  return { changes: isSame ? {} : { input }, dropped: [] }
}

const asMessage = (item: unknown, opened: OpenedTexts): unknown =>
  (isRecord(item) && item.type === 'compaction' ? summaryMessage(item, opened) : undefined) ?? item

const isForeign = (item: unknown): boolean =>
  isRecord(item) && item.type === 'reasoning' && readState(item.encrypted_content) !== undefined
