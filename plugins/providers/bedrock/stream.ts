import {
  chunk,
  expectCallId,
  expectName,
  expectObject,
  isRecord,
  KeptText,
  servedTier,
  type TranslatedChunk,
  type TranslatedCompletion,
  type Translator,
  textOf,
  type UpstreamEvent,
} from 'unified-model-gateway/plugin'
import { type Placed, placed } from '../anthropic/reasoning.ts'
import { FrameDecoder } from './frames.ts'
import { toReasoningBlock, toThinkingState } from './reasoning.ts'
import { toUpstreamError } from './refusal.ts'
import { nothingKnown, toCompletion, toFinishReason, toUsage, usageOf } from './reply.ts'
import type { ReasoningBlock, ReplyBlock, ReplyReasoning, ReplyToolUse, StreamEvent } from './wire.ts'

/** A block of the stream that has not ended. */
type OpenBlock =
  | { readonly kind: 'other' }
  | { readonly kind: 'reasoning'; text: string; signature: string; readonly redacted: Buffer[] }
  /** `call`: the number of the tool call; block indexes count text and reasoning too. */
  | { readonly kind: 'tool'; readonly call: number; begun: boolean; isPartial: boolean }

/**
 * Translates the reply to Converse or ConverseStream. The order of events is messageStart, then per block its start (of tools only), deltas and stop, then
 * messageStop, and metadata with the usage last ("ConverseStream response syntax", Amazon Bedrock API reference).
 */
export class ConverseTranslator implements Translator {
  readonly #model: string
  readonly #open = new Map<number | undefined, OpenBlock>()
  /** The reasoning since the last tool call. */
  #reasoning: Placed<ReasoningBlock>[] = []
  /** Characters of text before the first call. Text after it stands before it in the message, and so before the reasoning of later calls. */
  #written = 0
  readonly #kept = new KeptText()
  #calls = 0
  /** Whether the client has text or a call. */
  #hasAnswer = false
  /** Whether anything of an unknown kind was left out: it may have been the answer. */
  #isPartial = false
  #stopped: { readonly reason: unknown } | undefined
  #hasMetadata = false

  /** `model`: Bedrock's name of it, which replies omit. */
  constructor(model: string) {
    this.#model = model
  }

  completion(body: unknown): TranslatedCompletion {
    return toCompletion(body, this.#model)
  }

  usage(body: unknown): unknown {
    return usageOf(body)
  }

  decoder(): FrameDecoder {
    return new FrameDecoder()
  }

  /** Whether messageStop and metadata have arrived. */
  get over(): boolean {
    return this.#stopped !== undefined && this.#hasMetadata
  }

  /** Throws `UpstreamError` for an exception or an error, `Error` for an event that is not of ConverseStream. */
  event(frame: UpstreamEvent): readonly TranslatedChunk[] {
    if (frame.headers?.[':message-type'] !== 'event') throw toUpstreamError(frame)
    if (this.over) return []
    const event: StreamEvent | undefined = expectObject(JSON.parse(frame.data), 'an event')
    if (event === undefined) throw new Error('not an event of ConverseStream')
    switch (frame.type) {
      case 'contentBlockStart':
        return this.#startBlock(event.contentBlockIndex, expectObject(expectObject(event.start, 'start')?.toolUse, 'toolUse'))
      case 'contentBlockDelta':
        return this.#continueBlock(event.contentBlockIndex, expectObject(event.delta, 'delta') ?? {})
      case 'contentBlockStop':
        this.#stopBlock(event.contentBlockIndex)
        return []
      case 'messageStop':
        this.#stopped = { reason: event.stopReason }
        return this.#finish()
      case 'metadata':
        this.#hasMetadata = true
        return [...this.#finish(), ...usageIn(event)]
      default:
        if (frame.type !== 'messageStart') this.#leaveOut()
        return []
    }
  }

  /** Throws if messageStop or metadata has not arrived. */
  end(): readonly TranslatedChunk[] {
    if (!this.over) throw new Error('The stream ended before messageStop and metadata.')
    return []
  }

  #startBlock(index: number | undefined, toolUse: ReplyToolUse | null | undefined): readonly TranslatedChunk[] {
    if (this.#open.has(index)) throw new Error('a block that begins twice')
    // Not a call for the client: Bedrock runs such tools itself.
    if (toolUse == null || toolUse.type === 'server_tool_use') {
      this.#open.set(index, { kind: 'other' })
      return []
    }
    const call = this.#calls++
    this.#open.set(index, { kind: 'tool', call, begun: false, isPartial: false })
    const state = toThinkingState(this.#model, this.#reasoning)
    this.#reasoning = []
    this.#hasAnswer = true
    return [chunk.toolCall({ index: call, id: expectCallId(toolUse.toolUseId), name: expectName(toolUse.name), ...state })]
  }

  #continueBlock(index: number | undefined, { text, reasoningContent, toolUse }: ReplyBlock): readonly TranslatedChunk[] {
    if (isRecord(reasoningContent)) return this.#continueReasoning(index, reasoningContent)
    const input = expectObject(toolUse, 'toolUse')
    if (input !== undefined) {
      if (input.input == null && Object.keys(input).length > 0) this.#leaveOut()
      return continueCall(this.#open.get(index), input.input)
    }
    const chunks = chunk.fromText(chunk.content, text)
    this.#hasAnswer ||= chunks.length > 0
    if (text == null) this.#leaveOut()
    if (this.#calls === 0) this.#written += textOf(text).length
    return chunks
  }

  /** Something of an unknown kind: it may be the answer, or the arguments of a call that has begun. */
  #leaveOut(): void {
    this.#isPartial = true
    for (const block of this.#open.values()) if (block.kind === 'tool') block.isPartial = true
  }

  #continueReasoning(index: number | undefined, delta: ReplyReasoning): readonly TranslatedChunk[] {
    const known = this.#open.get(index)
    const block = known?.kind === 'reasoning' ? known : { kind: 'reasoning' as const, text: '', signature: '', redacted: [] }
    this.#open.set(index, block)
    block.text += this.#kept.add(delta.text)
    block.signature += this.#kept.add(delta.signature)
    if (delta.redactedContent !== undefined) {
      block.redacted.push(Buffer.from(this.#kept.add(delta.redactedContent), 'base64'))
    }
    return chunk.fromText(chunk.reasoning, delta.text)
  }

  #stopBlock(index: number | undefined): void {
    const block = this.#open.get(index)
    this.#open.delete(index)
    if (block?.kind === 'tool' && !block.begun && block.isPartial) throw nothingKnown()
    if (block?.kind !== 'reasoning') return
    const { text, signature, redacted } = block
    const redactedContent = Buffer.concat(redacted).toString('base64')
    const blocks = toReasoningBlock(redactedContent ? { redactedContent } : { reasoningText: { text, signature } })
    this.#reasoning.push(...placed(blocks, [this.#calls === 0 ? this.#written : 0]))
  }

  #finish(): readonly TranslatedChunk[] {
    if (this.#stopped === undefined || !this.#hasMetadata) return []
    const { reason } = this.#stopped
    // Nobody has said that the answer is whole: it may have been cut at its limit.
    if (reason == null) throw new Error('The message ended without a stop reason.')
    if (!this.#hasAnswer && this.#isPartial) throw nothingKnown()
    return [chunk.finish(toFinishReason(reason, this.#calls > 0))]
  }
}

function usageIn({ usage, serviceTier }: StreamEvent): readonly TranslatedChunk[] {
  const tokens = toUsage(usage)
  return tokens === undefined ? [] : [{ ...chunk.usage(tokens), ...servedTier(serviceTier?.type) }]
}

/** Empty for Bedrock's own tools, which have such deltas too. Throws an Error for a block that has not begun. */
function continueCall(block: OpenBlock | undefined, input: unknown): readonly TranslatedChunk[] {
  if (block === undefined) throw new Error('arguments of a call that has not begun')
  if (block.kind !== 'tool') return []
  const chunks = chunk.fromText((json) => chunk.toolArguments(block.call, json), input)
  block.begun ||= chunks.length > 0
  return chunks
}
