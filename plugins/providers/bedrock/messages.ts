import { type ChatMessage, invalidValue, parseRecord, type ToolCall, unsupportedParameter } from 'unified-model-gateway/plugin'
import { ToolIds } from 'unified-model-gateway/providers/anthropic'
import { keepLatestCachePoints } from './cache-points.ts'
import { type Reading, toBlocks, toText } from './content.ts'
import { DocumentNames } from './document-names.ts'
import type { ModelFacts } from './models.ts'
import { fromFreight } from './thought.ts'
import { BEDROCK_IDS, MISTRAL_IDS } from './tool-ids.ts'
import type { Block, Message, ResultContent, SystemBlock, ToolUseBlock } from './wire.ts'

/** A conversation in Converse's shape: roles alternate from the user's on, a step's tool results stand before any words. */
export interface Conversation {
  readonly system: readonly SystemBlock[]
  readonly messages: readonly Message[]
}

/** A conversation under way. */
interface Draft extends Reading {
  readonly model: string
  readonly system: SystemBlock[]
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

/** Stands for the user where the assistant speaks first, which Bedrock does not take. */
const SILENCE = '…'

/**
 * OpenAI's messages as Converse's, for `model`. Throws `GatewayError` for what Converse does not take, and where a tool call has no
 * result or a result no call.
 */
export function toConversation(messages: readonly ChatMessage[], model: string, facts: ModelFacts): Conversation {
  const ids = new ToolIds(facts.shortToolIds ? MISTRAL_IDS : BEDROCK_IDS)
  const draft: Draft = { model, system: [], turns: [], ids, names: new DocumentNames(), caching: facts.caching }
  for (const [index, message] of messages.entries()) SPEAKERS[message.role](draft, message, `messages[${index}]`)
  expectAnswers(draft, 'messages')
  trimLastWords(draft)
  const { system, turns } = draft
  keepLatestCachePoints([system, ...turns.map(({ content }) => content)])
  if (turns[0]?.role === 'assistant') turns.unshift({ role: 'user', content: toText(SILENCE) })
  if (turns.length > 0) return { system, messages: turns }
  // Bedrock needs a message; who sends instructions alone means them to be followed.
  if (system.length === 0) throw invalidValue('messages', 'every message is empty')
  return { system: [], messages: [{ role: 'user', content: system }] }
}

function addSystem(draft: Draft, message: ChatMessage, path: string): void {
  for (const block of toBlocks(message.content, `${path}.content`, draft)) {
    if (!('text' in block || 'cachePoint' in block))
      throw unsupportedParameter(`${path}.content`, 'Bedrock takes instructions as text.')
    draft.system.push(block)
  }
}

function addUser(draft: Draft, message: ChatMessage, path: string): void {
  expectAnswers(draft, path)
  say(draft, 'user', toBlocks(message.content, `${path}.content`, draft))
}

function addAssistant(draft: Draft, message: ChatMessage, path: string): void {
  expectAnswers(draft, path)
  if (message.function_call != null) throw unsupportedParameter(`${path}.function_call`, 'Use `tool_calls`.')
  if (message.audio != null) throw unsupportedParameter(`${path}.audio`, 'Send what was said as text.')
  const words = [...toBlocks(message.content, `${path}.content`, draft), ...toText(message.refusal)]
  const steps = (message.tool_calls ?? []).map((call, index) => ({
    thoughts: fromFreight(call, draft.model),
    call: toToolUse(draft, call, `${path}.tool_calls[${index}]`),
  }))
  const [first, ...others] = steps
  say(draft, 'assistant', [...(first?.thoughts ?? []), ...words, ...(first ? [first.call] : [])])
  for (const { thoughts, call } of others) say(draft, 'assistant', [...thoughts, call])
}

function toToolUse(draft: Draft, call: ToolCall, path: string): ToolUseBlock {
  if (call.type !== 'function') throw unsupportedParameter(path, 'Bedrock calls functions only.')
  const { name, arguments: text } = call.function
  // Arguments that a model garbled, or that were cut off, stay in the history as they are.
  const input = text.trim() === '' ? {} : (parseRecord(text) ?? { arguments: text })
  return { toolUse: { toolUseId: draft.ids.call(call.id), name, input } }
}

function addToolResult(draft: Draft, message: ChatMessage, path: string): void {
  const toolUseId = draft.ids.result(message.tool_call_id ?? '')
  if (toolUseId === undefined)
    throw invalidValue(`${path}.tool_call_id`, 'no tool call before it has this id and waits for a result')
  const blocks = toBlocks(message.content, `${path}.content`, draft)
  const cachePoint = blocks.find((block) => 'cachePoint' in block)
  const content = blocks.filter((block) => !('cachePoint' in block)).map((block) => toResultContent(block, `${path}.content`))
  // A result must have something in it, and blank words are refused.
  const toolResult = { toolUseId, content: content.length > 0 ? content : [{ json: {} }] }
  say(draft, 'user', [{ toolResult }, ...(cachePoint ? [cachePoint] : [])])
}

function toResultContent(block: Block, path: string): ResultContent {
  if ('text' in block || 'image' in block || 'document' in block) return block
  throw unsupportedParameter(path, 'Tools answer with text, images and files.')
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

/** Models go on from a last assistant message, and answer 400 where it ends in white space. */
function trimLastWords({ turns }: Draft): void {
  const turn = turns.at(-1)
  const last = turn?.content.at(-1)
  if (turn?.role === 'assistant' && last && 'text' in last) turn.content.splice(-1, 1, ...toText(last.text.trimEnd()))
}
