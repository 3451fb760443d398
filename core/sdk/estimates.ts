import type { Call, EndpointName } from './call.ts'
import type { Host } from './host.ts'
import type { Rate } from './limits.ts'

const BYTES_PER_TOKEN = 4

/** The tokens of a call's prompt, by the size of its body: one for each four bytes. */
export const promptEstimate = ({ size }: Pick<Call, 'size'>): number => Math.ceil(size / BYTES_PER_TOKEN)

/** The members that cap an answer. A call may have several of them. */
const CAPS = ['max_completion_tokens', 'max_tokens', 'max_output_tokens'] as const

/** The tokens that are reserved for the answer of a call that sets no cap, where nothing else says how many. */
export const UNCAPPED_ANSWER = 1024

/** What a limit of tokens reserves for an answer without a cap: at most a tenth of the limit, so that a small limit allows calls. */
export const uncappedAnswer = ({ amount }: Rate): number => Math.min(UNCAPPED_ANSWER, Math.floor(amount / 10))

/** Their models write nothing, or nothing that tokens measure. */
const WITHOUT_ANSWER: ReadonlySet<EndpointName> = new Set([
  'embeddings',
  'messages.count_tokens',
  'moderations',
  'audio.speech',
  'rerank',
])

/** All tokens that a call lets the model answer: the largest of its caps, or `uncapped`, for each of its choices. */
export function answerEstimate(call: Pick<Call, 'endpoint' | 'member'>, uncapped = UNCAPPED_ANSWER): number {
  if (WITHOUT_ANSWER.has(call.endpoint)) return 0
  const caps = CAPS.map((name) => call.member(name)).filter((cap) => typeof cap === 'number')
  const choices = call.member('n')
  return Math.max(0, ...(caps.length > 0 ? caps : [uncapped])) * (typeof choices === 'number' ? Math.max(1, choices) : 1)
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
