import {
  appendToTurns,
  argumentsOf,
  type ChatMessage,
  CONTINUE,
  type ConversationVisitor,
  digestIds,
  type FunctionToolCall,
  invalidValue,
  ToolIds,
  type Turn,
  unsupportedParameter,
  walkConversation,
} from 'unified-model-gateway/plugin'
import { type TextBlocks, withThinking } from '../anthropic/reasoning.ts'
import { type ContentOptions, DocumentNames, toBlocks, toCachePoint, toText } from './content.ts'
import type { ModelFacts } from './models.ts'
import { readThinkingState } from './reasoning.ts'
import type { Block, CachePoint, Message, ResultContent, SystemBlock, ToolUseBlock } from './wire.ts'

/** A conversation for Converse: roles alternate, beginning with the user, and the tool results of a step come before any text. */
export interface Conversation {
  readonly system: readonly SystemBlock[]
  readonly messages: readonly Message[]
}

/**
 * Translates a conversation for `model`. `end`: a cache point after the last turn, for a model that takes any. Throws `GatewayError` (400) for content that Converse does not take, and if a tool call has no
 * result or a result no call.
 */
export function toConversation(
  messages: readonly ChatMessage[],
  model: string,
  facts: ModelFacts,
  end: readonly CachePoint[],
): Conversation {
  const builder = new ConversationBuilder(model, facts)
  walkConversation(messages, builder)
  return builder.build(facts.caching ? end : [])
}

/** The ids of tool calls that Bedrock takes (`ToolUseBlock.toolUseId`). */
const BEDROCK_IDS = digestIds(/^[a-zA-Z0-9_-]{1,64}$/, 40)
/** Those that Mistral takes, to which Bedrock passes them on. */
const MISTRAL_IDS = digestIds(/^[a-zA-Z0-9]{9}$/, 9)

/**
 * What the user says where Bedrock wants something said: before an assistant that speaks first, and beside files ("A text block must be included when
 * using documents": github.com/maximhq/bifrost, pull request 5817).
 */
const PLACEHOLDER = '…'

const TEXTS: TextBlocks<Block> = {
  read: (block) => ('text' in block ? block.text : undefined),
  write: (_, text) => toText(text),
}

class ConversationBuilder implements ConversationVisitor<ToolUseBlock> {
  readonly #model: string
  readonly #options: ContentOptions
  readonly #ids: ToolIds
  readonly #system: SystemBlock[] = []
  readonly #turns: Turn<Message['role'], Block>[] = []

  constructor(model: string, { caching, shortToolIds }: ModelFacts) {
    this.#model = model
    this.#options = { names: new DocumentNames(), caching }
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
    const blocks = this.#blocksOf(message, path)
    const isUntold = blocks.some((block) => 'document' in block) && !blocks.some((block) => 'text' in block)
    appendToTurns(this.#turns, 'user', isUntold ? [...toText(PLACEHOLDER), ...blocks] : blocks)
  }

  later(message: ChatMessage, path: string): void {
    this.user(message, path)
  }

  assistant(message: ChatMessage, path: string, calls: readonly FunctionToolCall[]): readonly ToolUseBlock[] {
    const text = [...this.#blocksOf(message, path), ...toText(message.refusal)]
    const reasoning = calls.map((call) => readThinkingState(call, this.#model))
    const uses = calls.map((call) => this.#toToolUse(call))
    appendToTurns(this.#turns, 'assistant', withThinking<Block>(text, reasoning[0] ?? [], TEXTS))
    for (const [index, use] of uses.entries()) {
      const cachePoint = this.#options.caching ? toCachePoint(calls[index]!) : []
      appendToTurns(this.#turns, 'assistant', [
        ...(index > 0 ? reasoning[index]!.map(({ block }) => block) : []),
        use,
        ...cachePoint,
      ])
    }
    return uses
  }

  tool(message: ChatMessage, path: string, { toolUse: { toolUseId } }: ToolUseBlock): void {
    const blocks = this.#blocksOf(message, path)
    const cachePoint = blocks.find((block) => 'cachePoint' in block)
    const content = blocks.filter((block) => !('cachePoint' in block)).map((block) => toResultContent(block, `${path}.content`))
    // Bedrock refuses a result without content and one with blank text.
    const toolResult = { toolUseId, content: content.length > 0 ? content : [{ json: {} }] }
    appendToTurns(this.#turns, 'user', [{ toolResult }, ...(cachePoint ? [cachePoint] : [])])
  }

  /** `end`: the cache point after the last turn. */
  build(end: readonly CachePoint[]): Conversation {
    const [system, turns] = [this.#system, this.#turns]
    this.#trimLastText()
    const last = turns.at(-1)?.content
    if (last && !('cachePoint' in last.at(-1)!)) last.push(...end)
    keepLatestCachePoints([system, ...turns.map(({ content }) => content)])
    if (turns[0]?.role === 'assistant') turns.unshift({ role: 'user', content: toText(PLACEHOLDER) })
    if (turns.length > 0) return { system, messages: turns }
    // Bedrock requires a message: instructions alone are sent as the user's.
    if (system.length === 0) throw invalidValue('messages', 'every message is empty')
    return { system: [], messages: [{ role: 'user', content: system }] }
  }

  #blocksOf(message: ChatMessage, path: string): Block[] {
    return toBlocks(message.content, `${path}.content`, this.#options)
  }

  #toToolUse(call: FunctionToolCall): ToolUseBlock {
    return { toolUse: { toolUseId: this.#ids.take(call.id), name: call.function.name, input: argumentsOf(call) } }
  }

  /** Models continue a last assistant message, and answer 400 if it ends in white space. */
  #trimLastText(): void {
    const turn = this.#turns.at(-1)
    const last = turn?.content.at(-1)
    if (turn?.role === 'assistant' && last && 'text' in last) turn.content.splice(-1, 1, ...toText(last.text.trimEnd()))
  }
}

/** A conversation that ends with the user, for a model that refuses to continue a message of its own. */
export const withUserLast = (messages: readonly Message[]): readonly Message[] =>
  messages.at(-1)?.role === 'assistant' ? [...messages, { role: 'user', content: toText(CONTINUE) }] : messages

function toResultContent(block: Block, path: string): ResultContent {
  if ('text' in block || 'image' in block || 'document' in block) return block
  throw unsupportedParameter(path, 'Tools answer with text, images and files.')
}

/** The most cache points of a request: Bedrock answers 400 to more. OpenAI takes any number and uses the latest four. */
const MAX_CACHE_POINTS = 4

/** How many cache points a conversation leaves to the tools before it. */
export const cachePointsLeft = ({ system, messages }: Conversation): number =>
  MAX_CACHE_POINTS - [system, ...messages.map(({ content }) => content)].flat().filter((block) => 'cachePoint' in block).length

/** Removes the earliest cache points above the maximum. `contents`: in the order in which the model reads them. */
function keepLatestCachePoints(contents: readonly Block[][]): void {
  let kept = 0
  for (const content of contents.toReversed()) {
    for (let index = content.length - 1; index >= 0; index--) {
      if ('cachePoint' in content[index]! && ++kept > MAX_CACHE_POINTS) content.splice(index, 1)
    }
  }
}
