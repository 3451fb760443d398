import { chunk, type TranslatedChunk, type UpstreamEvent } from 'unified-model-gateway/plugin'
import { toFinishReason } from './finish.ts'
import { mayBeNothing, textOf } from './reply-text.ts'
import { toFreight } from './thought.ts'
import { toUsage } from './usage.ts'
import type { ReplyContent, ReplyToolCall, StreamEvent } from './wire.ts'

/** Characters of thinking kept for the next turn, far above the longest of replies: one without end must not fill the memory. */
const MAX_KEPT = 8_000_000

/** A call of a tool under way. */
interface OpenCall {
  /** Its number among the calls. */
  readonly call: number
  /** Arguments held back because they may be none; undefined once some are known. */
  held: string | undefined
}

/**
 * Turns the events of one streamed chat into chunks. Their order is message-start, then the plan or the contents, each with its
 * start, deltas and end, then the tool calls likewise, then message-end ("Streaming responses", docs.cohere.com).
 */
export class ChatStream {
  readonly #open = new Map<number | undefined, OpenCall>()
  #plan = ''
  #thinking = ''
  #calls = 0
  /** Whether the reply has any content. */
  #said = false
  #over = false

  /** Whether message-end has come. */
  get over(): boolean {
    return this.#over
  }

  /** Throws `UpstreamError` where the reply was not finished, an Error for what is no event of the Chat API. */
  event({ data }: UpstreamEvent): readonly TranslatedChunk[] {
    if (this.#over) return []
    const { type, id, index, delta }: StreamEvent = JSON.parse(data)
    switch (type) {
      case 'message-start':
        return typeof id === 'string' ? [{ id, choices: [] }] : []
      case 'content-start':
      case 'content-delta':
        return this.#say(this.#addContent(delta?.message?.content ?? {}))
      case 'tool-plan-delta':
        this.#plan += this.#keep(delta?.message?.tool_plan)
        return this.#say(pieceOf(chunk.reasoning, delta?.message?.tool_plan))
      case 'tool-call-start':
        return this.#say(this.#startCall(index, delta?.message?.tool_calls ?? {}))
      case 'tool-call-delta':
        return this.#continueCall(index, delta?.message?.tool_calls ?? {})
      case 'message-end':
        this.#over = true
        return this.#finish(delta ?? {})
      default:
        return []
    }
  }

  /** Throws where the stream broke off. */
  end(): readonly TranslatedChunk[] {
    if (!this.#over) throw new Error('The stream ended before message-end.')
    return []
  }

  #say(content: readonly TranslatedChunk[]): readonly TranslatedChunk[] {
    this.#said ||= content.length > 0
    return content
  }

  #addContent({ text, thinking }: ReplyContent): readonly TranslatedChunk[] {
    this.#thinking += this.#keep(thinking)
    return [...pieceOf(chunk.reasoning, thinking), ...pieceOf(chunk.content, text)]
  }

  #keep(value: unknown): string {
    const text = textOf(value)
    if (this.#plan.length + this.#thinking.length + text.length > MAX_KEPT) {
      throw new Error(`The reply thinks more than ${MAX_KEPT} characters.`)
    }
    return text
  }

  #startCall(index: number | undefined, started: ReplyToolCall): readonly TranslatedChunk[] {
    const call = this.#calls++
    this.#open.set(index, { call, held: '' })
    const freight = call === 0 ? toFreight({ plan: this.#plan, thinking: this.#thinking }) : undefined
    const announced = chunk.toolCall({ index: call, id: String(started.id), name: String(started.function?.name), ...freight })
    return [announced, ...this.#continueCall(index, started)]
  }

  #continueCall(index: number | undefined, { function: called }: ReplyToolCall): readonly TranslatedChunk[] {
    const open = this.#open.get(index)
    if (open === undefined) return []
    const text = (open.held ?? '') + textOf(called?.arguments)
    if (open.held !== undefined && mayBeNothing(text)) {
      open.held = text
      return []
    }
    open.held = undefined
    return text === '' ? [] : [chunk.toolArguments(open.call, text)]
  }

  #finish({ finish_reason, error, usage }: NonNullable<StreamEvent['delta']>): readonly TranslatedChunk[] {
    const end = chunk.finish(toFinishReason(finish_reason, error))
    if (!this.#said && finish_reason == null) throw new Error('The reply has neither content nor a finish reason.')
    const tokens = toUsage(usage)
    return tokens === undefined ? [end] : [end, chunk.usage(tokens)]
  }
}

function pieceOf(toChunk: (text: string) => TranslatedChunk, text: unknown): readonly TranslatedChunk[] {
  return textOf(text) === '' ? [] : [toChunk(textOf(text))]
}
