/** How many series a metric may have, and whom to tell of each value counted past that. */
export interface SeriesLimit {
  readonly max: number
  overflowed(): void
}

/** The cell of one combination of label values. */
export interface LabelledCell<Cell> {
  readonly labels: Readonly<Record<string, string>>
  readonly cell: Cell
}

/** What every label value of a new series becomes once a metric has as many series as it may. */
export const OTHER = 'other'

/** Characters; a longer label value is cut. */
const LONGEST_VALUE = 200

/** What is known of the series whose label values begin alike. */
interface Branch<Cell> {
  readonly next: Map<string, Branch<Cell>>
  leaf: Cell | undefined
}

const newBranch = <Cell>(): Branch<Cell> => ({ next: new Map(), leaf: undefined })

/**
 * The cells of one metric, one per combination of label values. Every call looks up about ten, so they stand in
 * a tree by their values: a key made of all of them would have to be made, and hashed, each time.
 */
export class Series<Cell> {
  readonly #names: readonly string[]
  readonly #limit: SeriesLimit
  readonly #create: () => Cell
  #tree: Branch<Cell> = newBranch()
  #all: LabelledCell<Cell>[] = []

  constructor(names: readonly string[], limit: SeriesLimit, create: () => Cell) {
    this.#names = names
    this.#limit = limit
    this.#create = create
    // Without labels there is one series from the start, at zero.
    if (names.length === 0) this.cell([])
  }

  /** The cell of these values, made when first asked for. Throws where the number of values is not the number of labels. */
  cell(values: readonly string[]): Cell {
    if (values.length !== this.#names.length) {
      throw new Error(`give one value for each label (${this.#names.join(', ') || 'none'}), not ${values.length}`)
    }
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
    const labels = Object.fromEntries(this.#names.map((name, index) => [name, values[index] ?? '']))
    const cell = this.#create()
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

/** Plugins in plain JavaScript may give anything; quotes and backslashes are escaped by prom-client. */
function clean(value: unknown): string {
  return String(value)
    .slice(0, LONGEST_VALUE)
    .toWellFormed()
    .replace(/\p{Cc}/gu, '\uFFFD')
}
