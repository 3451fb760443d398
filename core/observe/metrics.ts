import { collectDefaultMetrics, type Metric, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client'
import { yieldIfLong } from '../async/long-work.ts'
import type { HostCounter, HostHistogram, HostMetrics } from '../sdk/api.ts'
import { NO_MEASUREMENTS, setLagGauges } from './event-loop-lag.ts'
import { createInstrument, type Gauge, type Instruments, type Measured, type Sample, type SeriesState } from './instruments.ts'
import { checkShape, isSameKind, METRICS, type MetricShape, type MetricType } from './metric-definitions.ts'

interface DeclaredMetric {
  /** With the labels of all declarations. */
  shape: MetricShape
  readonly measured: Measured<Instruments[MetricType]>
  /** By labels. */
  readonly instruments: Map<string, Instruments[MetricType]>
}

/** The metrics of one process, for another one that adds them up. */
export interface MetricsState {
  readonly declared: readonly { readonly shape: MetricShape; readonly series: readonly SeriesState[] }[]
  /** prom-client's metrics of the Node process. */
  readonly process: readonly MetricObjectWithValues<MetricValue<string>>[]
}

/** One line of a scrape. A histogram has those of its buckets, with the label `le`, and of its sum and count. */
export interface MetricSample {
  /** If it is not the metric's. */
  readonly metricName?: string | undefined
  readonly labels: Readonly<Partial<Record<string, string | number>>>
  /** Further labels. */
  readonly sharedLabels?: Readonly<Record<string, string>>
  readonly value: number
}

/** A metric of a scrape. */
export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly values: readonly MetricSample[]
}

/** The text of a scrape. */
export interface RenderedMetrics {
  readonly contentType: string
  readonly text: string
}

/**
 * All metrics of the gateway and its plugins. Get-or-create by name, so that a metric survives a reload; a name that is declared again
 * with other labels has the labels of both, and with another type or other buckets it throws. A metric has up to `maxSeries` series: after that every label value of a new series is `other`, and
 * `umg_metrics_overflow_total` counts such values.
 */
export class Metrics implements HostMetrics {
  readonly #process: Registry
  readonly #registry: Registry
  readonly #declared = new Map<string, DeclaredMetric>()
  readonly #beforeRender: (() => void)[] = []
  readonly #maxSeries: number
  readonly #overflow: HostCounter

  /** `registry`: of the metrics of the Node process. */
  constructor({
    maxSeries = 1000,
    registry = processRegistry(),
  }: { readonly maxSeries?: number; readonly registry?: Registry } = {}) {
    this.#process = registry
    this.#registry = Registry.merge([registry])
    // The overflow counter has one series a metric, so it needs no limit.
    this.#maxSeries = Infinity
    this.#overflow = this.declare(METRICS.metricsOverflow)
    this.#maxSeries = maxSeries
  }

  counter(name: string, help: string, labels: readonly string[] = []): HostCounter {
    return this.declare({ name, type: 'counter', help, labels })
  }

  gauge(name: string, help: string, labels: readonly string[] = []): Gauge {
    return this.declare({ name, type: 'gauge', help, labels })
  }

  histogram(name: string, help: string, labels: readonly string[], buckets: readonly number[]): HostHistogram {
    return this.declare({ name, type: 'histogram', help, labels, buckets })
  }

  /** Returns the metric of this shape, created on first use. Throws if the name has another type or buckets, or is not valid. */
  declare<Type extends MetricType>(shape: MetricShape<Type>): Instruments[Type] {
    checkShape(shape)
    const declared = this.#declared.get(shape.name) ?? this.#create(shape)
    if (!isSameKind(declared.shape, shape)) {
      throw new Error(
        `metric ${shape.name} exists with another type or other buckets (${describe(declared.shape)}); choose another name`,
      )
    }
    const labels = shape.labels.join()
    const instrument = declared.instruments.get(labels) ?? declared.measured.instrument(shape.labels)
    declared.instruments.set(labels, instrument)
    declared.shape = { ...declared.shape, labels: [...new Set([...declared.shape.labels, ...shape.labels])] }
    return instrument as Instruments[Type]
  }

  /** Calls `update` before each scrape, to set gauges that are read rather than counted. */
  onRender(update: () => void): void {
    this.#beforeRender.push(update)
  }

  /** The state of all metrics. */
  async state(): Promise<MetricsState> {
    await this.#update()
    const declared: MetricsState['declared'][number][] = []
    for (const { shape, measured } of this.#declared.values()) {
      declared.push({ shape, series: measured.state() })
      await yieldIfLong()
    }
    return { declared, process: await this.#process.getMetricsAsJSON() }
  }

  /** Adds the declared metrics of a process. A metric that two processes declare with different types or buckets keeps the first. */
  merge({ declared }: Pick<MetricsState, 'declared'>): void {
    for (const { shape, series } of declared) {
      const known = this.#declared.get(shape.name)
      if (known !== undefined && !isSameKind(known.shape, shape)) continue
      this.declare(shape)
      this.#declared.get(shape.name)!.measured.merge(shape.labels, series)
    }
  }

  /** What a scrape has, metric by metric. */
  async *families(): AsyncGenerator<MetricFamily> {
    for await (const name of this.#names()) {
      const { type, ...family } = await this.#registry.getSingleMetric(name)!.get()
      yield { ...family, type: String(type) }
    }
  }

  /** All metrics in Prometheus' text format 0.0.4. */
  async render(): Promise<RenderedMetrics> {
    const texts: string[] = []
    for await (const name of this.#names()) texts.push(await this.#textOf(name))
    return { contentType: this.#registry.contentType, text: `${texts.join('\n\n')}\n` }
  }

  /** The names of all metrics. The event loop runs in between. */
  async *#names(): AsyncGenerator<string> {
    await this.#update()
    for (const { name } of this.#registry.getMetricsAsArray()) {
      yield name
      await yieldIfLong()
    }
  }

  async #update(): Promise<void> {
    for (const update of this.#beforeRender) {
      update()
      await yieldIfLong()
    }
  }

  /** The text of a metric. A histogram with a thousand series takes tens of milliseconds, so it is written in parts. */
  async #textOf(name: string): Promise<string> {
    const metric = this.#declared.get(name)
    if (metric === undefined) return this.#registry.getSingleMetricAsString(name)
    const samples = metric.measured.samples()
    const part = new Registry()
    let values: readonly Sample[] = []
    register(part, metric.shape, () => values)
    const head = await part.getSingleMetricAsString(name)
    const texts = [head]
    for (let from = 0; from < samples.length; from += MAX_PART) {
      values = samples.slice(from, from + MAX_PART)
      texts.push((await part.getSingleMetricAsString(name)).slice(head.length))
      await yieldIfLong()
    }
    return texts.join('')
  }

  #create(shape: MetricShape): DeclaredMetric {
    const limit = { max: this.#maxSeries, overflowed: () => this.#overflow.add(1, shape.name) }
    const measured: Measured<Instruments[MetricType]> = createInstrument[shape.type](shape, limit)
    register(this.#registry, shape, () => measured.samples())
    const declared = { shape, measured, instruments: new Map() }
    this.#declared.set(shape.name, declared)
    return declared
  }
}

/** The most samples that are written at once. */
const MAX_PART = 1000

/** Adds a metric of our own to a registry, which only calls `get`, though its types require prom-client's own classes. */
function register(registry: Registry, { name, help, type }: MetricShape, values: () => readonly Sample[]): void {
  registry.registerMetric({ name, help, type, get: () => ({ name, help, type, values: values() }) } as unknown as Metric)
}

function describe({ type, labels, buckets }: MetricShape): string {
  return `a ${type} with labels [${labels.join(', ')}]${buckets === undefined ? '' : ` and buckets [${buckets.join(', ')}]`}`
}

/** Gauges with a counter's name, which Prometheus' linter refuses; each is the sum of the gauge without `_total`. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

let registry: Registry | undefined

/**
 * prom-client's metrics of the Node process: memory, CPU, garbage collection, `nodejs_eventloop_lag_*`. One registry for the process,
 * because each starts observers that cannot be stopped.
 */
function processRegistry(): Registry {
  if (registry === undefined) {
    registry = new Registry()
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NO_MEASUREMENTS })
    setLagGauges(registry)
    for (const name of MISNAMED) registry.removeSingleMetric(name)
  }
  return registry
}
