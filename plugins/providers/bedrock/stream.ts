import { chunk, isRecord, type TranslatedChunk, type UpstreamEvent } from 'unified-model-gateway/plugin'
import { toFinishReason } from './finish.ts'
import { toUpstreamError } from './refusal.ts'
import { toFreight, toReasoning } from './thought.ts'
import { toUsage } from './usage.ts'
import type { ReasoningBlock, ReplyBlock, ReplyReasoning, ReplyToolUse, StreamEvent, WireUsage } from './wire.ts'

/** Characters of reasoning kept for the next turn, far above the longest of replies: one without end must not fill the memory. */
const MAX_KEPT = 8_000_000

/** A block of the stream that is not over. */
type OpenBlock =
  | { readonly kind: 'reasoning'; text: string; signature: string; readonly redacted: Buffer[] }
  /** `call` counts tool calls: block indexes count text and reasoning too. */
  | { readonly kind: 'tool'; readonly call: number }

/**
 * Turns the events of one ConverseStream into chunks. Their order is messageStart, then per block its start (of tools only), deltas
 * and stop, then messageStop, and metadata with the usage last ("ConverseStream response syntax", Amazon Bedrock API reference).
 */
export class ConverseStream {
  readonly #model: string
  readonly #open = new Map<number | undefined, OpenBlock>()
  /** The reasoning since the last tool call. */
  #reasoning: ReasoningBlock[] = []
  #kept = 0
  #calls = 0
  /** Whether the reply has any content. */
  #said = false
  #stopped: { readonly reason: unknown } | undefined
  #metadata: { readonly usage?: WireUsage | null } | undefined

  /** `model`: what Bedrock calls it, which its stream does not say. */
  constructor(model: string) {
    this.#model = model
  }

  /** Whether messageStop and metadata have come. */
  get over(): boolean {
    return this.#stopped !== undefined && this.#metadata !== undefined
  }

  /** Throws `UpstreamError` for an exception or an error, an Error for what is no event of ConverseStream. */
  event(frame: UpstreamEvent): readonly TranslatedChunk[] {
    if (frame.headers?.[':message-type'] !== 'event') throw toUpstreamError(frame)
    if (this.over) return []
    const event: StreamEvent = JSON.parse(frame.data)
    switch (frame.type) {
      case 'contentBlockStart':
        return this.#say(this.#startBlock(event.contentBlockIndex, event.start?.toolUse))
      case 'contentBlockDelta':
        return this.#say(this.#continueBlock(event.contentBlockIndex, event.delta ?? {}))
      case 'contentBlockStop':
        this.#stopBlock(event.contentBlockIndex)
        return []
      case 'messageStop':
        this.#stopped = { reason: event.stopReason }
        return this.#finish()
      case 'metadata':
        this.#metadata = { usage: event.usage }
        return this.#finish()
      default:
        return []
    }
  }

  /** Throws where the stream broke off. */
  end(): readonly TranslatedChunk[] {
    if (!this.over) throw new Error('The stream ended before messageStop and metadata.')
    return []
  }

  #say(content: readonly TranslatedChunk[]): readonly TranslatedChunk[] {
    this.#said ||= content.length > 0
    return content
  }

  #startBlock(index: number | undefined, toolUse: ReplyToolUse | null | undefined): readonly TranslatedChunk[] {
    // What Bedrock runs itself is no call of the client's.
    if (!isRecord(toolUse) || toolUse.type === 'server_tool_use') return []
    const call = this.#calls++
    this.#open.set(index, { kind: 'tool', call })
    const freight = toFreight(this.#model, this.#reasoning)
    this.#reasoning = []
    return [chunk.toolCall({ index: call, id: String(toolUse.toolUseId), name: String(toolUse.name), ...freight })]
  }

  #continueBlock(index: number | undefined, { text, reasoningContent, toolUse }: ReplyBlock): readonly TranslatedChunk[] {
    if (isRecord(reasoningContent)) return this.#reason(index, reasoningContent)
    if (isRecord(toolUse)) return continueCall(this.#open.get(index), toolUse.input)
    return pieceOf(chunk.content, text)
  }

  #reason(index: number | undefined, delta: ReplyReasoning): readonly TranslatedChunk[] {
    const known = this.#open.get(index)
    const block = known?.kind === 'reasoning' ? known : { kind: 'reasoning' as const, text: '', signature: '', redacted: [] }
    this.#open.set(index, block)
    block.text += this.#keep(delta.text)
    block.signature += this.#keep(delta.signature)
    if (delta.redactedContent !== undefined) block.redacted.push(Buffer.from(this.#keep(delta.redactedContent), 'base64'))
    return pieceOf(chunk.reasoning, delta.text)
  }

  #keep(value: unknown): string {
    const text = textOf(value)
    this.#kept += text.length
    if (this.#kept > MAX_KEPT) throw new Error(`The reply reasons more than ${MAX_KEPT} characters.`)
    return text
  }

  #stopBlock(index: number | undefined): void {
    const block = this.#open.get(index)
    this.#open.delete(index)
    if (block?.kind !== 'reasoning') return
    const { text, signature, redacted } = block
    const redactedContent = Buffer.concat(redacted).toString('base64')
    this.#reasoning.push(...toReasoning(redactedContent ? { redactedContent } : { reasoningText: { text, signature } }))
  }

  #finish(): readonly TranslatedChunk[] {
    if (this.#stopped === undefined || this.#metadata === undefined) return []
    const { reason } = this.#stopped
    if (!this.#said && reason == null) throw new Error('The reply has neither content nor a stop reason.')
    const finish = chunk.finish(toFinishReason(reason, this.#calls > 0))
    const usage = toUsage(this.#metadata.usage)
    return usage === undefined ? [finish] : [finish, chunk.usage(usage)]
  }
}

/** Bedrock's own tools have such deltas too; they have no open block. */
function continueCall(block: OpenBlock | undefined, input: unknown): readonly TranslatedChunk[] {
  return block?.kind === 'tool' ? pieceOf((json) => chunk.toolArguments(block.call, json), input) : []
}

function pieceOf(toChunk: (text: string) => TranslatedChunk, text: unknown): readonly TranslatedChunk[] {
  return textOf(text) === '' ? [] : [toChunk(textOf(text))]
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
