import { unsupportedParameter } from './faults.ts'

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
