import { chunk, type TranslatedChunk, type UpstreamEvent } from 'unified-model-gateway/plugin'
import { toFinishReason } from './finish.ts'
import { toUpstreamError } from './refusal.ts'
import { toFreight, toThinkingBlock } from './thinking.ts'
import { toUsage, updateUsage } from './usage.ts'
import type { MessageReply, ReplyBlock, ReplyDelta, StreamEvent, ThinkingBlock, WireUsage } from './wire.ts'

/** Characters of thinking kept for the next turn, far above the longest of replies: one without end must not fill the memory. */
const MAX_KEPT = 8_000_000

/** Nearly every event is one of these. A text without escapes is cut out (docs/decisions/text-of-translated-streams.md). */
const TEXT_DELTA = /^\{"type":"content_block_delta","index":\d+,"delta":\{"type":"text_delta","text":"([^"\\]+)"\}\s*\}$/

/** A block of the stream that is not over. */
type OpenBlock =
  | { readonly kind: 'thinking'; thinking: string; signature: string }
  /** `call` counts tool calls: block indexes count text and Anthropic's own tools too. */
  | { readonly kind: 'tool'; readonly call: number; readonly input: unknown; begun: boolean }

/**
 * Turns the events of one streamed message into chunks. Anthropic's order is message_start, then per block its start, deltas and
 * stop, then message_delta and message_stop, with pings anywhere (platform.claude.com, "Streaming messages").
 */
export class MessageStream {
  readonly #open = new Map<number | undefined, OpenBlock>()
  /** What was thought since the last tool call. */
  #thinking: ThinkingBlock[] = []
  #model = ''
  #kept = 0
  #calls = 0
  /** Whether the message has any content. */
  #said = false
  #stopReason: unknown
  #usage: WireUsage = {}
  #over = false

  /** Whether message_stop has come. */
  get over(): boolean {
    return this.#over
  }

  /** Throws `UpstreamError` for an error event, `Error` for what is no event of the Messages API. */
  event({ data }: UpstreamEvent): readonly TranslatedChunk[] {
    if (this.#over) return []
    const text = TEXT_DELTA.exec(data)
    if (text !== null) return this.#say([chunk.content(text[1]!)])
    const event: StreamEvent = JSON.parse(data)
    switch (event.type) {
      case 'message_start':
        return this.#startMessage(event.message ?? {})
      case 'content_block_start':
        return this.#say(this.#startBlock(event.index, event.content_block ?? {}))
      case 'content_block_delta':
        return this.#say(this.#continueBlock(this.#open.get(event.index), event.delta ?? {}))
      case 'content_block_stop':
        return this.#stopBlock(event.index)
      case 'message_delta':
        this.#usage = updateUsage(this.#usage, event.usage)
        this.#stopReason = event.delta?.stop_reason ?? this.#stopReason
        return []
      case 'message_stop':
        this.#over = true
        return this.#finish()
      case 'error':
        throw toUpstreamError(event.error)
      default:
        return []
    }
  }

  /** Throws where the stream broke off. */
  end(): readonly TranslatedChunk[] {
    if (!this.#over) throw new Error('The stream ended before message_stop.')
    return []
  }

  #say(content: readonly TranslatedChunk[]): readonly TranslatedChunk[] {
    this.#said ||= content.length > 0
    return content
  }

  #startMessage({ id, model, usage }: MessageReply): readonly TranslatedChunk[] {
    this.#usage = updateUsage(this.#usage, usage)
    this.#model = String(model)
    return typeof id === 'string' ? [{ id, choices: [] }] : []
  }

  #startBlock(index: number | undefined, block: ReplyBlock): readonly TranslatedChunk[] {
    switch (block.type) {
      case 'text':
        return pieceOf(chunk.content, block.text)
      case 'thinking':
        this.#open.set(index, { kind: 'thinking', thinking: this.#keep(block.thinking), signature: this.#keep(block.signature) })
        return pieceOf(chunk.reasoning, block.thinking)
      case 'redacted_thinking':
        this.#keep(block.data)
        this.#thinking.push(...toThinkingBlock(block))
        return []
      case 'tool_use':
        this.#open.set(index, { kind: 'tool', call: this.#calls, input: block.input, begun: false })
        return [this.#startCall(String(block.id), String(block.name))]
      default:
        return []
    }
  }

  #startCall(id: string, name: string): TranslatedChunk {
    const called = { name, arguments: '' }
    const call = {
      index: this.#calls++,
      id,
      type: 'function' as const,
      function: called,
      ...toFreight(this.#model, this.#thinking),
    }
    this.#thinking = []
    return { choices: [{ index: 0, delta: { tool_calls: [call] } }] }
  }

  #continueBlock(block: OpenBlock | undefined, delta: ReplyDelta): readonly TranslatedChunk[] {
    switch (delta.type) {
      case 'text_delta':
        return pieceOf(chunk.content, delta.text)
      case 'thinking_delta':
        if (block?.kind === 'thinking') block.thinking += this.#keep(delta.thinking)
        return pieceOf(chunk.reasoning, delta.thinking)
      case 'signature_delta':
        if (block?.kind === 'thinking') block.signature += this.#keep(delta.signature)
        return []
      case 'input_json_delta':
        return continueCall(block, textOf(delta.partial_json))
      default:
        return []
    }
  }

  #keep(value: unknown): string {
    const text = textOf(value)
    this.#kept += text.length
    if (this.#kept > MAX_KEPT) throw new Error(`The reply thinks more than ${MAX_KEPT} characters.`)
    return text
  }

  #finish(): readonly TranslatedChunk[] {
    if (!this.#said && this.#stopReason == null) throw new Error('The message has neither content nor a stop reason.')
    const finish = chunk.finish(toFinishReason(this.#stopReason))
    const usage = toUsage(this.#usage)
    return usage === undefined ? [finish] : [finish, chunk.usage(usage)]
  }

  #stopBlock(index: number | undefined): readonly TranslatedChunk[] {
    const block = this.#open.get(index)
    this.#open.delete(index)
    if (block?.kind === 'thinking' && block.signature) {
      this.#thinking.push({ type: 'thinking', thinking: block.thinking, signature: block.signature })
    }
    // A tool called without arguments has no deltas, and '' is no JSON.
    if (block?.kind === 'tool' && !block.begun) return [chunk.toolArguments(block.call, JSON.stringify(block.input ?? {}))]
    return []
  }
}

/** Anthropic's own tools have such deltas too; they have no open block. */
function continueCall(block: OpenBlock | undefined, json: string): readonly TranslatedChunk[] {
  if (block?.kind !== 'tool' || json === '') return []
  block.begun = true
  return [chunk.toolArguments(block.call, json)]
}

function pieceOf(toChunk: (text: string) => TranslatedChunk, text: unknown): readonly TranslatedChunk[] {
  return textOf(text) === '' ? [] : [toChunk(textOf(text))]
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
