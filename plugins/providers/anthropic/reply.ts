import {
  expectArguments,
  expectCallId,
  expectName,
  expectObjects,
  expectText,
  type FinishReason,
  isRecord,
  servedTier,
  type ToolCall,
  type TranslatedCompletion,
  textOf,
  type UrlCitation,
  type Usage,
  urlCitation,
  usageOfMessages,
} from 'unified-model-gateway/plugin'
import { type Placed, placed, toThinkingBlock, toThinkingState } from './reasoning.ts'
import { toUpstreamError } from './refusal.ts'
import type { MessageReply, ReplyBlock, ThinkingBlock, WireError } from './wire.ts'

/** Translates a whole message to a completion. Throws `UpstreamError` for an error, `Error` for any other body. */
export function toCompletion(body: unknown): TranslatedCompletion {
  const reply: MessageReply & { error?: WireError } = isRecord(body) ? body : {}
  if (reply.type === 'error') throw toUpstreamError(reply.error)
  if (reply.type !== 'message' || !Array.isArray(reply.content))
    throw new Error('The reply is not a message of the Messages API.')
  const blocks: readonly ReplyBlock[] = expectObjects(reply.content, 'content').map(expectBlock)
  const calls = toToolCalls(blocks, String(reply.model))
  const text = joinTexts(blocks, 'text')
  const thinking = joinTexts(blocks, 'thinking')
  const refusal = toExplanation(reply.stop_details)
  const sources = toSources(blocks)
  if (text === '' && calls.length === 0 && blocks.some(isUnknown)) throw nothingKnown()
  return {
    ...(typeof reply.id === 'string' && { id: reply.id }),
    choices: [
      {
        message: {
          content: text === '' && calls.length > 0 ? null : text,
          ...(thinking && { reasoning_content: thinking }),
          ...(refusal && { refusal }),
          ...(sources.length > 0 && { annotations: sources }),
          ...(calls.length > 0 && { tool_calls: calls }),
        },
        finish_reason: toFinishReason(reply.stop_reason),
      },
    ],
    usage: usageOfMessages(reply.usage ?? {}),
    ...servedTier(reply.usage?.service_tier),
  }
}

/** The usage of a reply that could not be translated. */
export const usageOf = (reply: unknown): Partial<Usage> | undefined =>
  isRecord(reply) && isRecord(reply.usage) ? usageOfMessages(reply.usage) : undefined

/** A block of a type that this provider may not know. Throws an Error for a block without one. */
export function expectBlock(block: ReplyBlock): ReplyBlock {
  if (typeof block.type !== 'string' || block.type === '') throw new Error('a block without a type')
  return block
}

const KNOWN: ReadonlySet<unknown> = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use'])

const isUnknown = ({ type }: ReplyBlock): boolean => !KNOWN.has(type)

/** The Error for a message that is empty without its unknown parts. */
export const nothingKnown = (): Error => new Error('The message has an answer of an unknown kind only.')

/** Why the model refused, in words; '' if it did not, or gives no reason (`RefusalStopDetails`). */
export function toExplanation(details: unknown): string {
  return isRecord(details) ? textOf(details.explanation) : ''
}

/** The texts of all blocks of one type, without separators. */
function joinTexts(blocks: readonly ReplyBlock[], type: 'text' | 'thinking'): string {
  return blocks.map((block) => (block.type === type ? expectText(block[type], type) : '')).join('')
}

/** The sources of the texts: each of a whole block. */
function toSources(blocks: readonly ReplyBlock[]): readonly UrlCitation[] {
  let end = 0
  return blocks.flatMap(({ type, text, citations }) => {
    if (type !== 'text') return []
    const start = end
    end += textOf(text).length
    return Array.isArray(citations) ? citations.flatMap((citation) => toSource(citation, start, end)) : []
  })
}

/** A source on the web. Others, such as documents of the client's, have no address. */
export function toSource(citation: unknown, start: number, end: number): readonly UrlCitation[] {
  return isRecord(citation) ? urlCitation(start, end, citation.url, citation.title) : []
}

function toToolCalls(blocks: readonly ReplyBlock[], model: string): ToolCall[] {
  const calls: ToolCall[] = []
  let thinking: Placed<ThinkingBlock>[] = []
  // Text after the first call stands before it in the message, and so before the thinking of later calls.
  let after = 0
  for (const block of blocks) {
    thinking.push(...placed(toThinkingBlock(block), [after]))
    if (block.type === 'text' && calls.length === 0) after += textOf(block.text).length
    if (block.type !== 'tool_use') continue
    const called = { name: expectName(block.name), arguments: expectArguments(block.input) }
    calls.push({ id: expectCallId(block.id), type: 'function', function: called, ...toThinkingState(model, thinking) })
    thinking = []
    after = 0
  }
  return calls
}

const FINISH_REASONS: ReadonlyMap<unknown, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  // A long search: Anthropic would go on with the rest in another call.
  ['pause_turn', 'length'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
] satisfies [string, FinishReason][])

/** Anthropic's `stop_reason` as OpenAI's `finish_reason`; an unknown reason is `length`. Throws an Error for what is not a text. */
export function toFinishReason(stopReason: unknown): FinishReason {
  return FINISH_REASONS.get(expectText(stopReason, 'stop_reason') || 'end_turn') ?? 'length'
}
