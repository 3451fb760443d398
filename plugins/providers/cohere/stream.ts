import {
  chunk,
  isRecord,
  KeptText,
  type TranslatedChunk,
  type Translator,
  textOf,
  type UpstreamEvent,
} from 'unified-model-gateway/plugin'
import { toCitations } from './citations.ts'
import { toThinkingState } from './reasoning.ts'
import { mayBeNull, toCompletion, toFinishReason, toUsage, usageOf } from './reply.ts'
import type { ReplyContent, ReplyToolCall, StreamEvent } from './wire.ts'

/** Translates the reply to `POST /v2/chat`, whole or streamed. */
export function createTranslator(): Translator {
  return Object.assign(new ChatStream(), { completion: toCompletion, usage: usageOf })
}

/** A tool call that has not ended. */
interface OpenCall {
  /** Its number among the calls. */
  readonly call: number
  /** The arguments as long as they may be `null`; undefined afterwards. */
  held: string | undefined
}

/**
 * Translates the events of a streamed chat. Their order is message-start, then the plan or the contents, each with its start, deltas and
 * end, then the tool calls likewise, then message-end ("Streaming responses", docs.cohere.com).
 */
class ChatStream {
  readonly #open = new Map<number | undefined, OpenCall>()
  #plan = ''
  #thinking = ''
  readonly #kept = new KeptText()
  readonly #citations: Readonly<Record<string, unknown>>[] = []
  #calls = 0
  #hasContent = false
  #over = false

  /** Whether message-end has arrived. */
  get over(): boolean {
    return this.#over
  }

  /** Throws `UpstreamError` for an unfinished reply, `Error` for an event that is not of the Chat API. */
  event({ data }: UpstreamEvent): readonly TranslatedChunk[] {
    if (this.#over) return []
    const { type, id, index, delta }: StreamEvent = JSON.parse(data)
    switch (type) {
      case 'message-start':
        return typeof id === 'string' ? [{ id, choices: [] }] : []
      case 'content-start':
      case 'content-delta':
        return this.#content(this.#addContent(delta?.message?.content ?? {}))
      case 'tool-plan-delta':
        this.#plan += this.#kept.add(delta?.message?.tool_plan)
        return this.#content(chunk.fromText(chunk.reasoning, delta?.message?.tool_plan))
      case 'tool-call-start':
        return this.#content(this.#startCall(index, delta?.message?.tool_calls ?? {}))
      case 'tool-call-delta':
        return this.#continueCall(index, delta?.message?.tool_calls ?? {})
      case 'citation-start':
        return this.#keepCitation(delta?.message?.citations)
      case 'message-end':
        this.#over = true
        return this.#finish(delta ?? {})
      default:
        if (typeof type !== 'string') throw new Error('not an event of the Chat API')
        return []
    }
  }

  /** Throws if message-end has not arrived. */
  end(): readonly TranslatedChunk[] {
    if (!this.#over) throw new Error('The stream ended before message-end.')
    return []
  }

  #content(chunks: readonly TranslatedChunk[]): readonly TranslatedChunk[] {
    this.#hasContent ||= chunks.length > 0
    return chunks
  }

  #addContent({ text, thinking }: ReplyContent): readonly TranslatedChunk[] {
    this.#thinking += this.#kept.add(thinking)
    return [...chunk.fromText(chunk.reasoning, thinking), ...chunk.fromText(chunk.content, text)]
  }

  /** Clients join texts of deltas, and take other members from the last one that has them: all citations are sent together. */
  #keepCitation(citation: unknown): readonly TranslatedChunk[] {
    if (!isRecord(citation)) return []
    this.#kept.add(JSON.stringify(citation))
    this.#citations.push(citation)
    return []
  }

  #startCall(index: number | undefined, started: ReplyToolCall): readonly TranslatedChunk[] {
    const call = this.#calls++
    this.#open.set(index, { call, held: '' })
    const state = call === 0 ? toThinkingState(this.#plan, this.#thinking) : undefined
    const start = chunk.toolCall({ index: call, id: String(started.id), name: String(started.function?.name), ...state })
    return [start, ...this.#continueCall(index, started)]
  }

  #continueCall(index: number | undefined, { function: called }: ReplyToolCall): readonly TranslatedChunk[] {
    const open = this.#open.get(index)
    if (open === undefined) return []
    const text = (open.held ?? '') + textOf(called?.arguments)
    if (open.held !== undefined && mayBeNull(text)) {
      open.held = text
      return []
    }
    open.held = undefined
    return text === '' ? [] : [chunk.toolArguments(open.call, text)]
  }

  #finish({ finish_reason, error, usage }: NonNullable<StreamEvent['delta']>): readonly TranslatedChunk[] {
    const end = chunk.finish(toFinishReason(finish_reason, error))
    if (!this.#hasContent && finish_reason == null) throw new Error('The reply has neither content nor a finish reason.')
    const tokens = toUsage(usage)
    const cited = this.#citations.length > 0 ? [{ choices: [{ delta: toCitations(this.#citations) }] }] : []
    return [...cited, end, ...(tokens === undefined ? [] : [chunk.usage(tokens)])]
  }
}
