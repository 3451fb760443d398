import { randomUUID } from 'node:crypto'
import {
  countOf,
  expectArguments,
  expectName,
  expectObject,
  expectObjects,
  expectText,
  type FinishReason,
  isCount,
  isRecord,
  servedTier,
  type ToolCall,
  type TranslatedCompletion,
  textOf,
  toTokenLogprob,
  UpstreamError,
  type UrlCitation,
  type Usage,
  urlCitation,
} from 'unified-model-gateway/plugin'
import { toThinkingState } from './reasoning.ts'
import { readReply } from './refusal.ts'
import type { Candidate, ReplyPart, WireUsage } from './wire.ts'

type Choice = TranslatedCompletion['choices'][number]

/** Translates a whole reply to a completion. Throws `UpstreamError` for an error, `Error` for any other body. */
export function toCompletion(body: unknown): TranslatedCompletion {
  const reply = readReply(body)
  const id = typeof reply.responseId === 'string' ? reply.responseId : undefined
  const base = callIdBase(id)
  const choices = candidatesOf(reply.candidates).map(({ index, candidate }) => toChoice(candidate, base, index))
  const isBlocked = reply.promptFeedback?.blockReason != null
  if (choices.length === 0 && !isBlocked) throw new Error('The reply has no candidates.')
  return {
    ...(id && { id }),
    choices: choices.length > 0 ? choices : [BLOCKED],
    usage: toUsage(isRecord(reply.usageMetadata) ? reply.usageMetadata : {}),
    ...toServedTier(reply.usageMetadata),
  }
}

/** Google refused the prompt. */
const BLOCKED: Choice = { message: { content: '' }, finish_reason: 'content_filter' }

function toChoice(candidate: Candidate, base: string, index: number): Choice {
  const pieces = piecesOf(candidate)
  const finish = toFinishReason(candidate.finishReason, pieces.filter(({ kind }) => kind === 'call').length)
  expectAnswer(finish, hasParts(candidate))
  const calls = toToolCalls(pieces, (call) => callId(base, index, call))
  const text = joinTexts(pieces, 'text')
  const thought = joinTexts(pieces, 'thought')
  const images = pieces.flatMap((piece) => (piece.kind === 'image' ? [{ type: 'image_url', image_url: { url: piece.url } }] : []))
  const logprobs = toLogprobs(candidate.logprobsResult)
  const sources = toSources(candidate.groundingMetadata, text)
  return {
    message: {
      content: text === '' && calls.length > 0 ? null : text,
      ...(thought && { reasoning_content: thought }),
      ...(images.length > 0 && { images }),
      ...(sources.length > 0 && { annotations: sources }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
    finish_reason: finish,
    ...(logprobs && { logprobs }),
  }
}

/** The texts of all pieces of one kind, without separators. */
function joinTexts(pieces: readonly Piece[], kind: 'text' | 'thought'): string {
  return pieces.map((piece) => (piece.kind === kind ? piece.text : '')).join('')
}

function toToolCalls(pieces: readonly Piece[], idOf: (call: number) => string): ToolCall[] {
  const calls: ToolCall[] = []
  let isSigned = false
  for (const piece of pieces) {
    if (piece.kind === 'call') {
      const called = { name: piece.name, arguments: piece.json }
      isSigned ||= piece.signature !== undefined
      calls.push({ id: piece.id ?? idOf(calls.length), type: 'function', function: called, ...toThinkingState(piece.signature) })
    } else if (piece.kind === 'signature' && calls.length > 0 && !isSigned) {
      isSigned = true
      Object.assign(calls[0]!, toThinkingState(piece.signature))
    }
  }
  return calls
}

/** A part of a candidate, as far as clients can receive it. */
export type Piece =
  | { readonly kind: 'text' | 'thought'; readonly text: string }
  | { readonly kind: 'call'; readonly id?: string; readonly name: string; readonly json: string; readonly signature?: string }
  /** `url`: a data URL. */
  | { readonly kind: 'image'; readonly url: string }
  /** The signature of a part other than a call: it may belong to the calls before it. */
  | { readonly kind: 'signature'; readonly signature: string }

/** The candidates of a reply or an event, with the index of their choice. */
export function candidatesOf(candidates: unknown): { readonly index: number; readonly candidate: Candidate }[] {
  const all: readonly Candidate[] = expectObjects(candidates, 'candidates')
  return all.map((candidate) => ({ index: toIndex(candidate.index), candidate }))
}

/** OpenAI's maximum, which no Gemini reaches. */
const MAX_CHOICES = 128

/** Google omits an index of 0. */
function toIndex(index: unknown): number {
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < MAX_CHOICES ? index : 0
}

/** The pieces of a candidate, in order. Throws an Error for parts that are none. */
export function piecesOf({ content }: Candidate): Piece[] {
  return expectObjects(expectObject(content, 'content')?.parts, 'parts').flatMap(toPieces)
}

function toPieces({ text, thought, thoughtSignature, functionCall, inlineData }: ReplyPart): Piece[] {
  const signature = textOf(thoughtSignature) || undefined
  const called = expectObject(functionCall, 'functionCall')
  if (called !== undefined) {
    const { id, name, args, ...others } = called
    const call = { name: expectName(name), json: expectArguments(args, others) }
    return [{ kind: 'call', ...(textOf(id) && { id: textOf(id) }), ...call, ...(signature && { signature }) }]
  }
  const words = expectText(text, 'a text')
  if (thought === true) return words ? [{ kind: 'thought', text: words }] : []
  if (thought != null && thought !== false) throw new Error('unknown shape: thought')
  const media = expectObject(inlineData, 'inlineData')
  return [
    ...(words ? [{ kind: 'text' as const, text: words }] : []),
    ...(media ? toImage(media) : []),
    ...(signature ? [{ kind: 'signature' as const, signature }] : []),
  ]
}

function toImage({ mimeType, data }: NonNullable<ReplyPart['inlineData']>): Piece[] {
  if (typeof mimeType !== 'string' || typeof data !== 'string' || !mimeType.startsWith('image/')) return []
  return [{ kind: 'image', url: `data:${mimeType};base64,${data}` }]
}

/** OpenAI refuses an id of more than 40 characters, which a client might send it in its next turn. */
const SHORT_ID = /^[\w-]{1,24}$/

/** The common part of the ids of a reply's function calls, which Google may omit: the same for the same reply, different for any other. */
export function callIdBase(responseId: unknown): string {
  return typeof responseId === 'string' && SHORT_ID.test(responseId) ? responseId : randomUUID().slice(0, 23)
}

/** The id of a function call, by the numbers of its choice and of the call in it, both from 0. */
export function callId(base: string, choice: number, call: number): string {
  return `call_${base}_${choice}_${call}`
}

const FINISH_REASONS: ReadonlyMap<unknown, FinishReason> = new Map([
  ['STOP', 'stop'],
  ['OTHER', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['CONTINUATION', 'length'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['LANGUAGE', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['IMAGE_SAFETY', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['IMAGE_RECITATION', 'content_filter'],
  ['IMAGE_OTHER', 'content_filter'],
] satisfies [string, FinishReason][])

/** The model's output was malformed: it has nothing for the client, and another attempt may succeed. */
const FAILED: ReadonlySet<unknown> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
])

/**
 * Google's `finishReason` as OpenAI's `finish_reason`; an unknown reason is `length`. A candidate with function calls ends with `STOP` too:
 * `calls` is their number. Throws `UpstreamError` if the model failed, `Error` for what is not a text.
 */
export function toFinishReason(reason: unknown, calls: number): FinishReason {
  if (FAILED.has(reason)) throw new UpstreamError({ status: 500, message: `Gemini ended with ${reason}.` })
  const finish = FINISH_REASONS.get(expectText(reason, 'finishReason') || 'STOP') ?? 'length'
  return finish === 'stop' && calls > 0 ? 'tool_calls' : finish
}

/** Throws an Error for an end that says that the answer is whole, without any part before it: an empty text would be one. */
export function expectAnswer(finish: FinishReason, hasParts: boolean): void {
  if (finish === 'stop' && !hasParts) throw new Error('The candidate has no parts.')
}

/** Whether a candidate has a part of a known kind, if only an empty one. */
export const hasParts = ({ content }: Candidate): boolean => {
  const parts: readonly ReplyPart[] = expectObjects(expectObject(content, 'content')?.parts, 'parts')
  return parts.some(
    ({ text, functionCall, inlineData, thoughtSignature }) => (text ?? functionCall ?? inlineData ?? thoughtSignature) != null,
  )
}

/** A candidate's `logprobsResult` as a choice's `logprobs`; undefined if absent. */
export function toLogprobs(result: unknown): object | undefined {
  if (!isRecord(result) || !Array.isArray(result.chosenCandidates)) return undefined
  const tops = Array.isArray(result.topCandidates) ? result.topCandidates : []
  const content = result.chosenCandidates.map((chosen, index) => {
    const top: unknown = tops[index]
    const alternatives = isRecord(top) && Array.isArray(top.candidates) ? top.candidates : []
    return { ...toToken(chosen), top_logprobs: alternatives.map(toToken) }
  })
  return { content, refusal: null }
}

function toToken(candidate: unknown) {
  const { token, logProbability } = isRecord(candidate) ? candidate : {}
  return toTokenLogprob(token, logProbability)
}

/** The most sources of an answer: each is looked up in its text. */
const MOST_SOURCES = 200

/** The sources of an answer's text. Google counts bytes of single parts: each piece is looked up in the text, in the order of the pieces. */
export function toSources(found: Candidate['groundingMetadata'], text: string): readonly UrlCitation[] {
  const { groundingChunks: pages, groundingSupports: supports } = isRecord(found) ? found : {}
  if (!Array.isArray(pages) || !Array.isArray(supports)) return []
  let from = 0
  const sources = supports.slice(0, MOST_SOURCES).flatMap((support) => {
    const { segment, groundingChunkIndices: indices } = isRecord(support) ? support : {}
    const piece = isRecord(segment) ? textOf(segment.text) : ''
    const start = piece === '' ? -1 : text.indexOf(piece, from)
    if (start < 0 || !Array.isArray(indices)) return []
    from = start
    return indices.slice(0, MOST_SOURCES).flatMap((index) => {
      const page: unknown = pages[index]
      const { uri, title } = isRecord(page) && isRecord(page.web) ? page.web : {}
      return urlCitation(start, start + piece.length, uri, title)
    })
  })
  return sources.slice(0, MOST_SOURCES)
}

/** OpenAI's names of the modalities that it counts separately. */
const MODALITIES: ReadonlyMap<unknown, string> = new Map([
  ['TEXT', 'text_tokens'],
  ['IMAGE', 'image_tokens'],
  ['AUDIO', 'audio_tokens'],
])

/** The usage of a reply, or of an event, that could not be translated. */
export const usageOf = (reply: unknown): Partial<Usage> | undefined =>
  isRecord(reply) && isRecord(reply.usageMetadata) ? toUsage(reply.usageMetadata) : undefined

/** Google counts thoughts and the results of its own tools separately; OpenAI's sums include them. Undefined if no counts were reported. */
export function toUsage(usage: WireUsage): Partial<Usage> | undefined {
  const { promptTokenCount, candidatesTokenCount } = usage
  if (promptTokenCount === undefined && candidatesTokenCount === undefined) return undefined
  const reasoning = countOf(usage.thoughtsTokenCount)
  const prompt = isCount(promptTokenCount) ? promptTokenCount + countOf(usage.toolUsePromptTokenCount) : undefined
  // Google omits what is 0.
  const completion = isCount(candidatesTokenCount ?? 0) ? countOf(candidatesTokenCount) + reasoning : undefined
  const cachedAudio = byModality(usage.cacheTokensDetails).audio_tokens
  return {
    ...(prompt !== undefined && { prompt_tokens: prompt }),
    ...(completion !== undefined && { completion_tokens: completion }),
    ...(prompt !== undefined && completion !== undefined && { total_tokens: prompt + completion }),
    prompt_tokens_details: {
      ...byModality(usage.promptTokensDetails),
      cached_tokens: countOf(usage.cachedContentTokenCount),
      ...(cachedAudio !== undefined && { cached_audio_tokens: cachedAudio }),
    },
    completion_tokens_details: { ...byModality(usage.candidatesTokensDetails), reasoning_tokens: reasoning },
  }
}

/** The tier that served a call: the Gemini API and Vertex AI tell it in different members. What was bought in advance is not a tier of a price. */
export function toServedTier(usage: WireUsage | null | undefined): { readonly service_tier?: string } {
  const { serviceTier, trafficType } = isRecord(usage) ? usage : {}
  return servedTier(serviceTier ?? TRAFFIC.get(trafficType))
}

/** `TrafficType` of @google/genai 3.1. */
const TRAFFIC: ReadonlyMap<unknown, string> = new Map([
  ['ON_DEMAND', 'default'],
  ['ON_DEMAND_FLEX', 'flex'],
  ['ON_DEMAND_PRIORITY', 'priority'],
])

function byModality(details: unknown): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const detail of Array.isArray(details) ? details.filter(isRecord) : []) {
    const name = MODALITIES.get(detail.modality)
    if (name !== undefined) counts[name] = countOf(detail.tokenCount)
  }
  return counts
}
