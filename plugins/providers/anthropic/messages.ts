import {
  argumentsOf,
  type ChatMessage,
  type ConversationVisitor,
  type FunctionToolCall,
  type IdRule,
  invalidValue,
  ToolIds,
  unsupportedParameter,
  walkConversation,
} from 'unified-model-gateway/plugin'
import { keepLatestMarks } from './cache-marks.ts'
import { toBlocks, toText } from './content.ts'
import { fromFreight } from './thinking.ts'
import type { Block, Message, MessagesRequest, TextBlock, ToolUseBlock } from './wire.ts'

/** A conversation in Anthropic's shape: roles alternate, the results of a step's tools stand together before any text. */
export interface Conversation {
  readonly system?: NonNullable<MessagesRequest['system']>
  readonly messages: readonly Message[]
}

/** Anthropic takes `^[a-zA-Z0-9_-]+$`. */
const IDS: IdRule = {
  fit: (id) => id.replace(/[^a-zA-Z0-9_-]/g, '_') || 'call',
  copy: (fitted, number) => `${fitted}_${number}`,
}

/**
 * OpenAI's messages as Anthropic's, for `model`. Throws `GatewayError` for what Claude cannot read, and where a tool call has no
 * result or a result no call.
 */
export function toConversation(messages: readonly ChatMessage[], model: string): Conversation {
  const draft = new Draft(model)
  walkConversation(messages, draft)
  return draft.finish()
}

class Draft implements ConversationVisitor<ToolUseBlock> {
  readonly #model: string
  readonly #system: TextBlock[] = []
  readonly #turns: { readonly role: Message['role']; readonly content: Block[] }[] = []
  readonly #ids = new ToolIds(IDS)

  constructor(model: string) {
    this.#model = model
  }

  system(message: ChatMessage, path: string): void {
    for (const block of toBlocks(message.content, `${path}.content`)) {
      if (block.type !== 'text') throw unsupportedParameter(`${path}.content`, 'Claude takes instructions as text.')
      this.#system.push(block)
    }
  }

  user(message: ChatMessage, path: string): void {
    this.#say('user', toBlocks(message.content, `${path}.content`))
  }

  assistant(message: ChatMessage, path: string, calls: readonly FunctionToolCall[]): readonly ToolUseBlock[] {
    const steps = calls.map((call) => this.#toToolUse(call))
    const thoughts = calls.map((call) => fromFreight(call, this.#model))
    this.#say('assistant', thoughts[0] ?? [])
    this.#say('assistant', [...toBlocks(message.content, `${path}.content`), ...toText(message.refusal)])
    for (const [index, step] of steps.entries()) this.#say('assistant', [...(index > 0 ? thoughts[index]! : []), step])
    return steps
  }

  tool(message: ChatMessage, path: string, call: ToolUseBlock): void {
    const blocks = toBlocks(message.content, `${path}.content`)
    const mark = blocks.find(({ cache_control }) => cache_control)?.cache_control
    // A mark within a result would not be counted among the four: it stands on the result.
    const content = blocks.map(({ cache_control: _, ...block }) => block)
    this.#say('user', [
      { type: 'tool_result', tool_use_id: call.id, ...(content.length > 0 && { content }), ...(mark && { cache_control: mark }) },
    ])
  }

  finish(): Conversation {
    const [system, turns] = [this.#system, this.#turns]
    this.#trimLastWords()
    keepLatestMarks([system, ...turns.map(({ content }) => content)])
    if (turns.length > 0) return { ...(system.length > 0 && { system: toSystem(system) }), messages: turns }
    // Anthropic needs a message; who sends instructions alone means them to be followed.
    if (system.length === 0) throw invalidValue('messages', 'every message is empty')
    return { messages: [{ role: 'user', content: system }] }
  }

  #toToolUse(call: FunctionToolCall): ToolUseBlock {
    return { type: 'tool_use', id: this.#ids.take(call.id), name: call.function.name, input: argumentsOf(call) }
  }

  #say(role: Message['role'], blocks: readonly Block[]): void {
    if (blocks.length === 0) return
    if (this.#turns.at(-1)?.role !== role) this.#turns.push({ role, content: [] })
    for (const block of blocks) this.#turns.at(-1)!.content.push(block)
  }

  /** Anthropic goes on from a last assistant message, and answers 400 where it ends in white space. */
  #trimLastWords(): void {
    const turn = this.#turns.at(-1)
    const last = turn?.content.at(-1)
    if (turn?.role !== 'assistant' || last?.type !== 'text') return
    turn.content.splice(-1, 1, { ...last, text: last.text.trimEnd() })
  }
}

/** Of what nobody marked, one text. */
function toSystem(blocks: readonly TextBlock[]): NonNullable<Conversation['system']> {
  return blocks.some(({ cache_control }) => cache_control) ? blocks : blocks.map(({ text }) => text).join('\n')
}
