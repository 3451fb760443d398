import {
  chunk,
  expectCallId,
  expectObject,
  expectText,
  isRecord,
  KeptText,
  type TranslatedChunk,
  type TranslatedCompletion,
  type Translator,
  type UpstreamEvent,
} from 'unified-model-gateway/plugin'
import { toCitations } from './citations.ts'
import { toThinkingState } from './reasoning.ts'
import { mayBeNull, nothingKnown, readFunction, toCompletion, toFinishReason, toUsage, usageOf } from './reply.ts'
import type { ReplyContent, ReplyToolCall, StreamEvent } from './wire.ts'

/** Known events that are not read. */
const WITHOUT_CONTENT: ReadonlySet<string> = new Set(['content-end', 'citation-end'])

/** A tool call that has not ended. */
interface OpenCall {
  /** Its number among the calls. */
  readonly call: number
  /** The arguments as long as they may be `null`; undefined afterwards. */
  held: string | undefined
  /** Whether anything of an unknown kind was left out since it began: it may have been the arguments. */
  isPartial: boolean
}

/**
 * Translates the reply to `POST /v2/chat`, whole or streamed. The order of events is message-start, then the plan or the contents, each with its start, deltas and
 * end, then the tool calls likewise, then message-end ("Streaming responses", docs.cohere.com).
 */
export class ChatTranslator implements Translator {
  readonly #open = new Map<number | undefined, OpenCall>()
  #plan = ''
  #thinking = ''
  readonly #kept = new KeptText()
  readonly #citations: Readonly<Record<string, unknown>>[] = []
  #calls = 0
  /** Whether the client has text or a call. */
  #hasAnswer = false
  /** Whether anything of an unknown kind was left out: it may have been the answer. */
  #isPartial = false
  #over = false

  completion(body: unknown): TranslatedCompletion {
    return toCompletion(body)
  }

  usage(body: unknown): unknown {
    return usageOf(body)
  }

  /** Whether message-end has arrived. */
  get over(): boolean {
    return this.#over
  }

  /** Throws `UpstreamError` for an unfinished reply, `Error` for an event that is not of the Chat API. */
  event({ data }: UpstreamEvent): readonly TranslatedChunk[] {
    if (this.#over) return []
    const { type, id, index, delta: given }: StreamEvent = JSON.parse(data)
    const delta: StreamEvent['delta'] = expectObject(given, 'delta')
    const message: NonNullable<StreamEvent['delta']>['message'] = expectObject(delta?.message, 'message')
    switch (type) {
      case 'message-start':
        return typeof id === 'string' ? [{ id, choices: [] }] : []
      case 'content-start':
      case 'content-delta':
        return this.#addContent(expectObject(message?.content, 'content') ?? {})
      case 'tool-plan-delta':
        this.#plan += this.#kept.add(message?.tool_plan)
        return chunk.fromText(chunk.reasoning, message?.tool_plan)
      case 'tool-call-start':
        return this.#startCall(index, expectObject(message?.tool_calls, 'tool_calls') ?? {})
      case 'tool-call-delta':
        return this.#continueCall(index, expectObject(message?.tool_calls, 'tool_calls') ?? {})
      case 'tool-call-end':
        return this.#endCall(index)
      case 'citation-start':
        return this.#keepCitation(message?.citations)
      case 'message-end':
        this.#over = true
        return this.#finish(delta ?? {})
      default:
        if (typeof type !== 'string') throw new Error('not an event of the Chat API')
        if (!WITHOUT_CONTENT.has(type)) this.#leaveOut()
        return []
    }
  }

  /** Throws if message-end has not arrived. */
  end(): readonly TranslatedChunk[] {
    if (!this.#over) throw new Error('The stream ended before message-end.')
    return []
  }

  #addContent({ text, thinking }: ReplyContent): readonly TranslatedChunk[] {
    this.#thinking += this.#kept.add(thinking)
    const said = chunk.fromText(chunk.content, text)
    this.#hasAnswer ||= said.length > 0
    if (text == null && thinking == null) this.#leaveOut()
    return [...chunk.fromText(chunk.reasoning, thinking), ...said]
  }

  /** Clients join texts of deltas, and take other members from the last one that has them: all citations are sent together. */
  #keepCitation(citation: unknown): readonly TranslatedChunk[] {
    if (!isRecord(citation)) return []
    this.#kept.add(JSON.stringify(citation))
    this.#citations.push(citation)
    return []
  }

  #startCall(index: number | undefined, started: ReplyToolCall): readonly TranslatedChunk[] {
    if (this.#open.has(index)) throw new Error('a call that begins twice')
    this.#hasAnswer = true
    const call = this.#calls++
    this.#open.set(index, { call, held: '', isPartial: false })
    const state = call === 0 ? toThinkingState(this.#plan, this.#thinking) : undefined
    const { name } = readFunction(started.function)
    const start = chunk.toolCall({ index: call, id: expectCallId(started.id), name, ...state })
    return [start, ...this.#continueCall(index, started)]
  }

  /** Something of an unknown kind: it may be the answer, or the arguments of a call that has begun. */
  #leaveOut(): void {
    this.#isPartial = true
    for (const open of this.#open.values()) open.isPartial = true
  }

  #endCall(index: number | undefined): readonly TranslatedChunk[] {
    const open = this.#open.get(index)
    if (open?.held === '' && open.isPartial) throw nothingKnown()
    return []
  }

  #continueCall(index: number | undefined, { function: called }: ReplyToolCall): readonly TranslatedChunk[] {
    const open = this.#open.get(index)
    if (open === undefined) throw new Error('arguments of a call that has not begun')
    const { name: _, arguments: json, ...others } = expectObject(called, 'function') ?? {}
    if (json == null && Object.keys(others).length > 0) this.#leaveOut()
    const text = (open.held ?? '') + expectText(json, 'arguments')
    if (open.held !== undefined && mayBeNull(text)) {
      open.held = text
      return []
    }
    open.held = undefined
    return text === '' ? [] : [chunk.toolArguments(open.call, text)]
  }

  #finish({ finish_reason, error, usage }: NonNullable<StreamEvent['delta']>): readonly TranslatedChunk[] {
    const end = chunk.finish(toFinishReason(finish_reason, error))
    // Nobody has said that the answer is whole: it may have been cut at its limit.
    if (finish_reason == null) throw new Error('The message ended without a finish reason.')
    if (!this.#hasAnswer && this.#isPartial) throw nothingKnown()
    const tokens = toUsage(usage)
    const cited = this.#citations.length > 0 ? [{ choices: [{ delta: toCitations(this.#citations) }] }] : []
    return [...cited, end, ...(tokens === undefined ? [] : [chunk.usage(tokens)])]
  }
}
