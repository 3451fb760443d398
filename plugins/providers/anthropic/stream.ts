import {
  chunk,
  expectArguments,
  expectCallId,
  expectName,
  expectObject,
  expectText,
  KeptText,
  type MessagesUsage,
  servedTier,
  type TranslatedChunk,
  type TranslatedCompletion,
  type Translator,
  textOf,
  type UpstreamEvent,
  usageOfMessages,
} from 'unified-model-gateway/plugin'
import { type Placed, placed, toThinkingBlock, toThinkingState } from './reasoning.ts'
import { toUpstreamError } from './refusal.ts'
import { expectBlock, nothingKnown, toCompletion, toExplanation, toFinishReason, toSource, usageOf } from './reply.ts'
import type { MessageReply, ReplyBlock, ReplyDelta, StreamEvent, ThinkingBlock } from './wire.ts'

/** Nearly every event is a text delta. A text without escapes is cut out, not parsed (docs/decisions/hot-path.md). */
const TEXT_DELTA = /^\{"type":"content_block_delta","index":\d+,"delta":\{"type":"text_delta","text":"([^"\\]+)"\}\s*\}$/

/** A block of the stream that has not ended. */
type OpenBlock =
  | { readonly kind: 'other' }
  | { readonly kind: 'thinking'; thinking: string; signature: string }
  /** `call`: the number of the tool call; block indexes count text and Anthropic's own tools too. */
  | { readonly kind: 'tool'; readonly call: number; readonly input: unknown; begun: boolean; isPartial: boolean }

/**
 * Translates the reply to `POST /v1/messages`, whole or streamed. The order of events is message_start, then per block its start, deltas and stop, then
 * message_delta and message_stop, with pings anywhere (platform.claude.com, "Streaming messages").
 */
export class MessageTranslator implements Translator {
  readonly #open = new Map<number | undefined, OpenBlock>()
  /** The thinking since the last tool call. */
  #thinking: Placed<ThinkingBlock>[] = []
  /** Characters of text before the first call. Text after it stands before it in the message, and so before the thinking of later calls. */
  #written = 0
  /** Characters of text, and where the last block of text began. */
  #said = 0
  #begin = 0
  /** Of the block of text. */
  #citations: unknown[] = []
  readonly #kept = new KeptText()
  #model = ''
  #calls = 0
  /** Whether the client has text or a call. */
  #hasAnswer = false
  /** Whether anything of an unknown kind was left out: it may have been the answer. */
  #isPartial = false
  #stopReason: unknown
  #refusal = ''
  #begun: { readonly id: unknown } | undefined
  #usage: MessagesUsage = {}
  #over = false

  completion(body: unknown): TranslatedCompletion {
    return toCompletion(body)
  }

  usage(body: unknown): unknown {
    return usageOf(body)
  }

  /** Whether message_stop has arrived. */
  get over(): boolean {
    return this.#over
  }

  /** Throws `UpstreamError` for an error event, `Error` for an event that is not of the Messages API. */
  event({ data }: UpstreamEvent): readonly TranslatedChunk[] {
    if (this.#over) return []
    const text = TEXT_DELTA.exec(data)
    if (text !== null) return this.#say(text[1]!)
    const event: StreamEvent = JSON.parse(data)
    switch (event.type) {
      case 'message_start':
        return this.#startMessage(event.message ?? {})
      case 'content_block_start':
        return this.#startBlock(event.index, expectBlock(expectObject(event.content_block, 'content_block') ?? {}))
      case 'content_block_delta':
        return this.#continueBlock(this.#open.get(event.index), expectBlock(expectObject(event.delta, 'delta') ?? {}))
      case 'content_block_stop':
        return this.#stopBlock(event.index)
      case 'message_delta':
        this.#stopReason = event.delta?.stop_reason ?? this.#stopReason
        this.#refusal ||= toExplanation(event.delta?.stop_details)
        return this.#count(event.usage)
      case 'message_stop':
        this.#over = true
        return this.#finish()
      case 'error':
        throw toUpstreamError(event.error)
      default:
        // Types that are not known are to be ignored; what has none is not an event.
        if (typeof event.type !== 'string') throw new Error('not an event of the Messages API')
        if (event.type !== 'ping') this.#leaveOut()
        return []
    }
  }

  /** Throws if message_stop has not arrived. */
  end(): readonly TranslatedChunk[] {
    if (!this.#over) throw new Error('The stream ended before message_stop.')
    return []
  }

  #startMessage({ id, model, usage }: MessageReply): readonly TranslatedChunk[] {
    if (this.#begun !== undefined && this.#begun.id !== id) throw new Error('Another message begins within the stream.')
    this.#begun = { id }
    this.#model = String(model)
    return [...(typeof id === 'string' ? [{ id, choices: [] }] : []), ...this.#count(usage)]
  }

  /** Usage is cumulative: later counts replace earlier ones, null replaces nothing. */
  #count(later: MessagesUsage | null | undefined): readonly TranslatedChunk[] {
    this.#usage = { ...this.#usage, ...Object.fromEntries(Object.entries(later ?? {}).filter(([, value]) => value !== null)) }
    const usage = usageOfMessages(this.#usage)
    return usage === undefined ? [] : [{ ...chunk.usage(usage), ...servedTier(this.#usage.service_tier) }]
  }

  #startBlock(index: number | undefined, block: ReplyBlock): readonly TranslatedChunk[] {
    if (this.#open.has(index)) throw new Error('a block that begins twice')
    switch (block.type) {
      case 'text':
        this.#begin = this.#said
        return this.#say(block.text)
      case 'thinking': {
        const [thinking, signature] = [this.#kept.add(block.thinking), this.#kept.add(block.signature)]
        this.#open.set(index, { kind: 'thinking', thinking, signature })
        return chunk.fromText(chunk.reasoning, block.thinking)
      }
      case 'redacted_thinking':
        this.#kept.add(block.data)
        this.#thought(block)
        return []
      case 'tool_use':
        this.#open.set(index, { kind: 'tool', call: this.#calls, input: block.input, begun: false, isPartial: false })
        return [this.#startCall(expectCallId(block.id), expectName(block.name))]
      default:
        this.#open.set(index, { kind: 'other' })
        this.#leaveOut()
        return []
    }
  }

  /** Something of an unknown kind: it may be the answer, or the arguments of a call that has begun. */
  #leaveOut(): void {
    this.#isPartial = true
    for (const block of this.#open.values()) if (block.kind === 'tool') block.isPartial = true
  }

  #say(text: unknown): readonly TranslatedChunk[] {
    const chunks = chunk.fromText(chunk.content, text)
    this.#hasAnswer ||= chunks.length > 0
    this.#said += textOf(text).length
    if (this.#calls === 0) this.#written += textOf(text).length
    return chunks
  }

  #thought(block: ReplyBlock): void {
    this.#thinking.push(...placed(toThinkingBlock(block), [this.#calls === 0 ? this.#written : 0]))
  }

  #startCall(id: string, name: string): TranslatedChunk {
    const state = toThinkingState(this.#model, this.#thinking)
    this.#thinking = []
    this.#hasAnswer = true
    return chunk.toolCall({ index: this.#calls++, id, name, ...state })
  }

  #continueBlock(block: OpenBlock | undefined, delta: ReplyDelta): readonly TranslatedChunk[] {
    switch (delta.type) {
      case 'text_delta':
        if (delta.text == null) this.#leaveOut()
        return this.#say(delta.text)
      case 'citations_delta':
        this.#kept.add(JSON.stringify(delta.citation))
        this.#citations.push(delta.citation)
        return []
      case 'thinking_delta':
        if (block?.kind === 'thinking') block.thinking += this.#kept.add(delta.thinking)
        return chunk.fromText(chunk.reasoning, delta.thinking)
      case 'signature_delta':
        if (block?.kind === 'thinking') block.signature += this.#kept.add(delta.signature)
        return []
      case 'input_json_delta':
        if (delta.partial_json == null) this.#leaveOut()
        return continueCall(block, expectText(delta.partial_json, 'partial_json'))
      default:
        this.#leaveOut()
        return []
    }
  }

  #stopBlock(index: number | undefined): readonly TranslatedChunk[] {
    const block = this.#open.get(index)
    this.#open.delete(index)
    if (this.#citations.length > 0) return this.#cite()
    if (block?.kind === 'thinking' && block.signature) {
      this.#thought({ type: 'thinking', thinking: block.thinking, signature: block.signature })
    }
    // A tool call without arguments has no deltas, and '' is no JSON.
    if (block?.kind === 'tool' && !block.begun && block.isPartial) throw nothingKnown()
    if (block?.kind === 'tool' && !block.begun) return [chunk.toolArguments(block.call, expectArguments(block.input))]
    return []
  }

  #cite(): readonly TranslatedChunk[] {
    const sources = this.#citations.flatMap((citation) => toSource(citation, this.#begin, this.#said))
    this.#citations = []
    return sources.length > 0 ? [chunk.annotations(sources)] : []
  }

  #finish(): readonly TranslatedChunk[] {
    // Nobody has said that the answer is whole: it may have been cut at its limit.
    if (this.#stopReason == null) throw new Error('The message ended without a stop reason.')
    if (!this.#hasAnswer && this.#isPartial) throw nothingKnown()
    return [...chunk.fromText(chunk.refusal, this.#refusal), chunk.finish(toFinishReason(this.#stopReason))]
  }
}

/** Empty for Anthropic's own tools, which have such deltas too. Throws an Error for a block that has not begun. */
function continueCall(block: OpenBlock | undefined, json: string): readonly TranslatedChunk[] {
  if (block === undefined) throw new Error('arguments of a call that has not begun')
  if (block?.kind !== 'tool' || json === '') return []
  block.begun = true
  return [chunk.toolArguments(block.call, json)]
}
