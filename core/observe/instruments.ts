import type { HostCounter, HostHistogram } from '../sdk/api.ts'
import type { MetricShape, MetricType } from './metric-definitions.ts'

/** A number that rises and falls. */
export interface Gauge {
  set(value: number, ...labels: string[]): void
  /** Adds an amount, which may be negative. */
  add(amount: number, ...labels: string[]): void
  /** Removes all series. */
  clear(): void
}

/** The instrument of each type of metric. */
export interface Instruments {
  readonly counter: HostCounter
  readonly gauge: Gauge
  readonly histogram: HostHistogram
}

/** One line of the exposition, in the form of prom-client's registry, which caches the text of `sharedLabels` by object. */
export interface Sample {
  readonly metricName?: string
  readonly labels?: Readonly<Record<string, string | number>>
  readonly sharedLabels: Readonly<Record<string, string>>
  readonly value: number
}

/** A series: its label values, and its numbers, which add up over processes. */
export type SeriesState = readonly [labels: readonly string[], numbers: readonly number[]]

/** A metric's numbers, and the instruments that write them. */
export interface Measured<Instrument> {
  /** An instrument for these labels, which the metric then has besides those it had: their values are empty elsewhere. */
  instrument(labels: readonly string[]): Instrument
  samples(): readonly Sample[]
  /** All series, for another process. */
  state(): readonly SeriesState[]
  /** Adds the series of another process, which have these labels. */
  merge(labels: readonly string[], states: readonly SeriesState[]): void
}

type Create<Type extends MetricType> = (shape: MetricShape, limit: SeriesLimit) => Measured<Instruments[Type]>

/**
 * Creates an instrument with cells of its own: a write is a look-up and an addition, and prom-client reads the cells at a scrape only
 * (docs/decisions/hot-path.md).
 */
export const createInstrument: { readonly [Type in MetricType]: Create<Type> } = {
  counter: createCounter,
  gauge: createGauge,
  histogram: createHistogram,
}

function createCounter({ name }: MetricShape, limit: SeriesLimit): Measured<HostCounter> {
  const series = new Series(limit, () => ({ value: 0 }))
  const instrument = (names: readonly string[]): HostCounter => {
    const view = series.view(names)
    return {
      add(amount, ...labels) {
        if (!(amount >= 0)) throw new RangeError(`${name}: a counter only grows; add 0 or more, not ${amount}`)
        view.cell(labels).value += checked(name, amount)
      },
    }
  }
  return { instrument, ...scalar(series) }
}

function createGauge({ name, across }: MetricShape, limit: SeriesLimit): Measured<Gauge> {
  const series = new Series(limit, () => ({ value: 0 }))
  const instrument = (names: readonly string[]): Gauge => {
    const view = series.view(names)
    return {
      set(value, ...labels) {
        view.cell(labels).value = checked(name, value)
      },
      add(amount, ...labels) {
        view.cell(labels).value += checked(name, amount)
      },
      clear: () => series.clear(),
    }
  }
  return { instrument, ...scalar(series, across) }
}

interface HistogramCell {
  /** Values in each bucket alone, not cumulative; the last bucket is `+Inf`. */
  readonly counts: Float64Array
  sum: number
}

function createHistogram({ name, buckets = [] }: MetricShape, limit: SeriesLimit): Measured<HostHistogram> {
  const bounds = [...buckets, Infinity]
  const series = new Series(limit, (): HistogramCell => ({ counts: new Float64Array(bounds.length), sum: 0 }))
  const instrument = (names: readonly string[]): HostHistogram => {
    const view = series.view(names)
    return {
      observe(value, ...labels) {
        const cell = view.cell(labels)
        cell.sum += checked(name, value)
        // Not by findIndex: it is a function for each value.
        let bucket = 0
        while (value > bounds[bucket]!) bucket++
        cell.counts[bucket]! += 1
      },
    }
  }
  return {
    instrument,
    samples: () => [...series].flatMap((one) => histogramSamples(name, bounds, one)),
    state: () => Array.from(series, ({ labels, cell }) => [Object.values(labels), [...cell.counts, cell.sum]]),
    merge(names, states) {
      const view = series.view(names)
      for (const [labels, numbers] of states) {
        const cell = view.cell(labels)
        for (let index = 0; index < bounds.length; index++) cell.counts[index]! += numbers[index]!
        cell.sum += numbers[bounds.length]!
      }
    },
  }
}

function scalar(series: Series<{ value: number }>, across?: MetricShape['across']): Omit<Measured<never>, 'instrument'> {
  /** Cells with the value of a process, not the 0 that they begin with. */
  const merged = new WeakSet<object>()
  return {
    samples: () => Array.from(series, ({ labels, cell }) => ({ sharedLabels: labels, value: cell.value })),
    state: () => Array.from(series, ({ labels, cell }) => [Object.values(labels), [cell.value]]),
    merge(names, states) {
      const view = series.view(names)
      for (const [labels, [value]] of states) {
        const cell = view.cell(labels)
        if (across === undefined) cell.value += value!
        else cell.value = merged.has(cell) ? Math[across](cell.value, value!) : value!
        merged.add(cell)
      }
    },
  }
}

function histogramSamples(name: string, bounds: readonly number[], { labels, cell }: LabelledCell<HistogramCell>): Sample[] {
  let count = 0
  const samples = bounds.map((bound, index): Sample => {
    count += cell.counts[index]!
    const le = bound === Infinity ? '+Inf' : bound
    return { metricName: `${name}_bucket`, labels: { le }, sharedLabels: labels, value: count }
  })
  samples.push({ metricName: `${name}_sum`, sharedLabels: labels, value: cell.sum })
  samples.push({ metricName: `${name}_count`, sharedLabels: labels, value: count })
  return samples
}

/** A single NaN would make the sum of a series NaN until the process ends. */
function checked(name: string, value: number): number {
  if (!Number.isFinite(value)) throw new RangeError(`${name}: the value must be a finite number, not ${value}`)
  return value
}

/** How many series a metric may have. */
interface SeriesLimit {
  readonly max: number
  /** Called for each value that is counted under the label `other` instead of a series of its own. */
  overflowed(): void
}

/** The cell of one combination of label values. */
interface LabelledCell<Cell> {
  readonly labels: Readonly<Record<string, string>>
  readonly cell: Cell
}

/** The label values of a new series once the metric has reached its limit of series. */
export const OTHER = 'other'

/** Characters; a longer label value is cut. */
const MAX_VALUE = 200

/** A node of the tree of label values: the series that share their first values. */
interface Branch<Cell> {
  readonly next: Map<string, Branch<Cell>>
  leaf: Cell | undefined
}

/** The series of a metric, by the values of some of its labels. */
interface SeriesView<Cell> {
  /** The cell of these label values, created on first use. Throws if the number of values is not the number of labels. */
  cell(values: readonly string[]): Cell
}

const newBranch = <Cell>(): Branch<Cell> => ({ next: new Map(), leaf: undefined })

/**
 * The cells of one metric, one for each combination of label values. A call looks up about ten of them, so they are kept in a tree of
 * label values: a joined key would have to be built and hashed each time.
 */
class Series<Cell> {
  /** The labels of all views. */
  #names: readonly string[] = []
  readonly #limit: SeriesLimit
  readonly #create: () => Cell
  #tree: Branch<Cell> = newBranch()
  #all: LabelledCell<Cell>[] = []

  constructor(limit: SeriesLimit, create: () => Cell) {
    this.#limit = limit
    this.#create = create
  }

  /** The series by their values of these labels. A label that is new is empty in those there are. */
  view(names: readonly string[]): SeriesView<Cell> {
    const added = names.filter((name) => !this.#names.includes(name))
    if (added.length > 0) this.#addLabels(added)
    const columns = names.map((name) => this.#names.indexOf(name))
    const isPrefix = columns.every((column, index) => column === index)
    // A metric without labels has its one series from the start, at 0.
    if (names.length === 0) this.#cell(this.#names.map(() => ''))
    return {
      cell: (values) => {
        if (values.length !== names.length)
          throw new Error(`give one value for each label (${names.join(', ') || 'none'}), not ${values.length}`)
        if (isPrefix && names.length === this.#names.length) return this.#cell(values)
        const placed = this.#names.map(() => '')
        for (const [index, column] of columns.entries()) placed[column] = values[index]!
        return this.#cell(placed)
      },
    }
  }

  #addLabels(added: readonly string[]): void {
    const all = this.#all
    this.clear()
    this.#names = [...this.#names, ...added]
    for (const { labels, cell } of all) this.#insert([...Object.values(labels), ...added.map(() => '')], cell)
  }

  #cell(values: readonly string[]): Cell {
    return this.#find(values) ?? this.#newCell(values.map(clean))
  }

  clear(): void {
    this.#tree = newBranch()
    this.#all = []
  }

  [Symbol.iterator](): Iterator<LabelledCell<Cell>> {
    return this.#all.values()
  }

  #find(values: readonly string[]): Cell | undefined {
    let branch: Branch<Cell> | undefined = this.#tree
    for (const value of values) branch = branch?.next.get(value)
    return branch?.leaf
  }

  #newCell(values: readonly string[]): Cell {
    const known = this.#find(values)
    if (known !== undefined) return known
    if (this.#all.length < this.#limit.max) return this.#add(values)
    this.#limit.overflowed()
    const folded = values.map(() => OTHER)
    return this.#find(folded) ?? this.#add(folded)
  }

  #add(values: readonly string[]): Cell {
    return this.#insert(values, this.#create())
  }

  #insert(values: readonly string[], cell: Cell): Cell {
    const labels = Object.fromEntries(this.#names.map((name, index) => [name, values[index]!]))
    let branch = this.#tree
    for (const value of values) {
      const next = branch.next.get(value) ?? newBranch<Cell>()
      branch.next.set(value, next)
      branch = next
    }
    branch.leaf = cell
    this.#all.push({ labels, cell })
    return cell
  }
}

/** Plugins in plain JavaScript may pass any value; prom-client escapes quotes and backslashes. */
function clean(value: unknown): string {
  return String(value)
    .slice(0, MAX_VALUE)
    .toWellFormed()
    .replace(/\p{Cc}/gu, '\uFFFD')
}
