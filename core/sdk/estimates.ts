import type { Call, EndpointName } from './call.ts'
import type { Host } from './host.ts'
import type { Rate } from './limits.ts'

/** The bytes of a token of most texts. */
export const BYTES_PER_TOKEN = 4

/** The tokens of a call's prompt, by the size of its body: one for each four bytes. */
export const promptEstimate = ({ size }: Pick<Call, 'size'>): number => Math.ceil(size / BYTES_PER_TOKEN)

/** What bounds the tokens of a prompt. */
export interface InputBounds {
  /** The fewest bytes of its body for a token, as long as they are not counted. */
  readonly bytesPerToken: number
  /** The largest price of one picture. */
  readonly picture: number
  /** All files of other kinds together. */
  readonly files: number
  /** All that the upstream keeps and adds to it, which is also what is taken for it where that is unknown. */
  readonly kept: number
}

/** The context window of the first models whose responses are kept (platform.openai.com/docs/models/gpt-4o, 2025-11). */
const USUAL_WINDOW = 128_000

/**
 * What a limit of tokens reserves (docs/decisions/reservations.md): a picture in the detail that most vendors use by default, and of what is kept at
 * most a tenth of the limit, so that a small limit allows calls.
 */
export const usualInput = ({ amount }: Rate): InputBounds => ({
  bytesPerToken: BYTES_PER_TOKEN,
  picture: 1600,
  files: 1600,
  kept: Math.min(USUAL_WINDOW, Math.floor(amount / 10)),
})

/**
 * The most tokens of a call's prompt, with its media, whether they are sent as data or by an address, and what its upstream keeps. `prompt`: the
 * tokens of its body, if they have been counted.
 */
export function inputEstimate(
  call: Pick<Call, 'endpoint' | 'member' | 'size' | 'large' | 'media' | 'keptTokens'>,
  { bytesPerToken, picture, files, kept }: InputBounds,
  prompt = bodyEstimate(call, bytesPerToken),
): number {
  const { media, keptTokens = kept } = call
  const added = media.pictures * picture + (media.files > 0 ? files : 0) + Math.min(keptTokens, kept)
  return prompt + queriesOf(call, bytesPerToken) + added
}

/** A list of tokens has as few as two bytes a token, a digit and a comma. */
function bodyEstimate(call: Pick<Call, 'endpoint' | 'member' | 'size' | 'large'>, bytesPerToken: number): number {
  const name = LISTS_OF_TOKENS[call.endpoint]
  const isText = name === undefined || (!call.large && !hasTokens(call.member(name)))
  return Math.ceil(call.size / (isText ? bytesPerToken : Math.min(2, bytesPerToken)))
}

/** The members that may be lists of tokens. */
const LISTS_OF_TOKENS: { readonly [Endpoint in EndpointName]?: string } = { embeddings: 'input', completions: 'prompt' }

const hasTokens = (input: unknown): boolean => Array.isArray(input) && [input[0]].flat().some((each) => typeof each === 'number')

/** A model that ranks documents reads the query with each of them. */
function queriesOf(call: Pick<Call, 'endpoint' | 'member' | 'size' | 'large'>, bytesPerToken: number): number {
  if (call.endpoint !== 'rerank') return 0
  return Math.ceil((Buffer.byteLength(String(call.member('query'))) * 2) / bytesPerToken) * documentsOf(call)
}

/** The documents of a rerank. Those of a large body are not parsed: each has at least three bytes. */
export function documentsOf(call: Pick<Call, 'member' | 'size' | 'large'>): number {
  if (call.large) return Math.ceil(call.size / 3)
  const documents = call.member('documents')
  return Array.isArray(documents) ? documents.length : 0
}

/** By endpoint, the members that cap the text of an answer. A call may have several of them: upstreams differ in which they read. */
const CAPS: { readonly [Endpoint in EndpointName]?: readonly string[] } = {
  'chat.completions': ['max_completion_tokens', 'max_tokens'],
  completions: ['max_tokens'],
  messages: ['max_tokens'],
  responses: ['max_output_tokens'],
}

/** Whether an upstream lets calls of an endpoint cap their answers. */
export const takesCap = ({ endpoint }: Pick<Call, 'endpoint'>): boolean => Object.hasOwn(CAPS, endpoint)

/** The tokens to which a call limits each text of its answer, by the largest of its caps; undefined if it has none. */
export function capOf(call: Pick<Call, 'endpoint' | 'member'>): number | undefined {
  let largest: number | undefined
  for (const name of CAPS[call.endpoint] ?? []) {
    const cap = call.member(name)
    if (typeof cap === 'number') largest = Math.max(cap, largest ?? cap)
  }
  return largest
}

/** The texts that a call lets the model write. */
export function textsOf(call: Pick<Call, 'endpoint' | 'member'>): number {
  if (call.endpoint !== 'chat.completions' && call.endpoint !== 'completions') return 1
  const prompts = call.endpoint === 'completions' ? promptsOf(call.member('prompt')) : 1
  // The vendor bills all candidates, and sends the best. vLLM knows that at chat completions too, where it is unchecked.
  return prompts * Math.max(countIn(call.member('n')), countIn(call.member('best_of')))
}

/** Servers in Python take a number in a text for the number. */
const countIn = (value: unknown): number => Math.max(1, Number(value) || 1)

/** The prompts of a text completion: each gets its own choices. */
export const promptsOf = (prompt: unknown): number =>
  Array.isArray(prompt) && typeof prompt[0] !== 'number' ? Math.max(1, prompt.length) : 1

/** The tokens that are reserved for a text without a cap, where nothing else says how many. */
export const UNCAPPED_ANSWER = 1024

/** What a limit of tokens reserves for an answer without a cap: at most a tenth of the limit, so that a small limit allows calls. */
export const uncappedAnswer = ({ amount }: Rate): number => Math.min(UNCAPPED_ANSWER, Math.floor(amount / 10))

/**
 * The most tokens of a picture that a model draws, three previews of 100 tokens included, by `quality`, of any size. Not confirmed: the tables of
 * developers.openai.com/api/docs/guides/image-generation could not be read on 2026-11-26. Its readers report 408, 1584 and 6240 tokens of
 * gpt-image-1 (community.openai.com/t/1275254), and of gpt-image-2 7024 for 1024 by 1024 pixels and 12,329 for 3584 by 2048 in high quality
 * (community.openai.com/t/1379464), hence at most 14,000 for its largest picture.
 */
const DRAWN: Readonly<Record<string, number>> = { low: 708, medium: 4000, high: 16_000 }

/** The same of any other quality: models choose it where a call does not, and GPT Image 2.5 has two above `high`, whose tokens are not known. */
const DRAWN_AT_MOST = 32_000

/** The pictures that a call asks for. */
export const picturesAsked = (call: Pick<Call, 'endpoint' | 'member'>): number =>
  call.endpoint.startsWith('images.') ? countIn(call.member('n')) : 0

/** The most tokens of a transcript: of OpenAI's models for it (developers.openai.com/api/docs/models/gpt-4o-transcribe, read 2026-11-26). */
const TRANSCRIPT = 2000

/** The most tokens of the sound of one byte of text, no vendor says: some 21 a second, at a quarter of the usual 15 characters a second. */
const SPEECH_PER_BYTE = 6

/** The most tokens that are reserved for a summary of a conversation, with the reasoning before it: no caller caps it. */
const SUMMARY = 16_000

/** What a model writes at most of one thing that is not capped: a summary, a picture, a transcript, speech. Absent: it writes nothing. */
const UNCAPPABLE: { readonly [Endpoint in EndpointName]?: (call: Pick<Call, 'member' | 'size'>) => number } = {
  'responses.compact': () => SUMMARY,
  'images.generations': drawnTokens,
  'images.edits': drawnTokens,
  'audio.transcriptions': () => TRANSCRIPT,
  'audio.translations': () => TRANSCRIPT,
  'audio.speech': ({ size }) => size * SPEECH_PER_BYTE,
}

function drawnTokens(call: Pick<Call, 'member'>): number {
  const quality = String(call.member('quality'))
  return Object.hasOwn(DRAWN, quality) ? DRAWN[quality]! : DRAWN_AT_MOST
}

/** All tokens that a call lets the model write. `uncapped`: the most of one text, or of one thing else, that the call does not cap. */
export function answerEstimate(call: Pick<Call, 'endpoint' | 'member' | 'size'>, uncapped = UNCAPPED_ANSWER): number {
  if (takesCap(call)) {
    const cap = Math.max(capOf(call) ?? uncapped, foreignCap(call))
    return (cap + thoughtsBeyond(call, cap)) * textsOf(call) + rejectedPrediction(call)
  }
  const most = UNCAPPABLE[call.endpoint]?.(call) ?? 0
  return Math.min(uncapped, most) * Math.max(1, picturesAsked(call))
}

/**
 * Claude may think beyond `max_tokens` between the calls of tools, if its number of tokens to think with is larger: "the token limit becomes your
 * entire context window" (docs.anthropic.com/en/docs/build-with-claude/extended-thinking, a copy read 2026-11-26). It is unclear to what; we take the sum.
 */
function thoughtsBeyond(call: Pick<Call, 'endpoint' | 'member'>, cap: number): number {
  if (call.endpoint !== 'messages') return 0
  const { budget_tokens: budget } = (call.member('thinking') ?? {}) as { readonly budget_tokens?: unknown }
  return typeof budget === 'number' && budget >= cap ? budget : 0
}

/** A cap by another endpoint's name: most upstreams ignore it, so it only counts where it is larger. */
function foreignCap(call: Pick<Call, 'endpoint' | 'member'>): number {
  const cap = call.endpoint === 'chat.completions' ? call.member('max_output_tokens') : undefined
  return typeof cap === 'number' ? cap : 0
}

/** What of a predicted answer the model does not use costs as much as what it writes. */
const rejectedPrediction = (call: Pick<Call, 'endpoint' | 'member' | 'size'>): number =>
  call.endpoint === 'chat.completions' && call.member('prediction') != null ? promptEstimate(call) : 0

/** Whether a call asks for sound, whose tokens cost more than those of text. */
export function asksForSound(call: Pick<Call, 'endpoint' | 'member'>): boolean {
  if (call.endpoint !== 'chat.completions') return call.endpoint === 'audio.speech'
  const modalities = call.member('modalities')
  return (Array.isArray(modalities) && modalities.includes('audio')) || call.member('audio') != null
}

/** Below this size of a body, in bytes, `promptEstimate` is close enough. Above, base64 of images makes it far too many. */
const COUNT_FROM = 4096

/** Whether counting the tokens of a call's prompt may give far fewer than `promptEstimate`. */
export const isWorthCounting = ({ size }: Pick<Call, 'size'>): boolean => size >= COUNT_FROM

/** Counts the tokens of a call's prompt, or estimates them if that fails. */
export async function countPrompt(call: Call, { countTokens, log }: Pick<Host, 'countTokens' | 'log'>): Promise<number> {
  try {
    return await countTokens(call)
  } catch (error) {
    log.warn({ call: call.id, error: String(error) }, 'tokens could not be counted; they are estimated by bytes')
    return promptEstimate(call)
  }
}
