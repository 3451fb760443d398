import { randomUUID } from 'node:crypto'
import type { ChatCompletion, FinishReason, ToolCall } from '../../sdk/api.ts'
import { parseRecord, textOf } from '../../sdk/json.ts'
import type { RepliedCall } from '../client-protocol.ts'
import { CallIds, functionCallOf, picturesOf, readReasoning } from '../reply-sequence.ts'
import { ReplyState, type UpstreamState, writeState } from '../state.ts'
import type { ClientNames } from '../tool-names.ts'
import { estimatedUsage } from '../usage.ts'
import { toolNamesOf } from './tools.ts'
import { toWholeUsage } from './usage.ts'
import type { Message, ReplyBlock, StopReason } from './wire.ts'

/** A completion as a message. Reasoning comes first, text before tool calls. */
export function toMessage(completion: ChatCompletion, call: RepliedCall): Message {
  const { model, promptEstimate, owner } = call
  const [choice] = completion.choices
  const message: Partial<ChatCompletion['choices'][number]['message']> = choice?.message ?? {}
  const { extra_content: extra }: Readonly<Record<string, unknown>> = message
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : oldCalls(message)
  const pictures = picturesOf(message).map(() => PICTURE)
  const texts = [message.content, message.refusal]
    .map(textOf)
    .filter((text) => text !== '')
    .concat(pictures)
  const state = new ReplyState(owner)
  state.read({ ...message, tool_calls: calls.map((one, index) => ({ ...one, index })) } as Parameters<ReplyState['read']>[0])
  const names = toolNamesOf(call)
  const ids = new CallIds(call)
  const content = [
    ...toThinking(message, state),
    ...texts.map(textBlock),
    ...calls.flatMap((one, index) => [...stateBlocks(state.before(index)), toToolUse(one, names, ids)]),
    ...[...state.rest()].flatMap(stateBlocks),
  ]
  const usage = completion.usage ?? estimatedUsage(promptEstimate, JSON.stringify(content).length)
  return {
    ...emptyMessage(completion.id, model),
    ...(extra !== undefined && { extra_content: extra }),
    content,
    ...toStop(choice, textOf(message.refusal) !== '', call),
    usage: toWholeUsage(usage),
  }
}

/** What stands for a picture: a message of the Messages API has no block for one (`ContentBlock` of @anthropic-ai/sdk, read 2026-11-26). */
export const PICTURE =
  '[The model made a picture, which the Messages API cannot carry. Ask for it at /v1/chat/completions or /v1/responses.]'

function oldCalls(message: Readonly<Record<string, unknown>>): readonly ToolCall[] {
  const { function: called } = functionCallOf(message) ?? {}
  return called === undefined
    ? []
    : [{ id: '', type: 'function', function: { name: textOf(called.name), arguments: called.arguments ?? '' } }]
}

/** A message before its content. `id`: of the completion. */
export function emptyMessage(id: string, model: string): Message {
  return {
    id: toMessageId(id),
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: toWholeUsage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }),
  }
}

const toMessageId = (id: unknown): string => {
  const own = textOf(id) || randomUUID()
  return own.startsWith('msg_') ? own : `msg_${own.replace(/^chatcmpl-/, '')}`
}

/**
 * The id of a tool call, as the Messages API allows them (`^[a-zA-Z0-9_-]+$`): Anthropic would refuse the client's next turn with another one, such
 * as Kimi's `functions.look:0`. A call without an id of its own gets one.
 */
export const toToolId = (id: unknown, ids: CallIds): string =>
  ids.take(textOf(id).replace(/[^a-zA-Z0-9_-]/g, '_')) ?? `toolu_${randomUUID().replaceAll('-', '')}`

/** A block of text, without `citations`, as Anthropic's own: @ai-sdk/anthropic 3 refuses null there. */
export const textBlock = (text: string): ReplyBlock => ({ type: 'text', text })

/** A block of a tool call without its input. */
export const toolBlock = (id: string, name: string, input: unknown = {}): ReplyBlock => ({
  type: 'tool_use',
  id,
  name,
  input,
  caller: { type: 'direct' },
})

/** The block of reasoning, with the state of the first tool call. */
function toThinking(message: Readonly<Record<string, unknown>>, state: ReplyState): ReplyBlock[] {
  const reasoning = readReasoning(message)
  if (reasoning === undefined) return []
  const signature = writeState({ ...state.before(0), ...state.ofThoughts(reasoning.field) })
  return [{ type: 'thinking', thinking: reasoning.text, signature }]
}

/** A block with a state alone; none without a state. */
export const stateBlocks = (state: UpstreamState | undefined): ReplyBlock[] =>
  state === undefined ? [] : [{ type: 'redacted_thinking', data: writeState(state) }]

function toToolUse({ id, function: called }: ToolCall, names: ClientNames, ids: CallIds): ReplyBlock {
  const { name, arguments: text } = called ?? { name: '', arguments: '' }
  return toolBlock(toToolId(id, ids), names.of(textOf(name)), toInput(textOf(text)))
}

/** Arguments that are no JSON object, such as those that were cut, are kept as text. */
const toInput = (text: string): unknown => (text.trim() === '' ? {} : (parseRecord(text) ?? { arguments: text }))

const STOP_REASONS: Readonly<Record<FinishReason, StopReason>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
}

/** The end of a choice. `stop_reason`: the sequence that has ended it, as vLLM and some providers of the gateway say it; chat completions do not. */
export interface ChoiceEnd {
  readonly finish_reason?: FinishReason | null
  readonly stop_reason?: unknown
}

/** Why a message ended. `refused`: the model refused in words. */
export function toStop(
  { finish_reason: reason, stop_reason: sequence }: ChoiceEnd = {},
  refused: boolean,
  call: RepliedCall,
): Pick<Message, 'stop_sequence'> & { readonly stop_reason: StopReason } {
  const asked = reason === 'stop' && typeof sequence === 'string' ? call.member('stop_sequences') : undefined
  if (!refused && Array.isArray(asked) && asked.includes(sequence))
    return { stop_reason: 'stop_sequence', stop_sequence: sequence as string }
  return { stop_reason: refused ? 'refusal' : (STOP_REASONS[reason ?? 'stop'] ?? 'end_turn'), stop_sequence: null }
}
