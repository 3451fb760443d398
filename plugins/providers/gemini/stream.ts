import {
  type Call,
  chunk,
  isRecord,
  KeptText,
  type TranslatedChunk,
  type TranslatedCompletion,
  type Translator,
  type UpstreamEvent,
} from 'unified-model-gateway/plugin'
import { toThinkingState } from './reasoning.ts'
import { readReply } from './refusal.ts'
import {
  callId,
  callIdBase,
  candidatesOf,
  expectAnswer,
  hasParts,
  type Piece,
  piecesOf,
  toCompletion,
  toFinishReason,
  toLogprobs,
  toServedTier,
  toSources,
  toUsage,
  usageOf,
} from './reply.ts'
import type { Candidate, WireUsage } from './wire.ts'

/** A choice that has not ended. */
interface OpenChoice {
  calls: number
  hasParts: boolean
  /** The answer, if it may have sources. */
  said: string
  /** Whether one of its calls has a signature: of parallel calls only one has. */
  signed: boolean
  finishReason?: unknown
}

/**
 * Translates the reply to `:generateContent` or `:streamGenerateContent?alt=sse`. Each event is a reply, whose text is appended; function calls are not split.
 * Only the end of the body ends the stream: events may follow a `finishReason`.
 */
export class GenerateTranslator implements Translator {
  readonly #requestedChoices: number
  readonly #searches: boolean
  readonly #kept = new KeptText()
  readonly #choices = new Map<number, OpenChoice>()
  #idBase: string | undefined
  #usage: WireUsage = {}
  #blocked = false

  constructor({ choices, keys }: Pick<Call, 'choices' | 'keys'>) {
    this.#requestedChoices = choices
    this.#searches = keys.includes('web_search_options')
  }

  completion(body: unknown): TranslatedCompletion {
    return toCompletion(body)
  }

  usage(body: unknown): unknown {
    return usageOf(body)
  }

  /** Throws `UpstreamError` for an error and if the model failed, `Error` for an invalid event. */
  *event({ data }: UpstreamEvent): Generator<TranslatedChunk> {
    const event = readReply(JSON.parse(data))
    // Cumulative, but an event may omit some counts.
    if (isRecord(event.usageMetadata)) this.#usage = { ...this.#usage, ...event.usageMetadata }
    if (event.promptFeedback?.blockReason != null) this.#blocked = true
    if (this.#idBase === undefined) {
      this.#idBase = callIdBase(event.responseId)
      if (typeof event.responseId === 'string') yield { id: event.responseId, choices: [] }
    }
    for (const { index, candidate } of candidatesOf(event.candidates)) yield* this.#candidate(index, candidate)
    const usage = event.usageMetadata == null ? undefined : toUsage(this.#usage)
    if (usage !== undefined) yield { ...chunk.usage(usage), ...toServedTier(this.#usage) }
  }

  /** The finishes. Core treats a choice without one as cut off. */
  *end(): Generator<TranslatedChunk> {
    for (const [index, { calls, hasParts, finishReason }] of this.#choices) {
      if (finishReason === undefined) continue
      const finish = toFinishReason(finishReason, calls)
      expectAnswer(finish, hasParts)
      yield chunk.finish(finish, index)
    }
    if (this.#blocked && this.#choices.size === 0) {
      for (let index = 0; index < this.#requestedChoices; index++) yield chunk.finish('content_filter', index)
    }
  }

  *#candidate(index: number, candidate: Candidate): Generator<TranslatedChunk> {
    const choice = this.#choices.get(index) ?? { calls: 0, hasParts: false, said: '', signed: false }
    this.#choices.set(index, choice)
    choice.hasParts ||= hasParts(candidate)
    let logprobs = toLogprobs(candidate.logprobsResult)
    for (const piece of piecesOf(candidate)) {
      for (const part of this.#piece(piece, choice, index)) {
        yield logprobs === undefined ? part : { choices: part.choices.map((one) => ({ ...one, logprobs })) }
        logprobs = undefined
      }
    }
    const sources = this.#searches ? toSources(candidate.groundingMetadata, choice.said) : []
    if (sources.length > 0) yield chunk.annotations(sources, index)
    if (candidate.finishReason == null) return
    choice.finishReason = candidate.finishReason
    // Throws at once if the model failed: the client cannot use what follows.
    toFinishReason(candidate.finishReason, choice.calls)
  }

  *#piece(piece: Piece, choice: OpenChoice, index: number): Generator<TranslatedChunk> {
    switch (piece.kind) {
      case 'text':
        if (this.#searches) choice.said += this.#kept.add(piece.text)
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
        yield { choices: [{ index, delta: { tool_calls: [{ index: 0, ...toThinkingState(piece.signature) }] } }] }
    }
  }

  *#call(piece: Extract<Piece, { kind: 'call' }>, choice: OpenChoice, choiceIndex: number): Generator<TranslatedChunk> {
    const index = choice.calls++
    choice.signed ||= piece.signature !== undefined
    const id = piece.id ?? callId(this.#idBase!, choiceIndex, index)
    yield chunk.toolCall({ index, id, name: piece.name, ...toThinkingState(piece.signature) }, choiceIndex)
    yield chunk.toolArguments(index, piece.json, choiceIndex)
  }
}
