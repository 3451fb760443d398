import type { RequestRow } from '../../api/requests.ts'

/** A bar of the waterfall. Times are milliseconds from the start of the call. */
export interface CallSpan {
  readonly name: string
  readonly detail: string
  readonly from: number
  readonly to: number
  readonly kind: 'link' | 'gateway' | 'served' | 'failed'
}

/** The fields that the waterfall shows. */
export type TimedCall = Pick<RequestRow, 'links' | 'attempts' | 'ms'>

/**
 * A call as bars. The links follow each other from the start, each in one piece, although a part of its time may come after the reply.
 * The attempts follow each other, and the last one ends with the call. The time between them is the gateway's.
 */
export function spansOf({ links, attempts, ms: { total } }: TimedCall): readonly CallSpan[] {
  const chain = inARow(0, links, total).map(
    ({ from, to }, index): CallSpan => ({ name: links[index]!.name, detail: 'link', from, to, kind: 'link' }),
  )
  const tries = inARow(Math.max(total - sumOf(attempts), 0), attempts, total).map((time, index): CallSpan => {
    const { namespace, model, result } = attempts[index]!
    const detail = `attempt ${index + 1}, ${result}`
    return { name: `${namespace}/${model}`, detail, ...time, kind: result === 'ok' ? 'served' : 'failed' }
  })
  const from = chain.at(-1)?.to ?? 0
  const to = Math.max(tries[0]?.from ?? total, from)
  return [...chain, { name: 'Gateway', detail: 'reading, validating, waiting', from, to, kind: 'gateway' }, ...tries]
}

/** Consecutive spans from `begin` on, none of which exceeds `end`. */
function inARow(begin: number, parts: readonly { readonly ms: number }[], end: number): Pick<CallSpan, 'from' | 'to'>[] {
  let to = begin
  return parts.map(({ ms }) => {
    const from = to
    to = Math.min(from + ms, end)
    return { from, to }
  })
}

const sumOf = (parts: readonly { readonly ms: number }[]): number => parts.reduce((sum, { ms }) => sum + ms, 0)
