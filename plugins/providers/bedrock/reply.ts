import {
  expectArguments,
  expectCallId,
  expectName,
  expectObject,
  expectObjects,
  expectText,
  type FinishReason,
  isRecord,
  servedTier,
  type ToolCall,
  type TranslatedCompletion,
  UpstreamError,
  type Usage,
  usageOfMessages,
} from 'unified-model-gateway/plugin'
import { type Placed, placed } from '../anthropic/reasoning.ts'
import { toReasoningBlock, toThinkingState } from './reasoning.ts'
import type { ConverseReply, ReasoningBlock, ReplyBlock, WireUsage } from './wire.ts'

/** Translates a whole reply of `model` to a completion. Throws `UpstreamError` if the model failed, `Error` for any other body. */
export function toCompletion(body: unknown, model: string): TranslatedCompletion {
  const reply: ConverseReply = isRecord(body) ? body : {}
  const content = reply.output?.message?.content
  if (!Array.isArray(content)) throw new Error('The reply is not one of Converse.')
  const blocks: readonly ReplyBlock[] = expectObjects(content, 'content')
  const calls = toToolCalls(blocks, model)
  const text = blocks.map(blockText).join('')
  const reasoning = blocks
    .map(({ reasoningContent }) => expectText(reasoningContent?.reasoningText?.text, 'a text of reasoning'))
    .join('')
  if (text === '' && calls.length === 0 && blocks.some(isUnknown)) throw nothingKnown()
  return {
    choices: [
      {
        message: {
          content: text === '' && calls.length > 0 ? null : text,
          ...(reasoning && { reasoning_content: reasoning }),
          ...(calls.length > 0 && { tool_calls: calls }),
        },
        finish_reason: toFinishReason(reply.stopReason, calls.length > 0),
      },
    ],
    usage: toUsage(reply.usage),
    ...servedTier(reply.serviceTier?.type),
  }
}

const isUnknown = ({ text, citationsContent, toolUse, reasoningContent }: ReplyBlock): boolean =>
  (text ?? citationsContent ?? toolUse ?? reasoningContent) == null

/** The Error for a reply that is empty without its unknown parts. */
export const nothingKnown = (): Error => new Error('The reply has an answer of an unknown kind only.')

/** The text of a block, with or without citations. */
function blockText({ text, citationsContent }: ReplyBlock): string {
  const cited = expectObjects(citationsContent?.content, 'citationsContent').map((piece) =>
    expectText(piece.text, 'a cited text'),
  )
  return cited.join('') + expectText(text, 'a text')
}

function toToolCalls(blocks: readonly ReplyBlock[], model: string): ToolCall[] {
  const calls: ToolCall[] = []
  let reasoning: Placed<ReasoningBlock>[] = []
  // Text after the first call stands before it in the message, and so before the reasoning of later calls.
  let after = 0
  for (const block of blocks) {
    const { reasoningContent, toolUse } = block
    expectObject(toolUse, 'toolUse')
    if (isRecord(reasoningContent)) reasoning.push(...placed(toReasoningBlock(reasoningContent), [after]))
    if (calls.length === 0) after += blockText(block).length
    // Not a call for the client: Bedrock runs such tools itself.
    if (!isRecord(toolUse) || toolUse.type === 'server_tool_use') continue
    const { toolUseId, type: _, name, input, ...others } = toolUse
    const called = { name: expectName(name), arguments: expectArguments(input, others) }
    calls.push({ id: expectCallId(toolUseId), type: 'function', function: called, ...toThinkingState(model, reasoning) })
    reasoning = []
    after = 0
  }
  return calls
}

const FINISH_REASONS: ReadonlyMap<unknown, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['guardrail_intervened', 'content_filter'],
  ['content_filtered', 'content_filter'],
] satisfies [string, FinishReason][])

/** The model's output was malformed: there is no reply to translate. */
const FAILED: ReadonlySet<unknown> = new Set(['malformed_model_output', 'malformed_tool_use'])

/**
 * Bedrock's `stopReason` as OpenAI's `finish_reason`; an unknown reason is `length`. `called`: whether the reply calls tools, for which some
 * models give another reason. Throws `UpstreamError` if the model failed, `Error` for what is not a text.
 */
export function toFinishReason(stopReason: unknown, called: boolean): FinishReason {
  if (FAILED.has(stopReason)) throw new UpstreamError({ status: 502, message: `The model stopped with ${stopReason}.` })
  const reason = FINISH_REASONS.get(expectText(stopReason, 'stopReason') || 'end_turn') ?? 'length'
  return reason === 'stop' && called ? 'tool_calls' : reason
}

/** The usage of a reply that could not be translated. */
export const usageOf = (reply: unknown): Partial<Usage> | undefined =>
  isRecord(reply) && isRecord(reply.usage) ? toUsage(reply.usage) : undefined

/** Bedrock's `inputTokens` exclude cached tokens; OpenAI's `prompt_tokens` include them. Undefined if no counts were reported. */
export function toUsage(usage: WireUsage | null | undefined): Partial<Usage> | undefined {
  if (usage == null) return undefined
  return usageOfMessages({
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_input_tokens: usage.cacheReadInputTokens,
    cache_creation_input_tokens: usage.cacheWriteInputTokens,
    cache_creation: { ephemeral_1h_input_tokens: usage.cacheDetails?.find(({ ttl }) => ttl === '1h')?.inputTokens },
  })
}
