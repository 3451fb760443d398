import { type Profiler, Session } from 'node:inspector/promises'
import { setFlagsFromString } from 'node:v8'
import { expect } from 'chai'

const N = 100
/** Runs that are bound to a call or, as those of timers, to its time, and not to what it has. What grows by the square of `N` runs twenty times as often. */
const OFTEN = 1500
const MOST = 2.4
const MEASUREMENTS = 3

/**
 * Counts how often each block of the gateway's code runs, in this process. Blocks are counted, not time: that is the same on every machine.
 * Work within one call of a native function is not seen.
 */
export class BlockCounter {
  readonly #session = new Session()

  async start(): Promise<void> {
    // Optimised code does not count the calls of functions that it has taken in.
    for (const compiler of ['turbofan', 'maglev']) setFlagsFromString(`--no-${compiler}`)
    this.#session.connect()
    await this.#session.post('Profiler.enable')
  }

  stop(): void {
    this.#session.disconnect()
    for (const compiler of ['turbofan', 'maglev']) setFlagsFromString(`--${compiler}`)
  }

  /**
   * Expects twice as much to run no block more than about twice as often. The first run loads and compiles code. Other work of the process may run
   * meanwhile: it is not in all of several measurements.
   */
  async expectLinear(run: (count: number) => Promise<void>): Promise<void> {
    await run(4)
    for (let left = MEASUREMENTS - 1; left > 0; left--) if ((await this.#worseIn(run)).length === 0) return
    expect(await this.#worseIn(run)).to.deep.equal([])
  }

  /** The blocks that run more often than twice as much explains. */
  async #worseIn(run: (count: number) => Promise<void>): Promise<readonly string[]> {
    const once = await this.#blocksOf(() => run(N))
    const twice = await this.#blocksOf(() => run(2 * N))
    const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((all, each) => all + each, 0)
    expect(sum(once), 'blocks that ran').to.be.above(N)
    const worse = [...twice].filter(([block, count]) => count > OFTEN && count > MOST * (once.get(block) ?? 0))
    const isMore = sum(twice) >= MOST * sum(once) + OFTEN
    return [
      ...worse.map(([block, count]) => `${block}: ${once.get(block) ?? 0} -> ${count}`),
      ...(isMore ? [`all blocks: ${sum(once)} -> ${sum(twice)}`] : []),
    ]
  }

  async #blocksOf(run: () => Promise<void>): Promise<ReadonlyMap<string, number>> {
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
    await run()
    const { result } = await this.#session.post('Profiler.takePreciseCoverage')
    await this.#session.post('Profiler.stopPreciseCoverage')
    return new Map(result.filter(({ url }) => OF_THE_GATEWAY.test(placeOf(url))).flatMap(countsOf))
  }
}

/** So much of something: `repeat(3, nameOf)`. */
export const repeat = <Item>(count: number, item: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => item(index))

const ROOT = new URL('../../', import.meta.url).href

/** The place of a file of the gateway's, without those that only tests load. */
const OF_THE_GATEWAY = /^(?:core|plugins)\/(?!testing\/).*\.ts$/
const placeOf = (url: string): string => (url.startsWith(ROOT) ? url.slice(ROOT.length) : '')

const countsOf = ({ url, functions }: Profiler.ScriptCoverage): [block: string, count: number][] =>
  functions.flatMap(({ functionName, ranges }) =>
    ranges.map(({ startOffset, count }): [string, number] => [`${placeOf(url)} ${functionName} @${startOffset}`, count]),
  )
