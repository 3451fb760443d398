import {
  type FinishReason,
  type TranslatedChoice,
  type TranslatedChunk,
  UpstreamError,
  type UpstreamRefusal,
  type Usage,
} from 'unified-model-gateway/plugin'
import type { Quirk } from './quirk.ts'

/**
 * The content of a reasoning model is a list of parts, `text` and `thinking`, instead of a text. Every reply that is translated is read so
 * (docs/decisions/shapes-of-replies.md); with this quirk, chat completions are translated too.
 */
export const thinkingParts: Quirk = {
  name: 'thinking-parts',

  stream: () => (chunk) => chunk,
  completion: (completion) => completion,
}

/** A vendor's own finish reasons: OpenAI's equivalents, or the refusal for a failed generation. */
type FinishTable = Readonly<Record<string, FinishReason | UpstreamRefusal>>

/** The vendor has finish reasons that OpenAI does not define. */
export function finishReasons(table: FinishTable): Quirk {
  const meanings = new Map(Object.entries(table))
  const translate = <Choice extends { readonly finish_reason?: string | null }>(choice: Choice): Choice => {
    const meaning = meanings.get(choice.finish_reason ?? '')
    if (typeof meaning === 'object') throw new UpstreamError(meaning)
    return meaning === undefined ? choice : { ...choice, finish_reason: meaning }
  }
  return {
    name: 'finish-reasons',
    stream: () => (chunk: TranslatedChunk) => ({ ...chunk, choices: chunk.choices.map(translate) }),
    completion: (completion) => ({ ...completion, choices: completion.choices.map(translate) }),
  }
}

/**
 * The vendor reports usage in a chunk with a choice, or inside the choice, instead of in a last chunk. Usage inside a choice is moved to its
 * chunk; core's normaliser moves a chunk's usage to the last one.
 */
export const usageInsideChunks: Quirk = {
  name: 'usage-inside-chunks',

  stream: () => liftUsage,
}

function liftUsage(chunk: TranslatedChunk): TranslatedChunk {
  const usage = chunk.choices.find(isCharged)?.usage
  if (usage === undefined) return chunk
  return { usage, ...chunk, choices: chunk.choices.map(({ usage: _, ...choice }) => choice) }
}

const isCharged = (choice: TranslatedChoice): choice is TranslatedChoice & { usage: Usage } =>
  typeof choice.usage === 'object' && choice.usage !== null

/** The vendor reports the cached tokens of the prompt next to the counts, not in their details. */
export const cachedTokens: Quirk = {
  name: 'cached-tokens',

  stream: () => moveCachedTokens,
  completion: moveCachedTokens,
}

function moveCachedTokens<Reply extends { readonly usage?: Partial<Usage> }>(reply: Reply): Reply {
  const { usage } = reply
  if (typeof usage?.cached_tokens !== 'number' || usage.prompt_tokens_details?.cached_tokens !== undefined) return reply
  const details = { ...usage.prompt_tokens_details, cached_tokens: usage.cached_tokens }
  return { ...reply, usage: { ...usage, prompt_tokens_details: details } }
}

/** The vendor's `completion_tokens` exclude reasoning, which OpenAI's include. The total shows whether a usage does. */
export const uncountedReasoning: Quirk = {
  name: 'uncounted-reasoning',

  stream: () => includeReasoning,
  completion: includeReasoning,
}

function includeReasoning<Reply extends { readonly usage?: Partial<Usage> }>(reply: Reply): Reply {
  const { usage } = reply
  const reasoning = usage?.completion_tokens_details?.reasoning_tokens
  const { prompt_tokens, completion_tokens: counted, total_tokens } = usage ?? {}
  if (prompt_tokens === undefined || counted === undefined || typeof reasoning !== 'number') return reply
  const completion_tokens = counted + reasoning
  if (total_tokens !== prompt_tokens + completion_tokens) return reply
  return { ...reply, usage: { ...usage, completion_tokens } }
}
