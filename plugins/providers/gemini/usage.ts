import { isRecord, type Usage } from 'unified-model-gateway/plugin'
import type { WireUsage } from './wire.ts'

/** OpenAI's names of the modalities it counts by themselves. */
const MODALITIES: ReadonlyMap<unknown, string> = new Map([
  ['TEXT', 'text_tokens'],
  ['IMAGE', 'image_tokens'],
  ['AUDIO', 'audio_tokens'],
])

/** Google counts thoughts and the results of its own tools by themselves; OpenAI's sums include them. Undefined where nothing was told. */
export function toUsage(usage: WireUsage): Usage | undefined {
  if (usage.promptTokenCount === undefined && usage.candidatesTokenCount === undefined) return undefined
  const prompt = count(usage.promptTokenCount) + count(usage.toolUsePromptTokenCount)
  const reasoning = count(usage.thoughtsTokenCount)
  const completion = count(usage.candidatesTokenCount) + reasoning
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { ...byModality(usage.promptTokensDetails), cached_tokens: count(usage.cachedContentTokenCount) },
    completion_tokens_details: { ...byModality(usage.candidatesTokensDetails), reasoning_tokens: reasoning },
  }
}

function byModality(details: unknown): Record<string, number> {
  const counted: Record<string, number> = {}
  for (const detail of Array.isArray(details) ? details.filter(isRecord) : []) {
    const name = MODALITIES.get(detail.modality)
    if (name !== undefined) counted[name] = count(detail.tokenCount)
  }
  return counted
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}
