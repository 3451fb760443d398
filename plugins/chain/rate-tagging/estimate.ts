import type { Call, Host, Outcome } from 'unified-model-gateway/plugin'

/** Below this size a quarter of the bytes is close enough. Above, base64 of images makes it far too many. */
const COUNT_FROM = 4096
const BYTES_PER_TOKEN = 4

/** Whether counting the prompt could bring the estimate by bytes below `tokens`. */
export const worthCounting = (call: Call, tokens: number): boolean => call.size >= COUNT_FROM && answerTokens(call) < tokens

/** The prompt's tokens by its bytes, and all that the call lets the model answer: costs nothing. */
export const estimateByBytes = (call: Call): number => promptByBytes(call) + answerTokens(call)

/** The prompt's tokens as a thread counts them, and all that the call lets the model answer. */
export const estimateByCount = async (call: Call, host: Host): Promise<number> =>
  (await countPrompt(call, host)) + answerTokens(call)

/** Tokens to charge: what the upstream said, or an estimate where it took the call and never said. */
export function charged({ usage, usageEstimated }: Outcome, call: Call, host: Host): number | Promise<number> {
  if (usage === undefined) return 0
  return usageEstimated ? countPrompt(call, host).then((prompt) => prompt + usage.completion_tokens) : usage.total_tokens
}

const promptByBytes = (call: Call): number => Math.ceil(call.size / BYTES_PER_TOKEN)

function answerTokens(call: Call): number {
  const cap = call.member('max_completion_tokens') ?? call.member('max_tokens') ?? call.member('max_output_tokens')
  return typeof cap === 'number' ? Math.max(0, cap) : 0
}

async function countPrompt(call: Call, host: Host): Promise<number> {
  try {
    return await host.countTokens(call)
  } catch (error) {
    host.log.warn({ call: call.id, error: String(error) }, 'tokens could not be counted; they are estimated by bytes')
    return promptByBytes(call)
  }
}
