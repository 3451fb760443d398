import type { CompletionTokensDetails, PromptTokensDetails, Usage } from '../sdk/api.ts'

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/**
 * The usage that an upstream reports; undefined if it cannot be charged (negative, 1e308, strings, nothing). A total that is not a
 * count is replaced by the sum.
 */
export function readUsage(value: unknown): Usage | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = value as Partial<Usage>
  if (!isCount(prompt) || !isCount(completion)) return undefined
  return isCount(total) ? (value as Usage) : { ...(value as Usage), total_tokens: prompt + completion }
}

/** Characters of a token, for an upstream that reports no usage. */
const CHARACTERS_PER_TOKEN = 4

/** The usage of a reply whose upstream reports none: clients rely on it. `length`: of the reply, in characters. */
export const estimatedUsage = (promptTokens: number, length: number): Usage =>
  usageOf(promptTokens, Math.ceil(length / CHARACTERS_PER_TOKEN))

/** The usage of so many tokens. */
export const usageOf = (prompt: number, completion: number): Usage => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
})

/** Tokens by type, with OpenTelemetry's names; cached ones are part of the input, reasoning is part of the output. */
export interface Tokens {
  readonly input: number | undefined
  readonly output: number | undefined
  readonly cached_input: number | undefined
  readonly reasoning: number | undefined
}

/** The token counts of a usage object. An upstream may send any value: only counts are taken. */
export function tokensOf(usage: Usage): Tokens {
  return {
    input: count(usage.prompt_tokens),
    output: count(usage.completion_tokens),
    cached_input: count(usage.prompt_tokens_details?.cached_tokens),
    reasoning: count(usage.completion_tokens_details?.reasoning_tokens),
  }
}

/** No real call has so many; a wrong count from an upstream must not overflow sums. */
export const MAX_TOKENS = 1e9

/**
 * The classes of tokens that have prices of their own. They are disjoint: each token of a call counts in exactly one. Each class
 * is a part of its parent where it has no price of its own.
 */
export const TOKEN_CLASSES = {
  input: undefined,
  inputAudio: 'input',
  inputImage: 'input',
  cachedInput: 'input',
  cachedInputAudio: 'cachedInput',
  cacheWrite: 'input',
  cacheWrite1h: 'cacheWrite',
  output: undefined,
  outputAudio: 'output',
  outputImage: 'output',
  reasoning: 'output',
} as const

/** The name of a class of tokens. */
export type TokenClass = keyof typeof TOKEN_CLASSES

/** Numbers of tokens by class. */
export type ClassCounts = { readonly [Class in TokenClass]: number }

/**
 * The tokens of a call by disjoint class. `Usage` counts cached, written, audio and image tokens within `prompt_tokens`, and reasoning,
 * audio and image tokens within `completion_tokens`; here each of them is subtracted. If the details of an upstream exceed their sum,
 * the later ones are cut. Whether a cached token is audio is reported by few upstreams; of the others, text is cached first.
 */
export function tokenClasses(usage: Usage): ClassCounts {
  const { prompt_tokens, completion_tokens, total_tokens } = usage
  const ofPrompt: PromptTokensDetails = usage.prompt_tokens_details ?? NONE
  const ofCompletion: CompletionTokensDetails = usage.completion_tokens_details ?? NONE
  const prompt = new Remainder(bounded(prompt_tokens))
  const unbilled = prompt.take(ofPrompt.unbilled_tokens)
  // Tokens that the upstream does not bill may also be those that it has cached.
  const cached = prompt.take(bounded(ofPrompt.cached_tokens) - unbilled)
  const written = prompt.take(ofPrompt.cache_write_tokens)
  const cacheWrite1h = Math.min(written, bounded(ofPrompt.cache_write_1h_tokens))
  const audio = bounded(ofPrompt.audio_tokens)
  const cachedInputAudio = Math.min(cached, bounded(ofPrompt.cached_audio_tokens ?? audio - prompt.left))
  const inputAudio = prompt.take(audio - cachedInputAudio)
  const inputImage = prompt.take(ofPrompt.image_tokens)

  const completion = new Remainder(bounded(completion_tokens))
  completion.take(ofCompletion.unbilled_tokens)
  const reasoning = completion.take(ofCompletion.reasoning_tokens)
  const outputAudio = completion.take(ofCompletion.audio_tokens)
  const outputImage = completion.take(ofCompletion.image_tokens)
  return {
    input: prompt.left,
    inputAudio,
    inputImage,
    cachedInput: cached - cachedInputAudio,
    cachedInputAudio,
    cacheWrite: written - cacheWrite1h,
    cacheWrite1h,
    output: completion.left,
    outputAudio,
    outputImage,
    // Some upstreams that speak OpenAI's protocol count thoughts in the total only.
    reasoning: reasoning + bounded(bounded(total_tokens) - bounded(prompt_tokens) - bounded(completion_tokens)),
  }
}

const NONE = {}

/** Tokens of which no class has been taken yet. */
class Remainder {
  left: number

  constructor(tokens: number) {
    this.left = tokens
  }

  /** Takes so many tokens, or as many as are left. */
  take(tokens: unknown): number {
    const taken = Math.min(bounded(tokens), this.left)
    this.left -= taken
    return taken
  }
}

/** A count that is at most `MAX_TOKENS`; 0 for what is no count. */
const bounded = (tokens: unknown): number => Math.min(count(tokens) ?? 0, MAX_TOKENS)

function count(tokens: unknown): number | undefined {
  return isCount(tokens) ? tokens : undefined
}
