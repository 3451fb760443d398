import type { EndpointName, UpstreamRefusal, Usage } from '../../sdk/api.ts'
import { isRecord, textOf } from '../../sdk/json.ts'
import { type MessagesUsage, usageOfMessages } from '../../sdk/messages-usage.ts'
import { refusalOf } from '../../sdk/refusals.ts'
import type { CleanedBody } from '../client-protocol.ts'
import type { EventKind, EventReader, ReplyFormat, StreamedCall, WholeReply } from '../format.ts'
import { readState, STATE_PREFIX } from '../state.ts'
import { parseUpstreamObject, type ScannedReply } from '../upstream-json.ts'
import { servedVariants, UsageReport } from '../usage-report.ts'
import { writtenLength } from '../written-text.ts'
import { blocksOf } from './content.ts'
import type { Block, MessageParam } from './wire.ts'

/** Replies of upstreams that speak the Messages API, as they reach the client. */
export const messagesReply: ReplyFormat = {
  endpoint: 'messages',
  reader: (call) => new MessageEventReader(call),
  typed: true,
  // The last event ends the stream; no marker follows.
  done: '',
  whole: (reply) => readWhole(reply, () => (reply.get('type') === 'message' ? wholeOf(reply.get('usage')) : undefined)),
  usage: (reply) => usageOf((reply as { readonly usage?: unknown }).usage),
  normalise: (translated) => translated,
  generates: true,
}

const NO_TOKENS: Usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }

/** The replies of an endpoint that counts tokens and uses none. */
export const countReply = (endpoint: EndpointName): ReplyFormat => ({
  endpoint,
  whole: (reply) => readWhole(reply, () => (Number.isSafeInteger(reply.get('input_tokens')) ? { usage: NO_TOKENS } : undefined)),
  usage: () => NO_TOKENS,
  normalise: (translated) => translated,
  generates: false,
})

type Members = Readonly<Record<string, unknown>>

const readWhole = (reply: ScannedReply, read: () => WholeReply | undefined): WholeReply | undefined =>
  reply.has('error') ? { refusal: refusalOf(reply.pick('error')) } : read()

/** Events before the first one with content. */
const PRELUDE: ReadonlySet<string> = new Set(['message_start', 'ping'])
/** Events that are parsed: the others only pass. */
const READ: ReadonlySet<string> = new Set(['message_start', 'message_delta', 'error'])

/** Reads the events of a streamed message; parses those that have usage or an error. */
class MessageEventReader implements EventReader {
  finished = false
  refusal: UpstreamRefusal | undefined
  readonly report: UsageReport
  #usage: MessagesUsage = {}
  /** Of the message that has begun. */
  #id: string | undefined

  constructor(call: StreamedCall) {
    this.report = new UsageReport(call)
  }

  read(data: string, named: string): EventKind {
    if (data.trim() === '') return 'drop'
    if (!data.startsWith('{')) return 'malformed'
    const type = typeOf(data, named)
    if (type === 'message_stop') {
      this.finished = true
      return 'last'
    }
    if (type !== undefined && !READ.has(type)) {
      this.report.wrote(writtenLength(data))
      return 'pass'
    }
    const event = parse(data)
    if (event === undefined) return 'malformed'
    if (event.error != null) {
      this.#count(event.usage, false)
      this.refusal = refusalOf(event)
      return 'error'
    }
    if (type === 'message_start') {
      const id = isRecord(event.message) ? textOf(event.message.id) : ''
      // The SDKs refuse a message that begins twice; the beginning of another one is none of this.
      if (this.#id !== undefined) return this.#id === id ? 'drop' : 'malformed'
      this.#id = id
    }
    // The count of the answer in message_start is that of its first tokens.
    this.#count(isRecord(event.message) ? event.message.usage : event.usage, type === 'message_delta')
    return 'pass'
  }

  isMeaningful(data: string, named: string): boolean {
    return !PRELUDE.has(typeOf(data, named) ?? '')
  }

  /** Usage is cumulative: later counts replace earlier ones, null replaces nothing. */
  #count(usage: unknown, isFinal: boolean): void {
    if (!isRecord(usage)) return
    this.#usage = { ...this.#usage, ...Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null)) }
    this.report.servedBy(servedVariants(this.#usage))
    this.report.read(usageOfMessages(this.#usage), isFinal && usage.output_tokens != null)
  }
}

/** Anthropic writes an event's type first. Anchored, so that text inside the event cannot match. */
const TYPE_FIRST = /^\{\s*"type"\s*:\s*"(\w+)"/

/** An event's type, from SSE's `event:` or from its data; undefined if both lack it. */
function typeOf(data: string, named: string): string | undefined {
  if (named !== '') return named
  const type = TYPE_FIRST.exec(data)?.[1] ?? parse(data)?.type
  return typeof type === 'string' ? type : undefined
}

/** Bytes as latin1, as the relay keeps them. */
const parse = (data: string): Members | undefined => parseUpstreamObject(Buffer.from(data, 'latin1'))

const wholeOf = (usage: unknown): WholeReply => ({
  usage: usageOf(usage),
  served: isRecord(usage) ? servedVariants(usage) : undefined,
})

const usageOf = (usage: unknown): unknown => (isRecord(usage) ? usageOfMessages(usage) : undefined)

/** Text of a body that may not reach Anthropic as it is: the state of another upstream. */
export const SUSPICIOUS = [`"${STATE_PREFIX}`] as const

/** Removes the thinking that another upstream signed: Anthropic answers 400 to it. */
export function cleaned(body: Readonly<Record<string, unknown>>): CleanedBody {
  const turns = body.messages as readonly MessageParam[]
  const messages = turns.map(withoutForeignThinking).filter(({ content }) => content.length > 0)
  if (messages.length === turns.length && messages.every((message, index) => message === turns[index])) return UNCHANGED
  const isOff = beganWithoutThinking(messages) && isBudgeted(body)
  return { changes: { messages, ...(isOff && { thinking: undefined }) }, dropped: isOff ? ['thinking'] : [] }
}

const UNCHANGED: CleanedBody = { changes: {}, dropped: [] }

function withoutForeignThinking(turn: MessageParam): MessageParam {
  const { content } = turn
  if (typeof content === 'string' || !content.some(isForeign)) return turn
  return { ...turn, content: content.filter((block) => !isForeign(block)) }
}

const isForeign = ({ type, signature, data }: Block): boolean =>
  (type === 'thinking' && readState(signature) !== undefined) || (type === 'redacted_thinking' && readState(data) !== undefined)

/** Within a tool step, Anthropic requires the thinking that began it. */
function beganWithoutThinking(messages: readonly MessageParam[]): boolean {
  const [first] = blocksOf(messages.at(-1)?.content)
  const [before] = blocksOf(messages.at(-2)?.content)
  return first?.type === 'tool_result' && before?.type !== 'thinking' && before?.type !== 'redacted_thinking'
}

const isBudgeted = ({ thinking }: Readonly<Record<string, unknown>>): boolean => isRecord(thinking) && thinking.type === 'enabled'
