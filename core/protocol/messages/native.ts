import type { UpstreamRefusal } from '../../sdk/api.ts'
import { isCount, isRecord, textOf } from '../../sdk/json.ts'
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
  whole: (reply) => readWhole(reply, () => (isMessage(reply) ? wholeOf(reply.get('usage')) : undefined)),
  usage: (reply) => usageOf((reply as { readonly usage?: unknown }).usage),
  normalise: (translated) => translated,
  generates: true,
}

/** Whether a reply has the members by which a client knows that it is answered. Claude may end its turn without a word ("Handling stop reasons", platform.claude.com). */
function isMessage(reply: ScannedReply): boolean {
  const stop = reply.get('stop_reason') ?? null
  const isAnswer = reply.listsObjects('content') || (reply.isEmptyList('content') && stop !== 'tool_use')
  return reply.get('type') === 'message' && isAnswer && isReason(stop)
}

/** A reason that is not known is the client's affair. */
const isReason = (stop: unknown): boolean => stop === null || typeof stop === 'string'

type Members = Readonly<Record<string, unknown>>

const readWhole = (reply: ScannedReply, read: () => WholeReply | undefined): WholeReply | undefined =>
  reply.has('error') ? { refusal: refusalOf(reply.pick('error')) } : read()

/** Events before the first one with content. */
const PRELUDE: ReadonlySet<string> = new Set(['message_start', 'ping'])
/** Events that are parsed: the others only pass. */
const READ: ReadonlySet<string> = new Set(['message_start', 'message_delta', 'error'])

/**
 * Reads the events of a streamed message; parses those that have usage or an error. The SDKs take what has no place in a message for nothing, and so a
 * message that lacks a part for a whole one: such an event is refused.
 */
class MessageEventReader implements EventReader {
  finished = false
  refusal: UpstreamRefusal | undefined
  readonly report: UsageReport
  #usage: MessagesUsage = {}
  /** Of the message that has begun. */
  #id: string | undefined
  /** The place of the last block that has begun. */
  #block = -1
  /** Whether a message_delta has said why the answer ends. */
  #hasReason = false

  constructor(call: StreamedCall) {
    this.report = new UsageReport(call)
  }

  read(data: string, named: string): EventKind {
    if (data.trim() === '') return 'drop'
    if (!data.startsWith('{')) return 'malformed'
    const [type, index] = headOf(data)
    if (type !== undefined && !READ.has(type)) {
      if ((named !== '' && named !== type) || !this.#isInPlace(type, index)) return 'malformed'
      this.report.wrote(writtenLength(data))
      this.finished = type === 'message_stop'
      return this.finished ? 'last' : 'pass'
    }
    const event = parse(data)
    if (event === undefined) return 'malformed'
    if (event.error != null) {
      this.#count(event.usage, false)
      this.refusal = refusalOf(event)
      return 'error'
    }
    switch (named === '' || named === type ? type : undefined) {
      case 'message_start':
        return this.#begin(event.message)
      case 'message_delta':
        return this.#end(event)
      default:
        return 'malformed'
    }
  }

  isMeaningful(data: string): boolean {
    return this.#id !== undefined && !PRELUDE.has(headOf(data)[0] ?? '')
  }

  /** Whether what the event belongs to has begun. */
  #isInPlace(type: string, index: number | undefined): boolean {
    switch (type) {
      case 'content_block_start':
        this.#block = Math.max(this.#block + (index === undefined ? 1 : 0), index ?? 0)
        return this.#id !== undefined
      case 'content_block_delta':
      case 'content_block_stop':
        return this.#block >= (index ?? 0)
      case 'message_stop':
        return this.#hasReason
      default:
        // Types that are not known are to be ignored.
        return true
    }
  }

  #begin(message: unknown): EventKind {
    if (!isRecord(message) || !Array.isArray(message.content)) return 'malformed'
    const id = textOf(message.id)
    // The SDKs refuse a message that begins twice; the beginning of another one is an error.
    if (this.#id !== undefined) return this.#id === id ? 'drop' : 'malformed'
    this.#id = id
    // The count of the answer is that of its first tokens.
    this.#count(message.usage, false)
    return 'pass'
  }

  #end({ delta, usage }: Members): EventKind {
    if (this.#id === undefined || !isRecord(delta) || !isReason(delta.stop_reason ?? null)) return 'malformed'
    this.#hasReason ||= delta.stop_reason != null
    this.#count(usage, true)
    return 'pass'
  }

  /** Usage is cumulative: later counts replace earlier ones, null replaces nothing. */
  #count(usage: unknown, isFinal: boolean): void {
    if (!isRecord(usage)) return
    this.#usage = { ...this.#usage, ...Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null)) }
    this.report.servedBy(servedVariants(this.#usage))
    this.report.read(usageOfMessages(this.#usage), isFinal && usage.output_tokens != null)
  }
}

/** Anthropic writes an event's type first, and the place of its block next. Anchored, so that text inside the event cannot match. */
const HEAD = /^\{\s*"type"\s*:\s*"(\w+)"(?:\s*,\s*"index"\s*:\s*(\d+))?/

/** The type of an event and the place of its block, each undefined if it is absent or no such thing. */
function headOf(data: string): readonly [type: string | undefined, index: number | undefined] {
  const head = HEAD.exec(data)
  if (head !== null) return [head[1], head[2] === undefined ? undefined : Number(head[2])]
  const { type, index } = parse(data) ?? {}
  return [typeof type === 'string' ? type : undefined, isCount(index) ? index : undefined]
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
