/** What of a request costs tokens. */
export interface Prompt {
  readonly messages: number
  /** Images, recordings, files. */
  readonly media: number
  readonly texts: readonly string[]
  /** Those that the client has counted out itself, for embeddings. */
  readonly tokens: number
}

/** Fields whose JSON the model reads, of the request and of a message. */
const STRUCTURED = ['tools', 'functions', 'response_format']
const STRUCTURED_OF_MESSAGE = ['tool_calls', 'function_call']
/** The last two: a call of a tool and its result, as the Responses API has them. */
const TEXTS_OF_MESSAGE = ['role', 'name', 'refusal', 'reasoning_content', 'arguments', 'output']

/** Reads a parsed body of any shape: a large one reaches the thread before anybody has checked it whole. */
export function readPrompt(body: unknown): Prompt {
  const inputs = [field(body, 'input')].flat()
  const texts = [
    ...jsonOf(body, STRUCTURED),
    ...textsOf(body, ['instructions']),
    ...inputs.filter((input) => typeof input === 'string'),
  ]
  const messages = [...list(field(body, 'messages')), ...inputs.filter(isObject)]
  let media = 0
  for (const message of messages) {
    texts.push(...textsOf(message, TEXTS_OF_MESSAGE), ...jsonOf(message, STRUCTURED_OF_MESSAGE))
    const content = field(message, 'content')
    if (typeof content === 'string') texts.push(content)
    for (const part of list(content)) {
      const text = textsOf(part, ['text', 'refusal'])
      if (text.length === 0) media++
      texts.push(...text)
    }
  }
  return { messages: messages.length, media, texts, tokens: tokensIn(inputs) }
}

/** One list of tokens, or several. */
function tokensIn(inputs: readonly unknown[]): number {
  return inputs.reduce<number>((sum, input) => sum + (typeof input === 'number' ? 1 : list(input).length), 0)
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

const field = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const textsOf = (value: unknown, keys: readonly string[]): string[] =>
  keys.map((key) => field(value, key)).filter((text) => typeof text === 'string')

const jsonOf = (value: unknown, keys: readonly string[]): string[] =>
  keys
    .map((key) => field(value, key))
    .filter((part) => typeof part === 'object' && part !== null)
    .map((part) => JSON.stringify(part))
