import type { RequestRow } from '../../api/requests.ts'

/** A bar of the waterfall. Times are milliseconds from the start of the call. */
export interface CallSpan {
  readonly name: string
  readonly detail: string
  readonly from: number
  readonly to: number
  readonly kind: 'link' | 'gateway' | 'pause' | 'served' | 'failed'
}

/** The fields that the waterfall shows. */
export type TimedCall = Pick<RequestRow, 'links' | 'attempts' | 'ms'>

type Attempt = TimedCall['attempts'][number]

/** Shorter pauses between attempts are the gateway's work, not a wait. Milliseconds. */
const SHORTEST_PAUSE = 1

/**
 * A call as bars, all on the clock of the call. The links follow each other from the start, each in one piece, although a part of its
 * time may come after the reply. Then the gateway works until the first attempt, or to the end if there is none. The time between two
 * attempts is a bar of its own: the back-off, or the wait for a place.
 */
export function spansOf({ links, attempts, ms: { total } }: TimedCall): readonly CallSpan[] {
  const starts = startsOf(attempts, total)
  const first = starts[0] ?? total
  const chain = inARow(links, total).map(
    ({ from, to }, index): CallSpan => ({ name: links[index]!.name, detail: 'link', from, to, kind: 'link' }),
  )
  const from = chain.at(-1)?.to ?? 0
  const gateway: CallSpan = {
    name: 'Gateway',
    detail: 'reading, validating, waiting',
    from,
    to: Math.max(first, from),
    kind: 'gateway',
  }
  return [...chain, gateway, ...attempts.flatMap((_, index) => triesOf(attempts, starts, index, total))]
}

/** The bar of an attempt, after that of the pause before it. */
function triesOf(attempts: readonly Attempt[], starts: readonly number[], index: number, total: number): CallSpan[] {
  const { namespace, model, result, ms, status } = attempts[index]!
  const from = starts[index]!
  const words = [`attempt ${index + 1}`, result, ...(status === undefined ? [] : [`status ${status}`])]
  const bar: CallSpan = {
    name: `${namespace}/${model}`,
    detail: words.join(', '),
    from,
    to: Math.min(from + ms, total),
    kind: result === 'ok' ? 'served' : 'failed',
  }
  const before = index === 0 ? from : starts[index - 1]! + attempts[index - 1]!.ms
  if (from - before < SHORTEST_PAUSE) return [bar]
  return [{ name: 'Pause', detail: 'before the next attempt', from: before, to: from, kind: 'pause' }, bar]
}

/** When each attempt began. Old records do not say: there the attempts follow each other, and the last one ends with the call. */
function startsOf(attempts: readonly Attempt[], total: number): readonly number[] {
  let at = Math.max(total - attempts.reduce((sum, { ms }) => sum + ms, 0), 0)
  return attempts.map(({ ms, start }) => {
    const from = Math.min(start ?? at, total)
    at = from + ms
    return from
  })
}

/** Consecutive spans from the start on, none longer than `end`. */
function inARow(parts: readonly { readonly ms: number }[], end: number): Pick<CallSpan, 'from' | 'to'>[] {
  let to = 0
  return parts.map(({ ms }) => {
    const from = to
    to = Math.min(from + ms, end)
    return { from, to }
  })
}
