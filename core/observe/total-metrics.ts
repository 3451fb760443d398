import { readFileSync, writeFileSync } from 'node:fs'
import { AggregatorRegistry } from 'prom-client'
import { SerialQueue } from '../async/serial-queue.ts'
import { type MetricFamily, Metrics, type MetricsState, type RenderedMetrics } from './metrics.ts'

/** A process whose metrics are added up. */
export interface MeasuredProcess {
  /** No other process ever has it. */
  readonly id: string
  /** The state of its metrics now. Rejects if the process does not answer. */
  state(): Promise<MetricsState>
}

/**
 * The metrics of all processes of a gateway in one scrape. What ended processes counted stays in the totals, so that no counter goes back
 * when a process is replaced. A file keeps what the last scrape saw: the successor of this process goes on from there.
 */
export class TotalMetrics {
  readonly #file: string
  readonly #running = new Map<string, MeasuredProcess>()
  /** The last answer of each process, and what ended processes counted. All of them are `exact`. */
  readonly #known: Map<string, MetricsState>
  /** Processes that have ended since the last scrape. */
  readonly #ended = new Set<string>()
  readonly #scrapes = new SerialQueue()

  /** `file`: its path; it need not exist. */
  constructor(file: string) {
    this.#file = file
    this.#known = new Map(readStates(file).map(([id, state]) => [id, exact(counted(state))]))
  }

  /** Adds a process that runs. Returns the function that notes its end. */
  add(process: MeasuredProcess): () => void {
    this.#running.set(process.id, process)
    return () => {
      this.#running.delete(process.id)
      this.#ended.add(process.id)
    }
  }

  /** Asks all processes for their state, and keeps it. A process that does not answer counts with its last one. */
  async update(): Promise<void> {
    const asked = Array.from(this.#running.values(), async ({ id, state }) => {
      const answer = exact(await state())
      if (this.#running.has(id)) this.#known.set(id, answer)
    })
    await Promise.allSettled(asked)
  }

  /** A process is about to end. `state`: its last one. */
  leaves(id: string, state: MetricsState): void {
    if (this.#running.has(id)) this.#known.set(id, exact(state))
  }

  /** All metrics in Prometheus' text format 0.0.4. */
  async render(): Promise<RenderedMetrics> {
    return (await this.#total()).render()
  }

  /** What a scrape has, metric by metric. */
  async *families(): AsyncGenerator<MetricFamily> {
    yield* (await this.#total()).families()
  }

  #total(): Promise<Metrics> {
    return this.#scrapes.run(() => this.#nextTotal())
  }

  async #nextTotal(): Promise<Metrics> {
    await this.update()
    if (this.#ended.size > 0) await this.#foldEnded()
    // Before the reply: a successor must not count from less than what was scraped.
    writeFileSync(this.#file, JSON.stringify([...this.#known]), { mode: 0o600 })
    return sum([...this.#known.values()])
  }

  /** Replaces the states of ended processes by one. */
  async #foldEnded(): Promise<void> {
    const ids = [...this.#ended, ENDED].filter((id) => this.#known.has(id))
    const folded = await sum(ids.map((id) => counted(this.#known.get(id)!))).state()
    for (const id of ids) {
      this.#known.delete(id)
      this.#ended.delete(id)
    }
    this.#known.set(ENDED, folded)
  }
}

const ENDED = 'ended'

function sum(states: readonly MetricsState[]): Metrics {
  const total = new Metrics({ registry: AggregatorRegistry.aggregate(states.map(({ process }) => [...process])) })
  for (const state of states) total.merge(state)
  return total
}

/** What a process counted, without its gauges, which ended with it. */
function counted({ declared, process }: MetricsState): MetricsState {
  return {
    declared: declared.filter(({ shape }) => shape.type !== 'gauge'),
    process: process.filter(({ type }) => String(type) !== 'gauge'),
  }
}

/**
 * The precision of what counters and histograms add up to, in their units: seconds, dollars. Sums of multiples of it below 2^29 are exact,
 * in any order and grouping. Else a total would go back by rounding when an ended process is added to others, and Prometheus takes that for
 * a reset.
 */
const PRECISION = 2 ** -24

/** The highest multiple that is not above it: it never goes back while the number does not. */
const rounded = (value: number): number => Math.floor(value / PRECISION) * PRECISION

/** A state whose counters and histograms can be added up without rounding. */
function exact({ declared, process }: MetricsState): MetricsState {
  return {
    declared: declared.map((metric) =>
      metric.shape.type === 'gauge'
        ? metric
        : { ...metric, series: metric.series.map(([labels, numbers]) => [labels, numbers.map(rounded)] as const) },
    ),
    process: process.map((metric) =>
      String(metric.type) === 'gauge'
        ? metric
        : { ...metric, values: metric.values.map((each) => ({ ...each, value: rounded(each.value) })) },
    ),
  }
}

function readStates(file: string): readonly (readonly [string, MetricsState])[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return []
  }
}
