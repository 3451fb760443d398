import { chunk, isRecord, type TranslatedChunk, type UpstreamEvent } from 'unified-model-gateway/plugin'
import { callId, idBase } from './call-ids.ts'
import { candidatesOf, type Piece, piecesOf } from './candidate.ts'
import { toFinishReason } from './finish.ts'
import { toLogprobs } from './logprobs.ts'
import { readReply } from './refusal.ts'
import { toFreight } from './signatures.ts'
import { toUsage } from './usage.ts'
import type { Candidate, WireUsage } from './wire.ts'

/** A choice under way. */
interface Choice {
  calls: number
  /** Whether a call of it has a signature: of parallel calls one is enough. */
  signed: boolean
  finishReason?: unknown
}

/**
 * Turns the events of `:streamGenerateContent?alt=sse` into chunks. Each event is a reply of its own, whose text is to be appended;
 * function calls come whole. Nothing but the end of the body marks the end, and more may come after a `finishReason`.
 */
export class GenerateStream {
  readonly #asked: number
  readonly #choices = new Map<number, Choice>()
  #idBase: string | undefined
  #usage: WireUsage = {}
  #blocked = false

  /** `choices`: how many the client asked for. */
  constructor({ choices }: { readonly choices: number }) {
    this.#asked = choices
  }

  /** Throws `UpstreamError` for an error in an event's place and where the model failed, `Error` for what is no event. */
  *event({ data }: UpstreamEvent): Generator<TranslatedChunk> {
    const event = readReply(JSON.parse(data))
    // Cumulative, and not every event tells all of it.
    if (isRecord(event.usageMetadata)) this.#usage = { ...this.#usage, ...event.usageMetadata }
    if (event.promptFeedback?.blockReason != null) this.#blocked = true
    if (this.#idBase === undefined) {
      this.#idBase = idBase(event.responseId)
      if (typeof event.responseId === 'string') yield { id: event.responseId, choices: [] }
    }
    for (const { index, candidate } of candidatesOf(event.candidates)) yield* this.#candidate(index, candidate)
  }

  /** The finishes. A choice that has none was cut off, which core tells from its absence. */
  *end(): Generator<TranslatedChunk> {
    for (const [index, { calls, finishReason }] of this.#choices) {
      if (finishReason !== undefined) yield chunk.finish(toFinishReason(finishReason, calls), index)
    }
    if (this.#blocked && this.#choices.size === 0) {
      for (let index = 0; index < this.#asked; index++) yield chunk.finish('content_filter', index)
    }
    const usage = toUsage(this.#usage)
    if (usage !== undefined) yield chunk.usage(usage)
  }

  *#candidate(index: number, candidate: Candidate): Generator<TranslatedChunk> {
    const choice = this.#choices.get(index) ?? { calls: 0, signed: false }
    this.#choices.set(index, choice)
    let logprobs = toLogprobs(candidate.logprobsResult)
    for (const piece of piecesOf(candidate)) {
      for (const part of this.#piece(piece, choice, index)) {
        yield logprobs === undefined ? part : { choices: part.choices.map((one) => ({ ...one, logprobs })) }
        logprobs = undefined
      }
    }
    if (candidate.finishReason == null) return
    choice.finishReason = candidate.finishReason
    // A failure is told at once: what is under way to the client is of no use.
    toFinishReason(candidate.finishReason, choice.calls)
  }

  *#piece(piece: Piece, choice: Choice, index: number): Generator<TranslatedChunk> {
    switch (piece.kind) {
      case 'text':
        yield chunk.content(piece.text, index)
        break
      case 'thought':
        yield chunk.reasoning(piece.text, index)
        break
      case 'image':
        yield { choices: [{ index, delta: { images: [{ type: 'image_url', image_url: { url: piece.url } }] } }] }
        break
      case 'call':
        yield* this.#call(piece, choice, index)
        break
      case 'signature':
        if (choice.calls === 0 || choice.signed) break
        choice.signed = true
        yield { choices: [{ index, delta: { tool_calls: [{ index: 0, ...toFreight(piece.signature) }] } }] }
    }
  }

  *#call(piece: Extract<Piece, { kind: 'call' }>, choice: Choice, choiceIndex: number): Generator<TranslatedChunk> {
    const index = choice.calls++
    choice.signed ||= piece.signature !== undefined
    const id = piece.id ?? callId(this.#idBase!, choiceIndex, index)
    yield chunk.toolCall({ index, id, name: piece.name, ...toFreight(piece.signature) }, choiceIndex)
    yield chunk.toolArguments(index, piece.json, choiceIndex)
  }
}
