/** Replies as translators return them: OpenAI's shape, without the fields that core's normaliser adds. */
import type { ChatCompletion, ChatDelta, FinishReason, Usage } from './chat.ts'
import { textOf } from './json.ts'
import { unsupportedParameter } from './parameters.ts'

/** A chunk as a translator returns it; core's normaliser sets id, created, model, role, tool indexes and the place of usage. */
export interface TranslatedChunk {
  readonly choices: readonly TranslatedChoice[]
  /**
   * What the upstream has reported so far, in the chunk of the text that it counts or after it: a call whose stream breaks is charged by it. The
   * latest counts are the final ones if no text follows them.
   */
  readonly usage?: Partial<Usage>
  readonly id?: string
  /** Fields that only this upstream has are kept. */
  readonly [key: string]: unknown
}

/** One choice of a chunk. */
export interface TranslatedChoice {
  readonly index?: number
  readonly delta?: ChatDelta
  /** A reason that is not in the enum becomes `stop`. */
  readonly finish_reason?: FinishReason | (string & {}) | null
  readonly [key: string]: unknown
}

/** A completion as a translator returns it; core sets model, created if absent, and the fields that every message must have. */
export interface TranslatedCompletion {
  readonly id?: string
  readonly choices: readonly {
    readonly message: {
      readonly content?: string | null
      readonly refusal?: string | null
      readonly reasoning_content?: string
      readonly tool_calls?: ChatCompletion['choices'][number]['message']['tool_calls']
      readonly [key: string]: unknown
    }
    /** A reason that is not in the enum becomes `stop`. */
    readonly finish_reason: FinishReason | (string & {})
    readonly [key: string]: unknown
  }[]
  readonly usage?: Partial<Usage>
  readonly [key: string]: unknown
}

/** One token of a choice's `logprobs`. `bytes`: its UTF-8. */
export interface TokenLogprob {
  readonly token: string
  readonly logprob: number
  readonly bytes: readonly number[]
}

/** A token and its log probability, of an upstream's values. Without a number it is OpenAI's "very unlikely", -9999. */
export function toTokenLogprob(token: unknown, logprob: unknown): TokenLogprob {
  const text = textOf(token)
  return { token: text, logprob: typeof logprob === 'number' ? logprob : -9999, bytes: [...Buffer.from(text)] }
}

/** Characters of thinking that a stream may keep, far more than the longest real reply has. */
const MAX_KEPT = 8_000_000

/**
 * Limits the text that a stream's translator keeps for a later chunk, such as thinking that is sent with a tool call: an endless reply
 * must not fill the memory.
 */
export class KeptText {
  #length = 0

  /** The text to keep: '' for anything but a string. Throws an Error above 8 million characters in all. */
  add(value: unknown): string {
    const text = textOf(value)
    this.#length += text.length
    if (this.#length > MAX_KEPT) throw new Error(`The reply has more than ${MAX_KEPT} characters of thinking and sources.`)
    return text
  }
}

/** What vendors call the tier that is OpenAI's `default`. */
const STANDARD: ReadonlySet<unknown> = new Set(['standard', 'unspecified'])

/**
 * For a completion, and the chunk with its usage: by which tier an upstream says that it has served the call, in OpenAI's terms. The price of the call
 * follows it. Empty if the upstream does not say.
 */
export function servedTier(tier: unknown): { readonly service_tier?: string } {
  if (typeof tier !== 'string' || tier === '') return {}
  return { service_tier: STANDARD.has(tier) ? 'default' : tier }
}

/** A source of a part of an answer, in OpenAI's terms; places are characters of the answer's text. */
export interface UrlCitation {
  readonly type: 'url_citation'
  readonly url_citation: {
    readonly start_index: number
    readonly end_index: number
    readonly title: string
    readonly url: string
  }
}

/** The citation of a source, for a message's `annotations`; none if its address is not a text. */
export function urlCitation(start: number, end: number, url: unknown, title: unknown): readonly UrlCitation[] {
  if (typeof url !== 'string' || url === '') return []
  return [{ type: 'url_citation', url_citation: { start_index: start, end_index: end, title: textOf(title), url } }]
}

/** An upstream's embeddings, as a provider returns them. Core checks them, and writes OpenAI's reply in the requested encoding. */
export interface TranslatedEmbeddings {
  /** One for each input, in the order of the inputs. */
  readonly data: readonly { readonly embedding: unknown }[]
  /** Absent: the upstream does not report it. */
  readonly usage?: { readonly prompt_tokens: unknown }
}

/** The input texts of a call to the embeddings endpoint. Throws `GatewayError` (400) for lists of tokens, which few upstreams take. */
export function inputTexts(call: { member(key: string): unknown }): readonly string[] {
  const inputs = [call.member('input')].flat()
  if (inputs.every((input) => typeof input === 'string')) return inputs
  throw unsupportedParameter('input', 'It takes texts, and no lists of tokens: send the text itself.')
}

/** The result of a handler's `reply`. `vectors`: lists of numbers, as the upstream gave them; `tokens`: of all inputs, if reported. */
export function toEmbeddings(vectors: readonly unknown[], tokens?: unknown): TranslatedEmbeddings {
  return { data: vectors.map((embedding) => ({ embedding })), ...(tokens !== undefined && { usage: { prompt_tokens: tokens } }) }
}
