import type { Call } from './call.ts'
import type { Rate } from './limits.ts'

/** The members that cap an answer. A call may have several of them. */
const CAPS = ['max_completion_tokens', 'max_tokens', 'max_output_tokens'] as const

/**
 * All tokens that a call lets the model answer, as a limit of tokens reserves them: the largest of its caps, or `uncapped` if it sets
 * none, for each of its choices.
 */
export function answerTokens(call: Call, uncapped: number): number {
  if (call.endpoint === 'embeddings' || call.endpoint === 'messages.count_tokens') return 0
  const caps = CAPS.map((name) => call.member(name)).filter((cap) => typeof cap === 'number')
  const choices = call.member('n')
  return Math.max(0, ...(caps.length > 0 ? caps : [uncapped])) * (typeof choices === 'number' ? Math.max(1, choices) : 1)
}

const UNCAPPED = 1024

/** What is reserved for an answer without a cap: at most a tenth of the limit, so that a small limit allows calls. */
export const uncappedAnswer = ({ amount }: Rate): number => Math.min(UNCAPPED, Math.floor(amount / 10))
