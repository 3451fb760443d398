import type { CompletionTokensDetails, PromptTokensDetails, Usage } from '../sdk/api.ts'
import { countOf, isCount, isRecord } from '../sdk/json.ts'

/** Where vendors report what OpenAI puts into `prompt_tokens_details`; the first that is a count is taken. Read 2026-11-25. */
const CACHE_NAMES: Readonly<Record<'cached_tokens' | 'cache_write_tokens', readonly string[]>> = {
  cached_tokens: [
    'cached_tokens', // Moonshot, Hugging Face, Together: github.com/vercel/ai, packages/moonshotai
    'prompt_cache_hit_tokens', // DeepSeek: api-docs.deepseek.com/api/create-chat-completion
    'num_cached_tokens', // Mistral: github.com/mistralai/client-python
    'cache_read_input_tokens', // LiteLLM, of Anthropic's models
  ],
  cache_write_tokens: [
    'cache_write_tokens', // OpenRouter
    'cache_creation_input_tokens', // LiteLLM, Alibaba: within prompt_tokens
  ],
}

const ALIASES = Object.entries(CACHE_NAMES).map(([name, aliases]) => ({ name, aliases }))

/** Where vendors put the details themselves; the second is Mistral's. */
const DETAILS = ['prompt_tokens_details', 'prompt_token_details'] as const

/**
 * The counts that an upstream reports. Those that are no counts (negative, 1e308, texts, fractions) are left out, and of two counts and a total
 * the third is computed; undefined if none is left. Cached tokens are found under the names of all vendors.
 */
export function readUsage(value: unknown): Partial<Usage> | undefined {
  if (!isRecord(value)) return undefined
  const { prompt_tokens, completion_tokens, total_tokens, ...others } = value
  const reported = { prompt: count(prompt_tokens), completion: count(completion_tokens), total: count(total_tokens) }
  const prompt = reported.prompt ?? rest(reported.total, reported.completion)
  const completion = reported.completion ?? rest(reported.total, reported.prompt)
  if (prompt === undefined && completion === undefined) return undefined
  const total = reported.total ?? sum(prompt, completion)
  return {
    ...others,
    ...cacheDetails(value),
    ...(prompt !== undefined && { prompt_tokens: prompt }),
    ...(completion !== undefined && { completion_tokens: completion }),
    ...(total !== undefined && { total_tokens: total }),
  }
}

const rest = (total: number | undefined, part: number | undefined): number | undefined =>
  total === undefined || part === undefined ? undefined : count(total - part)

const sum = (prompt: number | undefined, completion: number | undefined): number | undefined =>
  prompt === undefined || completion === undefined ? undefined : prompt + completion

/** The same usage, whose answer includes all thoughts: xAI and others count them in the total only. */
export function withAllThoughts(usage: Partial<Usage>): Partial<Usage> {
  const { prompt_tokens, completion_tokens, total_tokens, completion_tokens_details: details } = usage
  if (prompt_tokens === undefined || completion_tokens === undefined) return usage
  const uncounted = (total_tokens ?? 0) - prompt_tokens - completion_tokens
  if (uncounted <= 0) return usage
  return {
    ...usage,
    completion_tokens: completion_tokens + uncounted,
    completion_tokens_details: { ...details, reasoning_tokens: Math.max(uncounted, count(details?.reasoning_tokens) ?? 0) },
  }
}

/** The counts of a usage that protocols have names for: no part is above its sum, and the answer includes all thoughts. */
export interface UsageParts {
  readonly prompt: number
  readonly cached: number
  readonly written: number
  readonly completion: number
  /** Undefined if none are reported. */
  readonly reasoning: number | undefined
}

/** The counts of a completion's usage. Some upstreams report more cached tokens than there are (xAI), or more thoughts (MiniMax). */
export function partsOf(usage: Usage): UsageParts {
  const { prompt_tokens_details: details, completion_tokens_details, ...counts } = withAllThoughts(usage)
  const [prompt, completion] = [countOf(counts.prompt_tokens), countOf(counts.completion_tokens)]
  const cached = Math.min(prompt, countOf(details?.cached_tokens))
  const reasoning = completion_tokens_details?.reasoning_tokens
  return {
    prompt,
    cached,
    written: Math.min(prompt - cached, countOf(details?.cache_write_tokens)),
    completion,
    reasoning: reasoning === undefined ? undefined : Math.min(completion, countOf(reasoning)),
  }
}

/** The details of the prompt, if a vendor reports cached tokens by a name of its own. */
function cacheDetails(usage: Readonly<Record<string, unknown>>): Pick<Usage, 'prompt_tokens_details'> {
  const place = DETAILS.find((each) => isRecord(usage[each]))
  const details = place && (usage[place] as Readonly<Record<string, unknown>>)
  let found: Record<string, unknown> | undefined
  for (const { name, aliases } of ALIASES) {
    if (count(details?.[name]) !== undefined) continue
    const alias = aliases.find((each) => count(usage[each]) !== undefined)
    if (alias !== undefined) found = { ...found, [name]: usage[alias] }
  }
  const isOpenai = details === undefined || details === usage.prompt_tokens_details
  return isOpenai && found === undefined ? NONE : { prompt_tokens_details: { ...details, ...found } }
}

/** Whether a usage has the counts that all clients rely on. */
export const isWhole = (usage: Partial<Usage> | null | undefined): usage is Usage =>
  isCount(usage?.prompt_tokens) && isCount(usage.completion_tokens) && isCount(usage.total_tokens)

/** Bytes or characters of a token, for an upstream that reports no usage. */
const LENGTH_PER_TOKEN = 4

/** The estimated tokens of a text. `length`: in bytes or characters. */
export const tokensOfLength = (length: number): number => Math.ceil(length / LENGTH_PER_TOKEN)

/** The usage of a reply whose upstream reports none: clients rely on it. `length`: of the reply, in characters. */
export const estimatedUsage = (promptTokens: number, length: number): Usage => usageOf(promptTokens, tokensOfLength(length))

/** The class of tokens of a picture that a model draws, and of sound that it makes. */
export type MadeTokens = 'image_tokens' | 'audio_tokens'

/** The usage of so many tokens. `made`: what those of the answer are. Absent: text. */
export const usageOf = (prompt: number, completion: number, made?: MadeTokens): Usage => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  ...(made && { completion_tokens_details: { [made]: completion } }),
})

/** The sum of two usages, member by member; of values that are no numbers, the later one. */
export function sumOfUsage(first: Usage, second: Usage): Usage {
  return sumOf(first, second) as Usage
}

function sumOf(first: unknown, second: unknown): unknown {
  if (typeof first === 'number' && typeof second === 'number') return first + second
  if (!isRecord(first) || !isRecord(second)) return second ?? first
  const entries = Object.entries(second).map(([name, value]) => [name, sumOf(first[name], value)])
  return { ...first, ...Object.fromEntries(entries) }
}

/** Tokens by type, with OpenTelemetry's names; cached ones are part of the input, reasoning is part of the output. */
export interface Tokens {
  readonly input: number | undefined
  readonly output: number | undefined
  readonly cached_input: number | undefined
  readonly reasoning: number | undefined
}

/** The token counts of a usage object. An upstream may send any value: only counts are taken, and no part is above its sum. */
export function tokensOf(usage: Usage): Tokens {
  const [input, output] = [count(usage.prompt_tokens), count(usage.completion_tokens)]
  return {
    input,
    output,
    cached_input: atMost(input, count(usage.prompt_tokens_details?.cached_tokens)),
    reasoning: atMost(output, count(usage.completion_tokens_details?.reasoning_tokens)),
  }
}

const atMost = (sum: number | undefined, part: number | undefined): number | undefined =>
  sum === undefined || part === undefined ? part : Math.min(sum, part)

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
  cacheWrite12h: 'cacheWrite',
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
  const cacheWrite12h = Math.min(written - cacheWrite1h, bounded(ofPrompt.cache_write_tokens_details?.ttl_12h_tokens))
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
    cacheWrite: written - cacheWrite1h - cacheWrite12h,
    cacheWrite1h,
    cacheWrite12h,
    output: completion.left,
    outputAudio,
    outputImage,
    // Some upstreams that speak OpenAI's protocol count thoughts in the total only.
    reasoning: reasoning + bounded(bounded(total_tokens) - bounded(prompt_tokens) - bounded(completion_tokens)),
  }
}

const NONE = {}

/** Tokens without the classes that were counted already. */
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
