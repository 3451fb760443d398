import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { Metrics } from '../../../core/observe/metrics.ts'
import { TotalMetrics } from '../../../core/observe/total-metrics.ts'

describe('the metrics of all processes', () => {
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-metrics-'))
  })

  afterEach(() => rm(folder, { recursive: true }))

  /** A process that has counted what others have not. */
  class Process {
    readonly metrics = new Metrics()
    readonly #seconds = this.metrics.histogram('waiting_seconds', 'Waiting.', ['queue'], [1])
    readonly #dollars = this.metrics.counter('cost_dollars_total', 'Cost.', ['queue'])
    readonly ended: () => void

    constructor(total: TotalMetrics, id: string) {
      this.ended = total.add({ id, state: () => this.metrics.state() })
    }

    count(value: number): void {
      this.#seconds.observe(value, 'a')
      this.#dollars.add(value / 3, 'a')
    }
  }

  async function valuesOf(total: TotalMetrics): Promise<ReadonlyMap<string, number>> {
    const { text } = await total.render()
    const lines = text.matchAll(/^(waiting_seconds_sum|cost_dollars_total|process_cpu_seconds_total)\S* (\S+)$/gm)
    return new Map(Array.from(lines, ([, name, value]) => [name!, Number(value)]))
  }

  it('do not go back by rounding when a process is replaced', async () => {
    const total = new TotalMetrics(join(folder, 'metrics.json'))
    const processes = [0.1, 0.2, 0.3].map((seconds, index) => {
      const process = new Process(total, `process.${index}`)
      process.count(seconds)
      return process
    })
    await total.update()
    const before = await valuesOf(total)
    processes[0]!.ended()
    await expectNoLess(total, before)
  })

  it('never go back, also by rounding, whichever processes end and in which order', async () => {
    const amount = fc.double({ min: 0, max: 1000, noNaN: true })
    const step = fc.record({ process: fc.nat(3), amounts: fc.array(amount, { maxLength: 5 }), ends: fc.boolean() })
    let file = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
        const path = join(folder, String(file++))
        let total = new TotalMetrics(path)
        let count = 0
        const start = (): Process => new Process(total, `process.${count++}`)
        const running = Array.from({ length: 4 }, start)
        let before = await valuesOf(total)
        for (const { process, amounts, ends } of steps) {
          for (const value of amounts) running[process]!.count(value)
          await total.update()
          before = await expectNoLess(total, before)
          if (!ends) continue
          running[process]!.ended()
          running[process] = start()
          before = await expectNoLess(total, before)
        }
        // Its successor goes on from the file, when all have ended.
        for (const { ended } of running) ended()
        await expectNoLess(total, before)
        total = new TotalMetrics(path)
        await expectNoLess(total, before)
      }),
      { numRuns: 15, endOnFailure: true },
    )
  })

  async function expectNoLess(total: TotalMetrics, before: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>> {
    const after = await valuesOf(total)
    for (const [name, value] of before) expect(after.get(name), name).to.be.at.least(value)
    return after
  }

  it('are as exact as a ten-millionth of a dollar', async () => {
    const total = new TotalMetrics(join(folder, 'metrics.json'))
    const one = new Process(total, 'process.1')
    for (let call = 0; call < 1000; call++) one.count(0.0123)
    expect((await valuesOf(total)).get('cost_dollars_total')).to.be.closeTo(4.1, 1e-7)
  })
})
