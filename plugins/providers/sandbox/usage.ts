import type { Call, Usage } from 'unified-model-gateway/plugin'
import type { Answer } from './answer.ts'
import { textOf } from './prompt.ts'
import { countWords } from './words.ts'

/** What a call uses, in words: those of all messages, and the deltas of all choices. */
export function usageOf({ body, choices }: Call, { deltas }: Answer): Usage {
  const prompt = body.messages.reduce((sum, message) => sum + countWords(textOf(message)), 0)
  const completion = deltas.length * choices
  const reasoning = deltas.filter((delta) => 'reasoning_content' in delta).length * choices
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
}
