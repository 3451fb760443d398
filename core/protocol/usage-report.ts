import type { Call, Usage } from '../sdk/api.ts'
import { type MadeTokens, readUsage, tokensOfLength, usageOf, withAllThoughts } from './usage.ts'
import { type ServedVariants, VARIANTS, type VariantName } from './variants.ts'

/** The tokens to charge for one attempt. */
export interface ChargedTokens {
  readonly usage: Usage
  /** True unless the usage is the upstream's own, complete and possible. */
  readonly estimated: boolean
  /** True if the upstream did not report the tokens of the prompt. */
  readonly isPromptEstimated: boolean
  /** What the model has drawn or spoken of which the upstream has reported no tokens: its length does not tell them. */
  readonly unreported?: MadeTokens | undefined
  /** True if the upstream goes on after its reply: nothing will tell what the call has used. */
  readonly isUnfinished?: boolean | undefined
  /** The services at another price by which the upstream says that it has served the call. */
  readonly served?: ServedVariants | undefined
}

/**
 * The most tokens of one answer that are believed, thoughts included. Limits of vendors are a few hundred thousand; a usage of 1e12 tokens would
 * empty the budget of an account.
 */
const MAX_ANSWER = 1_000_000

/** The most tokens of a prompt that are believed: twice the largest context window, 10 million (Llama 4 Scout, ai.meta.com, 2025-04-05). */
const MAX_PROMPT = 20_000_000

/**
 * The most bytes of text per token that are believed. Tokens of words have up to 30 characters; only runs of one character, such as spaces, have
 * longer ones (o200k_base, openai/tiktoken).
 */
const BYTES_PER_LONGEST_TOKEN = 32

const VARIANT_NAMES = Object.keys(VARIANTS) as VariantName[]

type Named = { readonly [Name in VariantName]?: unknown }

/** The services that a reply and its usage name, or a usage; undefined if they name none. */
export function servedVariants(reply: Named & { readonly usage?: object | null | undefined }): ServedVariants | undefined {
  const usage: Named | null | undefined = reply.usage
  let served: Record<string, string> | undefined
  for (const name of VARIANT_NAMES) {
    const value = reply[name] ?? usage?.[name]
    if (typeof value !== 'string') continue
    served ??= {}
    served[name] = value
  }
  return served
}

/** What is known of the tokens of one reply while it comes: what its upstream has reported, and how much text the model has written. */
export class UsageReport {
  readonly #maxAnswer: number
  #latest: Partial<Usage> | undefined
  #served: ServedVariants | undefined
  /** The most that was reported at any time: what an upstream has reported it may charge. */
  #prompt: number | undefined
  #completion: number | undefined
  #isFinal = false
  #written = 0
  /** The text that came before the latest report. */
  #covered = 0
  #made: MadeTokens | undefined
  #madeTokens = 0

  constructor({ choices }: Pick<Call, 'choices'>) {
    this.#maxAnswer = MAX_ANSWER * choices
  }

  /** The latest counts, for the client; a report may have lacked some of them. */
  get usage(): Partial<Usage> | undefined {
    return this.#latest
  }

  /** Whether the upstream has reported or written anything. */
  get isEmpty(): boolean {
    return this.#latest === undefined && this.#written === 0 && this.#made === undefined
  }

  /** The model has written text. `length`: in bytes. */
  wrote(length: number): void {
    this.#written += length
  }

  /** The model has drawn or spoken something, the tokens of which only a later report can tell. `tokens`: about how many, if that is known. */
  made(what: MadeTokens, tokens = 0): void {
    this.#made = what
    this.#madeTokens = Math.min(this.#madeTokens + tokens, this.#maxAnswer)
  }

  /**
   * The upstream has reported a usage, which may be any value: counts that are possible replace those before. `isFinal`: the model writes no more.
   */
  read(value: unknown, isFinal = false): void {
    const usage = readUsage(value)
    if (usage === undefined) return
    this.#latest = { ...this.#latest, ...usage }
    const { prompt_tokens: prompt, completion_tokens: completion } = withAllThoughts(usage)
    if (prompt !== undefined && prompt > 0 && prompt <= MAX_PROMPT) this.#prompt = Math.max(prompt, this.#prompt ?? 0)
    if (completion !== undefined && completion <= this.#maxAnswer + this.#written) {
      this.#completion = Math.max(completion, this.#completion ?? 0)
      // No picture has none: some gateways write zeros where they know nothing.
      if (completion > 0) {
        this.#made = undefined
        this.#madeTokens = 0
      }
    }
    this.#covered = this.#written
    this.#isFinal = isFinal
  }

  /** The upstream has named the services by which it serves the call; undefined if it did not. */
  servedBy(variants: ServedVariants | undefined): void {
    if (variants !== undefined) this.#served = { ...this.#served, ...variants }
  }

  /** The reply is complete: the latest report is the final one, unless the model wrote after it. */
  complete(): void {
    this.#isFinal ||= this.#covered === this.#written
  }

  /** The tokens to charge. `prompt`: the estimate of those of the prompt. */
  charged(prompt: number): ChargedTokens {
    const usage = this.#latest && withAllThoughts(this.#latest)
    const tokens = usageOf(this.#prompt ?? prompt, this.#isBelieved() ? this.#completion! : this.#estimate())
    const made = this.#madeTokens === 0 ? undefined : { [this.#made!]: this.#madeTokens }
    const isReported = tokens.prompt_tokens === usage?.prompt_tokens && tokens.completion_tokens === usage.completion_tokens
    return {
      usage: { ...usage, ...tokens, ...(made && { completion_tokens_details: made }) },
      estimated: !(isReported && this.#isBelieved()),
      isPromptEstimated: this.#prompt === undefined,
      ...(this.#made && { unreported: this.#made }),
      ...(this.#served && { served: this.#served }),
    }
  }

  #isBelieved(): boolean {
    const isCovered = this.#isFinal && this.#covered === this.#written && this.#made === undefined
    return isCovered && this.#completion !== undefined && isPlausible(this.#completion, this.#written)
  }

  /** Of the answer: what was reported, and the text since; no less than for all of the text. */
  #estimate(): number {
    const since = (this.#completion ?? 0) + tokensOfLength(this.#written - this.#covered)
    return Math.max(since, tokensOfLength(this.#written)) + this.#madeTokens
  }
}

/** Whether `tokens` are possible for a text of this many bytes. */
export const isPlausible = (tokens: number, bytes: number): boolean => tokens * BYTES_PER_LONGEST_TOKEN >= bytes
