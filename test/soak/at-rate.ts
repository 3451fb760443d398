import { setTimeout as delay } from 'node:timers/promises'

/** Makes `count` calls at a constant rate, and waits for all of them. */
export async function atRate<Ended>(perSecond: number, count: number, call: (index: number) => Promise<Ended>): Promise<Ended[]> {
  const startedAt = performance.now()
  const calls: Promise<Ended>[] = []
  for (let index = 0; index < count; index++) {
    await delay(Math.max(0, startedAt + (index * 1000) / perSecond - performance.now()))
    calls.push(call(index))
  }
  return Promise.all(calls)
}

/** Milliseconds in which all calls but one in a hundred are served. */
export const p99 = (calls: readonly { readonly took: number }[]): number =>
  calls.map(({ took }) => took).toSorted((a, b) => a - b)[Math.floor(calls.length * 0.99)]!
