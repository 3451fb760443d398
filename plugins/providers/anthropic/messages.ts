import { type ChatMessage, invalidValue, parseRecord, type ToolCall, unsupportedParameter } from 'unified-model-gateway/plugin'
import { keepLatestMarks } from './cache-marks.ts'
import { toBlocks, toText } from './content.ts'
import { fromFreight } from './thinking.ts'
import { ToolIds } from './tool-ids.ts'
import type { Block, Message, MessagesRequest, TextBlock, ToolUseBlock } from './wire.ts'

/** A conversation in Anthropic's shape: roles alternate, the results of a step's tools stand together before any text. */
export interface Conversation {
  readonly system?: NonNullable<MessagesRequest['system']>
  readonly messages: readonly Message[]
}

/** A conversation under way. */
interface Draft {
  readonly model: string
  readonly system: TextBlock[]
  readonly turns: { readonly role: Message['role']; readonly content: Block[] }[]
  readonly ids: ToolIds
}

type Speaker = (draft: Draft, message: ChatMessage, path: string) => void

const SPEAKERS: Readonly<Record<ChatMessage['role'], Speaker>> = {
  developer: addSystem,
  system: addSystem,
  user: addUser,
  assistant: addAssistant,
  tool: addToolResult,
  function: refuseFunction,
}

/**
 * OpenAI's messages as Anthropic's, for `model`. Throws `GatewayError` for what Claude cannot read, and where a tool call has no
 * result or a result no call.
 */
export function toConversation(messages: readonly ChatMessage[], model: string): Conversation {
  const draft: Draft = { model, system: [], turns: [], ids: new ToolIds() }
  for (const [index, message] of messages.entries()) SPEAKERS[message.role](draft, message, `messages[${index}]`)
  expectAnswers(draft, 'messages')
  trimLastWords(draft)
  const { system, turns } = draft
  keepLatestMarks([system, ...turns.map(({ content }) => content)])
  if (turns.length > 0) return { ...(system.length > 0 && { system: toSystem(system) }), messages: turns }
  // Anthropic needs a message; who sends instructions alone means them to be followed.
  if (system.length === 0) throw invalidValue('messages', 'every message is empty')
  return { messages: [{ role: 'user', content: system }] }
}

/** Of what nobody marked, one text. */
function toSystem(blocks: readonly TextBlock[]): NonNullable<Conversation['system']> {
  return blocks.some(({ cache_control }) => cache_control) ? blocks : blocks.map(({ text }) => text).join('\n')
}

function addSystem(draft: Draft, message: ChatMessage, path: string): void {
  for (const block of toBlocks(message.content, `${path}.content`)) {
    if (block.type !== 'text') throw unsupportedParameter(`${path}.content`, 'Claude takes instructions as text.')
    draft.system.push(block)
  }
}

function addUser(draft: Draft, message: ChatMessage, path: string): void {
  expectAnswers(draft, path)
  say(draft, 'user', toBlocks(message.content, `${path}.content`))
}

function addAssistant(draft: Draft, message: ChatMessage, path: string): void {
  expectAnswers(draft, path)
  if (message.function_call != null) throw unsupportedParameter(`${path}.function_call`, 'Use `tool_calls`.')
  if (message.audio != null) throw unsupportedParameter(`${path}.audio`, 'Send what was said as text.')
  const calls = message.tool_calls ?? []
  const steps = calls.map((call, index) => toToolUse(draft, call, `${path}.tool_calls[${index}]`))
  const thoughts = calls.map((call) => fromFreight(call, draft.model))
  say(draft, 'assistant', thoughts[0] ?? [])
  say(draft, 'assistant', [...toBlocks(message.content, `${path}.content`), ...toText(message.refusal)])
  for (const [index, step] of steps.entries()) say(draft, 'assistant', [...(index > 0 ? thoughts[index]! : []), step])
}

function toToolUse(draft: Draft, call: ToolCall, path: string): ToolUseBlock {
  if (call.type !== 'function') throw unsupportedParameter(path, 'Anthropic calls functions only.')
  const { name, arguments: text } = call.function
  // Arguments that a model garbled, or that were cut off, stay in the history as they are.
  const input = text.trim() === '' ? {} : (parseRecord(text) ?? { arguments: text })
  return { type: 'tool_use', id: draft.ids.call(call.id), name, input }
}

function addToolResult(draft: Draft, message: ChatMessage, path: string): void {
  const id = draft.ids.result(message.tool_call_id ?? '')
  if (id === undefined) throw invalidValue(`${path}.tool_call_id`, 'no tool call before it has this id and waits for a result')
  const blocks = toBlocks(message.content, `${path}.content`)
  const mark = blocks.find(({ cache_control }) => cache_control)?.cache_control
  // A mark within a result would not be counted among the four: it stands on the result.
  const content = blocks.map(({ cache_control: _, ...block }) => block)
  say(draft, 'user', [
    { type: 'tool_result', tool_use_id: id, ...(content.length > 0 && { content }), ...(mark && { cache_control: mark }) },
  ])
}

function refuseFunction(_: Draft, __: ChatMessage, path: string): void {
  throw unsupportedParameter(`${path}.role`, 'Use `tool_calls` and the role `tool`.')
}

function expectAnswers({ ids }: Draft, path: string): void {
  if (ids.unanswered === undefined) return
  throw invalidValue(path, `the tool call '${ids.unanswered}' before it has no message with role 'tool' that gives its result`)
}

function say({ turns }: Draft, role: Message['role'], blocks: readonly Block[]): void {
  if (blocks.length === 0) return
  if (turns.at(-1)?.role !== role) turns.push({ role, content: [] })
  for (const block of blocks) turns.at(-1)!.content.push(block)
}

/** Anthropic goes on from a last assistant message, and answers 400 where it ends in white space. */
function trimLastWords({ turns }: Draft): void {
  const turn = turns.at(-1)
  const last = turn?.content.at(-1)
  if (turn?.role !== 'assistant' || last?.type !== 'text') return
  turn.content.splice(-1, 1, { ...last, text: last.text.trimEnd() })
}
