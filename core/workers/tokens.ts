/** Runs in a worker thread: counts the tokens of a prompt. */
import { countTokens, setMergeCacheSize } from 'gpt-tokenizer/encoding/o200k_base'

/** A hostile body must not block a thread: only so many characters of a long prompt are encoded, and the rest is extrapolated. */
const MAX_ENCODED = 131_072
/** A run of letters or spaces takes the tokenizer quadratic time: 100,000 spaces 5 s. Each cut costs a token. */
const SLICE = 1024
/** With the default of 100,000 words clients could fill a thread's memory with words of `SLICE` letters. */
setMergeCacheSize(10_000)

/** `<|endoftext|>` in a prompt counts as text; by default the tokenizer throws. */
const AS_TEXT = { disallowedSpecial: new Set<string>() }
/** The frame of a message, and the start of the reply (OpenAI's cookbook, "How to count tokens with tiktoken"). */
const PER_MESSAGE = 3
const PER_REPLY = 3
/** An image, a recording or a file: the tokens of an image of 1024 by 1024 in high detail for GPT-4o. */
const PER_MEDIUM = 765

/** Counts the tokens of a request's prompt, by o200k. Throws a SyntaxError for invalid JSON. */
export function countPromptTokens(json: Uint8Array): number {
  const { messages, media, tokens, texts } = readPrompt(JSON.parse(new TextDecoder().decode(json)))
  return PER_REPLY + messages * PER_MESSAGE + media * PER_MEDIUM + tokens + textTokens(texts)
}

function textTokens(texts: Prompt['texts']): number {
  let encoded = 0
  let tokens = 0
  let length = 0
  for (const text of texts) {
    length += text.length
    const end = Math.min(text.length, MAX_ENCODED - encoded)
    for (let at = 0; at < end; at += SLICE) tokens += countTokens(text.slice(at, Math.min(at + SLICE, end)), AS_TEXT)
    encoded += end
  }
  return encoded === 0 ? 0 : Math.ceil((tokens / encoded) * length)
}

/** The parts of a request that cost tokens. */
interface Prompt {
  readonly messages: number
  /** Images, recordings, files. */
  readonly media: number
  readonly texts: readonly string[]
  /** Token ids that the client sent instead of text, for embeddings. */
  readonly tokens: number
}

/** Fields of the request and of a message that the model reads as JSON. */
const STRUCTURED = ['tools', 'functions', 'response_format']
const STRUCTURED_OF_MESSAGE = ['tool_calls', 'function_call']
/** After the third: the arguments and the output of a tool call in the Responses API, the text of a document or of a moderated part. */
const TEXTS_OF_MESSAGE = ['role', 'name', 'refusal', 'reasoning_content', 'arguments', 'output', 'text']

/** The last ones are of the Messages API. */
const TEXTS_OF_PART = ['text', 'refusal', 'thinking', 'name']

/** Reads a parsed body of any shape: a large body reaches the thread before its full check. */
function readPrompt(body: unknown): Prompt {
  const inputs = [field(body, 'input'), field(body, 'prompt'), field(body, 'query'), field(body, 'documents')].flat()
  const texts = [
    ...jsonOf(body, STRUCTURED),
    ...textsOf(body, ['instructions']),
    ...inputs.filter((input) => typeof input === 'string'),
  ]
  const messages = [...list(field(body, 'messages')), ...inputs.filter(isObject)]
  const content: Content = { texts, media: 0 }
  readContent(field(body, 'system'), content)
  for (const message of messages) {
    texts.push(...textsOf(message, TEXTS_OF_MESSAGE), ...jsonOf(message, STRUCTURED_OF_MESSAGE))
    readContent(field(message, 'content'), content)
  }
  return { messages: messages.length, media: content.media, texts, tokens: tokensIn(inputs) }
}

/** What contents consist of. */
interface Content {
  readonly texts: string[]
  media: number
}

/** A part without any text is a medium. In Anthropic's Messages API the result of a tool is a part with a content of its own. */
function readContent(content: unknown, into: Content): void {
  if (typeof content === 'string') into.texts.push(content)
  for (const part of list(content)) {
    const source = field(part, 'source')
    const plain = field(source, 'type') === 'text' ? textsOf(source, ['data']) : []
    const texts = [...textsOf(part, TEXTS_OF_PART), ...jsonOf(part, ['input']), ...plain]
    const inner = field(part, 'content')
    into.texts.push(...texts)
    if (inner !== undefined) readContent(inner, into)
    else if (texts.length === 0) into.media++
  }
}

/** Counts the token ids of one list, or of several. */
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
