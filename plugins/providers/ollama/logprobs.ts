import { isRecord } from 'unified-model-gateway/plugin'

/** One token as OpenAI tells it. `bytes`: its UTF-8. */
export interface TokenLogprob {
  readonly token: string
  readonly logprob: number
  readonly bytes: readonly number[]
}

/** Ollama's `logprobs` as the `content` of OpenAI's. */
export function toTokens(logprobs: unknown): readonly (TokenLogprob & { readonly top_logprobs: readonly TokenLogprob[] })[] {
  if (!Array.isArray(logprobs)) return []
  return logprobs.filter(isRecord).map((chosen) => {
    const rivals = Array.isArray(chosen.top_logprobs) ? chosen.top_logprobs.filter(isRecord) : []
    return { ...toToken(chosen), top_logprobs: rivals.map(toToken) }
  })
}

function toToken({ token, logprob }: Readonly<Record<string, unknown>>): TokenLogprob {
  const text = typeof token === 'string' ? token : ''
  // Where Ollama says nothing OpenAI says "very unlikely" so.
  return { token: text, logprob: typeof logprob === 'number' ? logprob : -9999, bytes: [...Buffer.from(text)] }
}
