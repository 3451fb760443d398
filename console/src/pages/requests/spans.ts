import type { RequestRow } from '../../api/requests.ts'
import type { Tone } from '../../ui/status-label.tsx'

/** A bar of the waterfall. Times are milliseconds from the call's begin. */
export interface CallSpan {
  readonly name: string
  readonly detail: string
  readonly from: number
  readonly to: number
  readonly tone: Tone
}

/**
 * A call as bars, one below the other. The attempts follow each other and the last one ends with the call; what was before the
 * first is the gateway's: the chain, the checks, the wait for a place.
 */
export function spansOf({ attempts, ms: { total } }: Pick<RequestRow, 'attempts' | 'ms'>): readonly CallSpan[] {
  const tried = attempts.reduce((sum, { ms }) => sum + ms, 0)
  let at = Math.max(total - tried, 0)
  const before: CallSpan = { name: 'Gateway', detail: 'chain and checks', from: 0, to: at, tone: 'quiet' }
  const tries = attempts.map(({ namespace, model, result, ms }): CallSpan => {
    const from = at
    at = Math.min(at + ms, total)
    return { name: `${namespace}/${model}`, detail: result, from, to: at, tone: result === 'ok' ? 'good' : 'bad' }
  })
  return [before, ...tries]
}
