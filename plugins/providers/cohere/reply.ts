import {
  countOf,
  expectArguments,
  expectCallId,
  expectName,
  expectObject,
  expectObjects,
  expectText,
  type FinishReason,
  isCount,
  isRecord,
  type ToolCall,
  type TranslatedCompletion,
  type Usage,
} from 'unified-model-gateway/plugin'
import { toCitations } from './citations.ts'
import { type ThinkingState, toThinkingState } from './reasoning.ts'
import { expectFinished } from './refusal.ts'
import type { Reply, ReplyContent, ReplyMessage, ReplyToolCall, WireUsage } from './wire.ts'

/** Translates a whole reply to a completion. Throws `UpstreamError` for an unfinished reply, `Error` for any other body. */
export function toCompletion(body: unknown): TranslatedCompletion {
  const reply: Reply = isRecord(body) ? body : {}
  if (!isRecord(reply.message)) throw new Error('The reply is not one of the Chat API.')
  const { content, tool_calls, tool_plan, citations }: ReplyMessage = reply.message
  const parts: readonly ReplyContent[] = expectObjects(content, 'content')
  const text = parts.map((part) => expectText(part.text, 'a text')).join('')
  const thinking = parts.map((part) => expectText(part.thinking, 'a text of thinking')).join('')
  const plan = expectText(tool_plan, 'tool_plan')
  const calls = toToolCalls(tool_calls, toThinkingState(plan, thinking))
  if (text === '' && calls.length === 0 && parts.some((part) => (part.text ?? part.thinking) == null)) throw nothingKnown()
  return {
    ...(typeof reply.id === 'string' && { id: reply.id }),
    choices: [
      {
        message: {
          content: text === '' && calls.length > 0 ? null : text,
          ...(thinking + plan !== '' && { reasoning_content: thinking + plan }),
          ...(calls.length > 0 && { tool_calls: calls }),
          ...toCitations(Array.isArray(citations) ? citations.filter(isRecord) : []),
        },
        finish_reason: toFinishReason(reply.finish_reason),
      },
    ],
    usage: toUsage(reply.usage),
  }
}

/** The Error for a reply that is empty without its unknown parts. */
export const nothingKnown = (): Error => new Error('The reply has an answer of an unknown kind only.')

/** `state`: of the first call. */
function toToolCalls(calls: unknown, state: ThinkingState | undefined): ToolCall[] {
  const all: readonly ReplyToolCall[] = expectObjects(calls, 'tool_calls')
  return all.map(({ id, function: called }, index) => {
    const { name, arguments: json } = readFunction(called)
    return {
      id: expectCallId(id),
      type: 'function',
      function: { name, arguments: mayBeNull(json) ? '{}' : json },
      ...(index === 0 && state),
    }
  })
}

/** The function of a call, or of its start in a stream. */
export function readFunction(value: unknown): { readonly name: string; readonly arguments: string } {
  const { name, arguments: json, ...others } = expectObject(value, 'function') ?? {}
  if (json == null) expectArguments(json, others)
  return { name: expectName(name), arguments: expectText(json, 'arguments') }
}

/** Whether arguments are, or may become, `null`: for a tool without arguments Cohere writes it, or nothing. */
export function mayBeNull(json: string): boolean {
  return 'null'.startsWith(json.trim())
}

const FINISH_REASONS: ReadonlyMap<unknown, FinishReason> = new Map([
  ['COMPLETE', 'stop'],
  ['STOP_SEQUENCE', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['TOOL_CALL', 'tool_calls'],
] satisfies [string, FinishReason][])

/**
 * Cohere's `finish_reason` as OpenAI's; an unknown reason is `length`. `error`: Cohere's message about it. Throws `UpstreamError` for an
 * unfinished reply, `Error` for what is not a text.
 */
export function toFinishReason(reason: unknown, error?: unknown): FinishReason {
  expectFinished(reason, error)
  return FINISH_REASONS.get(expectText(reason, 'finish_reason') || 'COMPLETE') ?? 'length'
}

/** The tokens of the model (Cohere bills a part of them), or, if not reported, the billed ones. Undefined if no counts were reported. */
export function toUsage(usage: WireUsage | null | undefined): Partial<Usage> | undefined {
  const counts = usage?.tokens ?? usage?.billed_units
  if (counts?.input_tokens === undefined && counts?.output_tokens === undefined) return undefined
  const { input_tokens: input, output_tokens: output } = counts
  const [prompt, completion] = [countOf(input), countOf(output)]
  const { input_tokens: billedInput = prompt, output_tokens: billedOutput = completion } = usage?.billed_units ?? {}
  const ofPrompt = {
    ...(usage?.cached_tokens != null && { cached_tokens: countOf(usage.cached_tokens) }),
    ...unbilled(prompt - countOf(billedInput)),
  }
  const ofCompletion = unbilled(completion - countOf(billedOutput))
  return {
    ...(isCount(input) && { prompt_tokens: input }),
    ...(isCount(output) && { completion_tokens: output }),
    ...(isCount(input) && isCount(output) && { total_tokens: input + output }),
    ...(!isEmpty(ofPrompt) && { prompt_tokens_details: ofPrompt }),
    ...(!isEmpty(ofCompletion) && { completion_tokens_details: ofCompletion }),
  }
}

/** The usage of a reply, or of an event, that could not be translated. */
export function usageOf(reply: unknown): Partial<Usage> | undefined {
  const said = isRecord(reply) && isRecord(reply.delta) ? reply.delta : reply
  return isRecord(said) && isRecord(said.usage) ? toUsage(said.usage) : undefined
}

/** Cohere adds instructions and markers of its own, and does not bill them. */
const unbilled = (tokens: number): { readonly unbilled_tokens?: number } => (tokens > 0 ? { unbilled_tokens: tokens } : {})

const isEmpty = (details: object): boolean => Object.keys(details).length === 0
