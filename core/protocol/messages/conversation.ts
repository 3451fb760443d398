import type { ChatMessage, ContentPart, FunctionToolCall } from '../../sdk/api.ts'
import { textOf } from '../../sdk/json.ts'
import { AssistantTurn } from '../assistant-turn.ts'
import { plainest } from '../fit-chat.ts'
import type { Notes } from '../notes.ts'
import { readState } from '../state.ts'
import { fittedName } from '../tool-names.ts'
import { toToolResult } from '../tool-result.ts'
import { blocksOf, toParts } from './content.ts'
import type { Block, MessageParam } from './wire.ts'

/** The instructions and the turns of a request as messages of a chat completion. */
export function toChatMessages(system: unknown, turns: readonly MessageParam[], notes: Notes): ChatMessage[] {
  const instructions = toInstructions(system ?? [], 'system', notes)
  const first: ChatMessage[] = instructions.length > 0 ? [{ role: 'system', content: plainest(instructions) }] : []
  return turns.reduce((messages, turn, index) => {
    messages.push(...toMessages(turn, `messages[${index}].content`, notes))
    return messages
  }, first)
}

function toMessages({ role, content }: MessageParam, path: string, notes: Notes): ChatMessage[] {
  if (role === 'assistant') return [toAssistant(content, path, notes)]
  if (role === 'system') return [{ role, content: plainest(toInstructions(content, path, notes)) }]
  return toUser(content, path, notes)
}

/**
 * A line of Claude Code for Anthropic's accounting, before all that it asks. It differs from call to call, so that no other upstream would find
 * the prompt in its cache.
 */
const BILLING = /^x-anthropic-billing-header:[^\n]*\n?/

/** The parts of instructions, without the line for Anthropic. */
function toInstructions(content: unknown, path: string, notes: Notes): ContentPart[] {
  return toParts(content, path, notes).flatMap((part) => {
    if (part.type !== 'text' || !BILLING.test(part.text)) return [part]
    notes.drop('x-anthropic-billing-header')
    const text = part.text.replace(BILLING, '')
    return text.trim() === '' ? [] : [{ ...part, text }]
  })
}

/** The results of tools come first, each as a message of its own. Their images and files follow in the user's message. */
function toUser(content: MessageParam['content'], path: string, notes: Notes): ChatMessage[] {
  const results: ChatMessage[] = []
  const files: ContentPart[] = []
  const rest: Block[] = []
  for (const [index, block] of blocksOf(content).entries()) {
    if (block.type !== 'tool_result') rest.push(block)
    else {
      const result = toResult(block, `${path}[${index}].content`, notes)
      results.push(result.message)
      files.push(...result.files)
    }
  }
  const parts = [...files, ...toParts(typeof content === 'string' ? content : rest, path, notes)]
  return parts.length === 0 && results.length > 0 ? results : [...results, { role: 'user', content: plainest(parts) }]
}

function toResult(block: Block, path: string, notes: Notes): { readonly message: ChatMessage; readonly files: ContentPart[] } {
  const id = textOf(block.tool_use_id)
  const { texts, files } = toToolResult(id, toParts(block.content ?? [], path, notes))
  const failed: ContentPart[] = block.is_error === true ? [{ type: 'text', text: 'The tool failed:' }] : []
  const parts: ContentPart[] = [...failed, ...texts]
  const mark = notes.marksOf(block)
  const last = parts.pop() ?? { type: 'text', text: '' }
  const content = plainest([...parts, 'cache_control' in mark ? { ...last, ...mark } : last])
  return { message: { role: 'tool', tool_call_id: id, content }, files }
}

function toAssistant(content: MessageParam['content'], path: string, notes: Notes): ChatMessage {
  const turn = new AssistantTurn()
  let signed: Signed[] = []
  for (const [index, block] of blocksOf(content).entries()) {
    if (block.type === 'thinking' || block.type === 'redacted_thinking') {
      const state = readState(block.type === 'thinking' ? block.signature : block.data)
      if (state === undefined) signed.push({ block: withoutMark(block), after: turn.length })
      else turn.recall(state, textOf(block.thinking))
    } else if (block.type === 'tool_use') {
      turn.call(toCall(block, signed, notes))
      signed = []
    } else turn.say(toParts([block], `${path}[${index}]`, notes))
  }
  return turn.message
}

const withoutMark = ({ cache_control: _, ...block }: Block): Block => block as Block

/** Anthropic's own thinking, and the characters of text before it. */
interface Signed {
  readonly block: Block
  readonly after: number
}

/** `signed`: the thinking before the call. */
function toCall(block: Block, signed: readonly Signed[], notes: Notes): FunctionToolCall {
  return {
    id: textOf(block.id),
    type: 'function',
    function: { name: fittedName(textOf(block.name)), arguments: JSON.stringify(block.input ?? {}) },
    ...(signed.length > 0 && { extra_content: { anthropic: toState(signed) } }),
    ...notes.marksOf(block),
  }
}

/** As the provider `anthropic` writes it. */
const toState = (signed: readonly Signed[]) => ({
  thinking: signed.map(({ block }) => block),
  ...(signed.some(({ after }) => after > 0) && { after: signed.map(({ after }) => after) }),
})
