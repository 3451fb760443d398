import type { ChatCompletion, ChatDelta, FinishReason, Usage } from './chat.ts'
import { unsupportedParameter } from './parameters.ts'

/** Replies as translators give them: OpenAI's shape, less what core's normaliser fills in. */

/** A chunk as a translator gives it; core's normaliser sets id, created, model, role, tool indexes and the place of usage. */
export interface TranslatedChunk {
  readonly choices: readonly TranslatedChoice[]
  readonly usage?: Usage
  readonly id?: string
  /** Fields that only this upstream has: they are kept. */
  readonly [key: string]: unknown
}

/** One choice of a chunk. */
export interface TranslatedChoice {
  readonly index?: number
  readonly delta?: ChatDelta
  /** A word that is not in the enum becomes `stop`. */
  readonly finish_reason?: FinishReason | (string & {}) | null
  readonly [key: string]: unknown
}

/** A completion as a translator gives it; core sets model, created where absent, and the fields every message must have. */
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
    /** A word that is not in the enum becomes `stop`. */
    readonly finish_reason: FinishReason | (string & {})
    readonly [key: string]: unknown
  }[]
  readonly usage?: Usage
  readonly [key: string]: unknown
}

/** What a provider makes of an upstream's embeddings. Core checks it, and writes OpenAI's reply in the encoding asked for. */
export interface TranslatedEmbeddings {
  /** One for each input, in the order of the inputs. */
  readonly data: readonly { readonly embedding: unknown }[]
  /** Absent: the upstream does not say. */
  readonly usage?: { readonly prompt_tokens: unknown }
}

/**
 * The texts that a call to the embeddings endpoint wants vectors of, for an upstream that takes nothing else. Throws `GatewayError`
 * (400) where they are lists of tokens.
 */
export function inputTexts(call: { member(key: string): unknown }): readonly string[] {
  const inputs = [call.member('input')].flat()
  if (inputs.every((input) => typeof input === 'string')) return inputs
  throw unsupportedParameter('input', 'It takes texts, and no lists of tokens: send the text itself.')
}

/** What an operation's `reply` returns. `vectors`: lists of numbers, as the upstream gave them; `tokens`: of all inputs, where it said. */
export function toEmbeddings(vectors: readonly unknown[], tokens?: unknown): TranslatedEmbeddings {
  return { data: vectors.map((embedding) => ({ embedding })), ...(tokens !== undefined && { usage: { prompt_tokens: tokens } }) }
}
