import {
  argumentsOf,
  type ChatMessage,
  type ConversationVisitor,
  type FunctionToolCall,
  invalidValue,
  ToolIds,
  unsupportedParameter,
  walkConversation,
} from 'unified-model-gateway/plugin'
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

/** Stands for the user where the assistant speaks first, which Bedrock does not take. */
const SILENCE = '…'

/**
 * OpenAI's messages as Converse's, for `model`. Throws `GatewayError` for what Converse does not take, and where a tool call has no
 * result or a result no call.
 */
export function toConversation(messages: readonly ChatMessage[], model: string, facts: ModelFacts): Conversation {
  const draft = new Draft(model, facts)
  walkConversation(messages, draft)
  return draft.finish()
}

class Draft implements ConversationVisitor<ToolUseBlock> {
  readonly #model: string
  readonly #reading: Reading
  readonly #ids: ToolIds
  readonly #system: SystemBlock[] = []
  readonly #turns: { readonly role: Message['role']; readonly content: Block[] }[] = []

  constructor(model: string, { caching, shortToolIds }: ModelFacts) {
    this.#model = model
    this.#reading = { names: new DocumentNames(), caching }
    this.#ids = new ToolIds(shortToolIds ? MISTRAL_IDS : BEDROCK_IDS)
  }

  system(message: ChatMessage, path: string): void {
    for (const block of this.#blocksOf(message, path)) {
      if (!('text' in block || 'cachePoint' in block))
        throw unsupportedParameter(`${path}.content`, 'Bedrock takes instructions as text.')
      this.#system.push(block)
    }
  }

  user(message: ChatMessage, path: string): void {
    this.#say('user', this.#blocksOf(message, path))
  }

  assistant(message: ChatMessage, path: string, calls: readonly FunctionToolCall[]): readonly ToolUseBlock[] {
    const words = [...this.#blocksOf(message, path), ...toText(message.refusal)]
    const thoughts = calls.map((call) => fromFreight(call, this.#model))
    const steps = calls.map((call) => this.#toToolUse(call))
    this.#say('assistant', [...(thoughts[0] ?? []), ...words])
    for (const [index, step] of steps.entries()) this.#say('assistant', [...(index > 0 ? thoughts[index]! : []), step])
    return steps
  }

  tool(message: ChatMessage, path: string, { toolUse: { toolUseId } }: ToolUseBlock): void {
    const blocks = this.#blocksOf(message, path)
    const cachePoint = blocks.find((block) => 'cachePoint' in block)
    const content = blocks.filter((block) => !('cachePoint' in block)).map((block) => toResultContent(block, `${path}.content`))
    // A result must have something in it, and blank words are refused.
    const toolResult = { toolUseId, content: content.length > 0 ? content : [{ json: {} }] }
    this.#say('user', [{ toolResult }, ...(cachePoint ? [cachePoint] : [])])
  }

  finish(): Conversation {
    const [system, turns] = [this.#system, this.#turns]
    this.#trimLastWords()
    keepLatestCachePoints([system, ...turns.map(({ content }) => content)])
    if (turns[0]?.role === 'assistant') turns.unshift({ role: 'user', content: toText(SILENCE) })
    if (turns.length > 0) return { system, messages: turns }
    // Bedrock needs a message; who sends instructions alone means them to be followed.
    if (system.length === 0) throw invalidValue('messages', 'every message is empty')
    return { system: [], messages: [{ role: 'user', content: system }] }
  }

  #blocksOf(message: ChatMessage, path: string): Block[] {
    return toBlocks(message.content, `${path}.content`, this.#reading)
  }

  #toToolUse(call: FunctionToolCall): ToolUseBlock {
    return { toolUse: { toolUseId: this.#ids.take(call.id), name: call.function.name, input: argumentsOf(call) } }
  }

  #say(role: Message['role'], blocks: readonly Block[]): void {
    if (blocks.length === 0) return
    if (this.#turns.at(-1)?.role !== role) this.#turns.push({ role, content: [] })
    for (const block of blocks) this.#turns.at(-1)!.content.push(block)
  }

  /** Models go on from a last assistant message, and answer 400 where it ends in white space. */
  #trimLastWords(): void {
    const turn = this.#turns.at(-1)
    const last = turn?.content.at(-1)
    if (turn?.role === 'assistant' && last && 'text' in last) turn.content.splice(-1, 1, ...toText(last.text.trimEnd()))
  }
}

function toResultContent(block: Block, path: string): ResultContent {
  if ('text' in block || 'image' in block || 'document' in block) return block
  throw unsupportedParameter(path, 'Tools answer with text, images and files.')
}
