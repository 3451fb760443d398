import type { ChatRequest, Provider, TranslatedChunk, TranslatedCompletion } from 'unified-model-gateway/plugin'

/**
 * A difference of a vendor's API from OpenAI's, and its correction. All functions are optional: without `stream` and `completion` replies
 * are relayed byte for byte, and without `request` requests are never parsed.
 */
export interface Quirk {
  /** Its name in docs/presets.md. */
  readonly name: string
  /** A body with none of these as a name or a text needs no change by `request`: it is not parsed. Absent: any body may need one. */
  readonly concerns?: readonly string[]
  /** The top-level members of the request to replace, or by `undefined` to remove. `body`: as changed by the quirks before it. */
  request?(body: Readonly<ChatRequest>): Readonly<Record<string, unknown>>
  /** Parameters inside messages that `request` leaves out of a body, by the names of `droppedInside`: the client is told. */
  lost?(body: Readonly<ChatRequest>): readonly string[]
  /** Called once per stream; returns the function for its chunks, in order. */
  stream?(): (chunk: TranslatedChunk) => TranslatedChunk
  completion?(completion: TranslatedCompletion): TranslatedCompletion
  /** Reads an error body that is not OpenAI's. */
  readonly error?: NonNullable<Provider['error']>
}
