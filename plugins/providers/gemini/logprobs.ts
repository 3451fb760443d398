import { isRecord } from 'unified-model-gateway/plugin'

/** One token as OpenAI tells it. `bytes`: its UTF-8. */
interface TokenLogprob {
  readonly token: string
  readonly logprob: number
  readonly bytes: readonly number[]
}

/** A candidate's `logprobsResult` as a choice's `logprobs`; undefined where there is none. */
export function toLogprobs(result: unknown): object | undefined {
  if (!isRecord(result) || !Array.isArray(result.chosenCandidates)) return undefined
  const tops = Array.isArray(result.topCandidates) ? result.topCandidates : []
  const content = result.chosenCandidates.map((chosen, index) => {
    const top: unknown = tops[index]
    const rivals = isRecord(top) && Array.isArray(top.candidates) ? top.candidates : []
    return { ...toToken(chosen), top_logprobs: rivals.map(toToken) }
  })
  return { content, refusal: null }
}

function toToken(candidate: unknown): TokenLogprob {
  const { token, logProbability } = isRecord(candidate) ? candidate : {}
  const text = typeof token === 'string' ? token : ''
  // Where Google says nothing OpenAI says "very unlikely" so.
  return { token: text, logprob: typeof logProbability === 'number' ? logProbability : -9999, bytes: [...Buffer.from(text)] }
}
