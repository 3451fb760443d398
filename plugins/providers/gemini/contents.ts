import { type ChatMessage, invalidValue, parseRecord, type ToolCall, unsupportedParameter } from 'unified-model-gateway/plugin'
import type { ModelFacts } from './models.ts'
import { toParts, toText } from './parts.ts'
import { signaturesOf } from './signatures.ts'
import { ToolStep } from './tool-step.ts'
import type { Content, FunctionCall, Part } from './wire.ts'

/** A conversation in Google's shape. */
export interface Conversation {
  readonly systemInstruction?: Content
  readonly contents: readonly Content[]
}

/** What of the target bears on a conversation. */
export interface Reader {
  readonly facts: ModelFacts
  /** Whether the wire knows ids of function calls: the Gemini API does, Vertex AI does not. */
  readonly callIds: boolean
}

/** A conversation under way. */
interface Draft {
  readonly reader: Reader
  readonly system: string[]
  readonly turns: { readonly role: 'user' | 'model'; readonly parts: Part[] }[]
  /** The function calls whose results are not all there yet. */
  step?: ToolStep
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
 * OpenAI's messages as Google's contents. Throws `GatewayError` for what Gemini cannot read, and where a tool call has no result or a
 * result no call.
 */
export function toConversation(messages: readonly ChatMessage[], reader: Reader): Conversation {
  const draft: Draft = { reader, system: [], turns: [] }
  for (const [index, message] of messages.entries()) SPEAKERS[message.role](draft, message, `messages[${index}]`)
  expectAnswers(draft, 'messages')
  const system = draft.system.join('\n')
  if (draft.turns.length > 0) {
    return { ...(system && { systemInstruction: { parts: toText(system) } }), contents: draft.turns }
  }
  // Google needs a turn; who sends instructions alone means them to be followed.
  if (system === '') throw invalidValue('messages', 'every message is empty')
  return { contents: [{ role: 'user', parts: toText(system) }] }
}

function addSystem(draft: Draft, message: ChatMessage, path: string): void {
  for (const part of toParts(message.content, `${path}.content`)) {
    if (!('text' in part)) throw unsupportedParameter(`${path}.content`, 'Gemini takes instructions as text.')
    draft.system.push(part.text)
  }
}

function addUser(draft: Draft, message: ChatMessage, path: string): void {
  expectAnswers(draft, path)
  say(draft, 'user', toParts(message.content, `${path}.content`))
}

function addAssistant(draft: Draft, message: ChatMessage, path: string): void {
  expectAnswers(draft, path)
  if (message.function_call != null) throw unsupportedParameter(`${path}.function_call`, 'Use `tool_calls`.')
  if (message.audio != null) throw unsupportedParameter(`${path}.audio`, 'Send what was said as text.')
  say(draft, 'model', [...toParts(message.content, `${path}.content`), ...toText(message.refusal)])
  const calls = message.tool_calls ?? []
  if (calls.length === 0) return
  const step = calls.map((call, index) => ({ clientId: call.id, call: toCall(draft, call, `${path}.tool_calls[${index}]`) }))
  const signatures = signaturesOf(calls, draft.reader.facts)
  const parts = step.map(({ call: functionCall }, index): Part => {
    const thoughtSignature = signatures[index]
    return { functionCall, ...(thoughtSignature !== undefined && { thoughtSignature }) }
  })
  say(draft, 'model', parts)
  draft.step = new ToolStep(step)
}

function toCall({ reader }: Draft, call: ToolCall, path: string): FunctionCall {
  if (call.type !== 'function') throw unsupportedParameter(path, 'Gemini calls functions only.')
  const { name, arguments: text } = call.function
  // Arguments that a model garbled, or that were cut off, stay in the history as they are.
  const args = text.trim() === '' ? {} : (parseRecord(text) ?? { arguments: text })
  return { ...(reader.callIds && call.id !== '' && { id: call.id }), name, args }
}

function addToolResult(draft: Draft, message: ChatMessage, path: string): void {
  const texts = toParts(message.content, `${path}.content`).map((part) => {
    if (!('text' in part)) throw unsupportedParameter(`${path}.content`, 'Gemini takes the results of tools as text.')
    return part.text
  })
  if (!draft.step?.answer(message.tool_call_id ?? '', texts.join(''))) {
    throw invalidValue(`${path}.tool_call_id`, 'no tool call before it has this id and waits for a result')
  }
  if (draft.step.unanswered !== undefined) return
  draft.turns.push({ role: 'user', parts: [...draft.step.turn().parts] })
  delete draft.step
}

function refuseFunction(_: Draft, __: ChatMessage, path: string): void {
  throw unsupportedParameter(`${path}.role`, 'Use `tool_calls` and the role `tool`.')
}

function expectAnswers({ step }: Draft, path: string): void {
  if (step?.unanswered === undefined) return
  throw invalidValue(path, `the tool call '${step.unanswered}' before it has no message with role 'tool' that gives its result`)
}

/** Adds to the turn, or begins one: the results of functions stand in a turn of their own. */
function say({ turns }: Draft, role: 'user' | 'model', parts: readonly Part[]): void {
  if (parts.length === 0) return
  const turn = turns.at(-1)
  const isOpen = turn?.role === role && !turn.parts.some((part) => 'functionResponse' in part)
  if (isOpen) turn.parts.push(...parts)
  else turns.push({ role, parts: [...parts] })
}
