/** Runs in a worker thread: how many tokens a prompt has. */
import { countTokens, setMergeCacheSize } from 'gpt-tokenizer/encoding/o200k_base'
import { type Prompt, readPrompt } from './prompt.ts'

/** A hostile body must not hold a thread: of a long prompt this many characters are encoded, the rest is taken to be like them. */
const MAX_ENCODED = 131_072
/** A run of letters or spaces costs the tokenizer its length squared: 100,000 spaces 5 s. Cutting it costs a token per cut. */
const SLICE = 1024
/** The default of 100,000 words would let clients fill a thread's memory with words of `SLICE` letters. */
setMergeCacheSize(10_000)

/** `<|endoftext|>` in a prompt is text like any other; by default the tokenizer throws. */
const AS_TEXT = { disallowedSpecial: new Set<string>() }
/** What frames a message, and what primes the answer (OpenAI's cookbook, "How to count tokens with tiktoken"). */
const PER_MESSAGE = 3
const PER_ANSWER = 3
/** An image, a recording or a file: what GPT-4o charges for an image of 1024 by 1024 in high detail. */
const PER_MEDIUM = 765

/** Tokens of a request's prompt, by o200k. Throws a SyntaxError for what is not JSON. */
export function countPromptTokens(json: Uint8Array): number {
  const { messages, media, tokens, texts } = readPrompt(JSON.parse(new TextDecoder().decode(json)))
  return PER_ANSWER + messages * PER_MESSAGE + media * PER_MEDIUM + tokens + textTokens(texts)
}

/** Does nothing: brings a thread up. */
export function wake(): void {}

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
