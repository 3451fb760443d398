import {
  appendToTurns,
  argumentsOf,
  type ChatMessage,
  type ChatRequest,
  CONTINUE,
  type ConversationVisitor,
  type FunctionToolCall,
  type IdRule,
  invalidValue,
  ToolIds,
  type Turn,
  unsupportedParameter,
  walkConversation,
} from 'unified-model-gateway/plugin'
import { markOf, toBlocks, toText } from './content.ts'
import { readThinkingState, type TextBlocks, withThinking } from './reasoning.ts'
import type { Block, Message, MessagesRequest, TextBlock, ToolUseBlock } from './wire.ts'

/** A conversation for the Messages API: roles alternate, and all tool results of a step come together, before any text. */
export interface Conversation {
  readonly system?: NonNullable<MessagesRequest['system']>
  readonly messages: readonly Message[]
}

/**
 * Translates a conversation for `model`. `maxMarks`: the most cache marks, those of tools excluded. Throws `GatewayError` (400) for content that Claude cannot read, and if a tool call has no result
 * or a result no call.
 */
export function toConversation(messages: readonly ChatMessage[], model: string, maxMarks: number): Conversation {
  const builder = new ConversationBuilder(model, maxMarks)
  walkConversation(messages, builder)
  return builder.build()
}

/** Anthropic takes `^[a-zA-Z0-9_-]+$`. */
const IDS: IdRule = {
  fit: (id) => id.replace(/[^a-zA-Z0-9_-]/g, '_') || 'call',
  copy: (fitted, number) => `${fitted}_${number}`,
}

/** What the user says before an assistant that speaks first: 'first message must use the "user" role' (github.com/langchain4j/langchain4j, issue 940). */
const PLACEHOLDER = '…'

const TEXTS: TextBlocks<Block> = {
  read: (block) => (block.type === 'text' ? block.text : undefined),
  write: (block, text) => toText(text).map((piece) => ({ ...block, ...piece })),
}

class ConversationBuilder implements ConversationVisitor<ToolUseBlock> {
  readonly #model: string
  readonly #maxMarks: number
  readonly #system: TextBlock[] = []
  readonly #turns: Turn<Message['role'], Block>[] = []
  readonly #ids = new ToolIds(IDS)

  constructor(model: string, maxMarks: number) {
    this.#model = model
    this.#maxMarks = maxMarks
  }

  system(message: ChatMessage, path: string): void {
    for (const block of toBlocks(message.content, `${path}.content`)) {
      if (block.type !== 'text') throw unsupportedParameter(`${path}.content`, 'Claude takes instructions as text.')
      this.#system.push(block)
    }
  }

  user(message: ChatMessage, path: string): void {
    appendToTurns(this.#turns, 'user', toBlocks(message.content, `${path}.content`))
  }

  later(message: ChatMessage, path: string): void {
    this.user(message, path)
  }

  assistant(message: ChatMessage, path: string, calls: readonly FunctionToolCall[]): readonly ToolUseBlock[] {
    const uses = calls.map((call) => this.#toToolUse(call))
    const thinking = calls.map((call) => readThinkingState(call, this.#model))
    const text = [...toBlocks(message.content, `${path}.content`), ...toText(message.refusal)]
    appendToTurns(this.#turns, 'assistant', withThinking<Block>(text, thinking[0] ?? [], TEXTS))
    for (const [index, use] of uses.entries()) {
      appendToTurns(this.#turns, 'assistant', [...(index > 0 ? thinking[index]!.map(({ block }) => block) : []), use])
    }
    return uses
  }

  tool(message: ChatMessage, path: string, call: ToolUseBlock): void {
    const blocks = toBlocks(message.content, `${path}.content`)
    const mark = blocks.find(({ cache_control }) => cache_control)?.cache_control
    // Moved from the content to the result: marks inside a result would not be counted by keepLatestMarks.
    const content = blocks.map(({ cache_control: _, ...block }) => block)
    appendToTurns(this.#turns, 'user', [
      { type: 'tool_result', tool_use_id: call.id, ...(content.length > 0 && { content }), ...(mark && { cache_control: mark }) },
    ])
  }

  build(): Conversation {
    const [system, turns] = [this.#system, this.#turns]
    this.#trimLastText()
    keepLatestMarks([system, ...turns.map(({ content }) => content)], this.#maxMarks)
    if (turns[0]?.role === 'assistant') turns.unshift({ role: 'user', content: toText(PLACEHOLDER) })
    if (turns.length > 0) return { ...(system.length > 0 && { system: toSystem(system) }), messages: turns }
    // Anthropic requires a message: instructions alone are sent as the user's.
    if (system.length === 0) throw invalidValue('messages', 'every message is empty')
    return { messages: [{ role: 'user', content: system }] }
  }

  #toToolUse(call: FunctionToolCall): ToolUseBlock {
    const mark = markOf(call)
    return {
      type: 'tool_use',
      id: this.#ids.take(call.id),
      name: call.function.name,
      input: argumentsOf(call),
      ...(mark && { cache_control: mark }),
    }
  }

  /** Anthropic continues a last assistant message, and answers 400 if it ends in white space. */
  #trimLastText(): void {
    const turn = this.#turns.at(-1)
    const last = turn?.content.at(-1)
    if (turn?.role !== 'assistant' || last?.type !== 'text') return
    turn.content.splice(-1, 1, { ...last, text: last.text.trimEnd() })
  }
}

/** A conversation that ends with the user, for a model that refuses to continue a message of its own. */
export const withUserLast = (messages: readonly Message[]): readonly Message[] =>
  messages.at(-1)?.role === 'assistant' ? [...messages, { role: 'user', content: toText(CONTINUE) }] : messages

/** One text, unless a block has a cache mark. */
function toSystem(blocks: readonly TextBlock[]): NonNullable<Conversation['system']> {
  return blocks.some(({ cache_control }) => cache_control) ? blocks : blocks.map(({ text }) => text).join('\n')
}

/** The most cache marks of a request: Anthropic answers 400 to more. OpenAI takes any number and uses the latest four. */
export const MAX_MARKS = 4

/** Removes the earliest cache marks above the maximum. `contents`: in the order in which the model reads them. */
function keepLatestMarks(contents: readonly Block[][], most: number): void {
  let kept = 0
  for (const content of contents.toReversed()) {
    for (let index = content.length - 1; index >= 0; index--) {
      const block = content[index]!
      if (!('cache_control' in block) || ++kept <= most) continue
      const { cache_control: _, ...unmarked } = block
      content[index] = unmarked
    }
  }
}

/** `cache_control` if a client set more of these marks than are sent, for the dropped parameters. */
export function surplusMarks({ messages, tools, cache_control: own }: Readonly<ChatRequest>): readonly string[] {
  let count = own == null ? 0 : 1
  for (const tool of tools ?? []) if (isMarked(tool)) count++
  for (const { content, tool_calls: calls } of messages) {
    for (const part of Array.isArray(content) ? content : []) if (isMarked(part)) count++
    for (const call of calls ?? []) if (isMarked(call)) count++
  }
  return count > MAX_MARKS ? ['cache_control'] : []
}

const isMarked = (part: object): boolean => (part as { readonly cache_control?: unknown }).cache_control != null
