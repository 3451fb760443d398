import type { ChatMessage, ContentPart, FunctionToolCall } from '../../sdk/api.ts'
import { textOf } from '../../sdk/json.ts'
import { plainest } from '../fit-chat.ts'
import { blocksOf, toParts } from './content.ts'
import type { Notes } from './notes.ts'
import { type ReasoningField, readState } from './state.ts'
import type { Block, MessageParam } from './wire.ts'

/** The instructions and the turns of a request as messages of a chat completion. */
export function toChatMessages(system: unknown, turns: readonly MessageParam[], notes: Notes): ChatMessage[] {
  const instructions = toParts(system ?? [], 'system', notes)
  const first: ChatMessage[] = instructions.length > 0 ? [{ role: 'system', content: plainest(instructions) }] : []
  return turns.reduce((messages, turn, index) => {
    messages.push(...toMessages(turn, `messages[${index}].content`, notes))
    return messages
  }, first)
}

function toMessages({ role, content }: MessageParam, path: string, notes: Notes): ChatMessage[] {
  if (role === 'assistant') return [toAssistant(content, path, notes)]
  if (role === 'system') return [{ role, content: plainest(toParts(content, path, notes)) }]
  return toUser(content, path, notes)
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

/** Most upstreams take only text as a tool's result. */
function toResult(block: Block, path: string, notes: Notes): { readonly message: ChatMessage; readonly files: ContentPart[] } {
  const id = textOf(block.tool_use_id)
  const all = toParts(block.content ?? [], path, notes)
  const texts = all.filter(({ type }) => type === 'text')
  const files = all.filter(({ type }) => type !== 'text')
  const failed: ContentPart[] = block.is_error === true ? [{ type: 'text', text: 'The tool failed:' }] : []
  const note: ContentPart[] = files.length > 0 ? [{ type: 'text', text: `The result of the tool call ${id} continues:` }] : []
  const parts: ContentPart[] = [...failed, ...texts]
  const mark = notes.marksOf(block)
  const last = parts.pop() ?? { type: 'text', text: '' }
  const content = plainest([...parts, 'cache_control' in mark ? { ...last, ...mark } : last])
  return { message: { role: 'tool', tool_call_id: id, content }, files: [...note, ...files] }
}

/** What is collected of an assistant's turn. */
interface Thinking {
  /** Anthropic's own blocks. */
  signed: Block[]
  /** The state of the next tool call. */
  extra: Readonly<Record<string, unknown>> | undefined
  field: ReasoningField | undefined
  text: string
}

function toAssistant(content: MessageParam['content'], path: string, notes: Notes): ChatMessage {
  const thinking: Thinking = { signed: [], extra: undefined, field: undefined, text: '' }
  const calls: FunctionToolCall[] = []
  const rest: ContentPart[] = []
  for (const [index, block] of blocksOf(content).entries()) {
    if (block.type === 'thinking' || block.type === 'redacted_thinking') collect(block, thinking)
    else if (block.type === 'tool_use') calls.push(toCall(block, thinking, notes))
    else rest.push(...toParts([block], `${path}[${index}]`, notes))
  }
  const spoken = plainest(rest)
  return {
    role: 'assistant',
    content: spoken === '' && calls.length > 0 ? null : spoken,
    ...(calls.length > 0 && { tool_calls: calls }),
    // Upstreams that want it back want it with the calls that it led to.
    ...(calls.length > 0 && thinking.field && { [thinking.field]: thinking.text }),
  }
}

function collect(block: Block, thinking: Thinking): void {
  const state = readState(block.type === 'thinking' ? block.signature : block.data)
  if (state === undefined) {
    const { cache_control: _, ...signed } = block
    thinking.signed.push(signed as Block)
    return
  }
  thinking.extra = state.extra ?? thinking.extra
  if (state.field === undefined) return
  thinking.field = state.field
  thinking.text += textOf(block.thinking)
}

function toCall(block: Block, thinking: Thinking, notes: Notes): FunctionToolCall {
  const { signed, extra } = thinking
  thinking.signed = []
  thinking.extra = undefined
  const own = signed.length > 0 ? { anthropic: { thinking: signed } } : undefined
  return {
    id: textOf(block.id),
    type: 'function',
    function: { name: textOf(block.name), arguments: JSON.stringify(block.input ?? {}) },
    ...((extra || own) && { extra_content: { ...own, ...extra } }),
    ...notes.marksOf(block),
  }
}
