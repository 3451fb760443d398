import type { Usage } from '../../sdk/api.ts'
import { readUsage } from '../usage.ts'

/** The usage of images and audio, as OpenAI writes it. Some endpoints name the details of the input in the singular. */
interface MediaUsage {
  readonly input_tokens?: unknown
  readonly output_tokens?: unknown
  readonly total_tokens?: unknown
  readonly input_tokens_details?: object
  readonly input_token_details?: object
  readonly output_tokens_details?: object
}

/**
 * Reads the usage of a reply by the names of chat completions, which limits, metrics, prices and usage rows use. `output`: what the model
 * generates, unless the upstream reports details. Undefined for a usage in seconds, and without one.
 */
export function mediaUsage(reply: object, output?: 'audio_tokens' | 'image_tokens'): Usage | undefined {
  const { usage } = reply as { readonly usage?: MediaUsage | null }
  if (typeof usage !== 'object' || usage === null) return undefined
  const { input_tokens, output_tokens, total_tokens, output_tokens_details } = usage
  const generated = output && { [output]: output_tokens }
  return readUsage({
    prompt_tokens: input_tokens,
    completion_tokens: output_tokens,
    total_tokens,
    prompt_tokens_details: usage.input_tokens_details ?? usage.input_token_details,
    completion_tokens_details: output_tokens_details ?? generated,
  })
}

/** The tokens that a rerank has read: Jina reports them in `usage`, Cohere in `meta`. Cohere bills searches, which are no tokens. */
export function rerankUsage(reply: object): Usage | undefined {
  const { usage, meta } = reply as {
    readonly usage?: { readonly total_tokens?: unknown } | null
    readonly meta?: { readonly tokens?: { readonly input_tokens?: unknown } | null } | null
  }
  const tokens = usage?.total_tokens ?? meta?.tokens?.input_tokens
  return readUsage({ prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens })
}
