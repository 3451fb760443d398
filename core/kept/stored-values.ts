import {
  type Bounds,
  type Entry,
  type Kept,
  nameOf,
  type Place,
  SPACES,
  type Space,
  type SpaceName,
  sizeOf,
  type ValueStorage,
  type ValueStore,
} from './value-store.ts'

/** The most bytes that wait to be written. */
const MAX_WAITING = 32 << 20
/** How often expired values are removed, and the others counted, in milliseconds. */
const SWEEP_MS = 60_000

/** The options of `StoredValues`. */
export interface StoredValuesOptions {
  /** Default: `SPACES`. */
  readonly spaces?: Readonly<Record<SpaceName, Space>>
  /** Learns what is kept, by the names of spaces. */
  onSwept?(sizes: ReadonlyMap<string, Bounds>): void
}

/** Entries that are written together. */
interface Batch {
  readonly places: Map<string, { readonly place: Place; readonly entries: Map<string, string> }>
  readonly done: Promise<void>
}

/** A store with a storage. Entries that arrive while others are written are one change, the next. Until then they are got from memory. */
export class StoredValues implements ValueStore {
  readonly #storage: ValueStorage
  readonly #spaces: Readonly<Record<SpaceName, Space>>
  readonly #onSwept: NonNullable<StoredValuesOptions['onSwept']>
  readonly #timer: NodeJS.Timeout
  #next: Batch | undefined
  #writing: Batch | undefined
  #running: Promise<unknown> = Promise.resolve()
  #waitingBytes = 0
  /** What is kept in each space, and what was put since it was counted. */
  #sizes = new Map<string, { entries: number; bytes: number }>()
  #counted: Promise<void> | undefined

  constructor(storage: ValueStorage, { spaces = SPACES, onSwept = () => undefined }: StoredValuesOptions = {}) {
    this.#storage = storage
    this.#spaces = spaces
    this.#onSwept = onSwept
    this.#timer = setInterval(() => void this.sweep(), SWEEP_MS).unref()
  }

  async get(place: Place, keys: readonly string[]): Promise<readonly Entry[]> {
    const found: Entry[] = []
    const sought: string[] = []
    const waiting = [this.#next, this.#writing].flatMap((batch) => batch?.places.get(nameOf(place))?.entries ?? [])
    for (const key of keys) {
      const value = waiting.find((entries) => entries.has(key))?.get(key)
      if (value === undefined) sought.push(key)
      else found.push([key, value])
    }
    return sought.length === 0 ? found : [...found, ...(await this.#storage.get(place, sought))]
  }

  async put(place: Place, entries: readonly Entry[]): Promise<Kept> {
    const { total, value } = this.#spaces[place.space]
    const sizes = entries.map(sizeOf)
    if (sizes.some((size) => size > value)) return 'too_large'
    // The first one waits for the count.
    this.#counted ??= this.sweep()
    await this.#counted
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    const kept = this.#sizes.get(place.space) ?? { entries: 0, bytes: 0 }
    const isFull = kept.entries + entries.length > total.entries || kept.bytes + bytes > total.bytes
    if (isFull || this.#waitingBytes + bytes > MAX_WAITING) return 'full'
    this.#sizes.set(place.space, { entries: kept.entries + entries.length, bytes: kept.bytes + bytes })
    this.#waitingBytes += bytes
    try {
      await this.#write(place, entries)
    } finally {
      this.#waitingBytes -= bytes
    }
    return 'kept'
  }

  async delete(place: Place, keys: readonly string[]): Promise<void> {
    const entries = this.#next?.places.get(nameOf(place))?.entries
    for (const key of keys) entries?.delete(key)
    await this.#after(() => this.#storage.delete(place, keys))
  }

  /** Removes what has expired, and counts the rest. */
  async sweep(): Promise<void> {
    try {
      const sizes = await this.#storage.sweep()
      this.#sizes = new Map(Array.from(sizes, ([name, size]) => [name, { ...size }]))
      this.#onSwept(sizes)
    } catch {
      // Counted the next time.
    }
  }

  /** Writes what waits, and closes the storage. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running
    await this.#storage.close()
  }

  async #write(place: Place, entries: readonly Entry[]): Promise<void> {
    this.#next ??= this.#schedule()
    const { places, done } = this.#next
    const name = nameOf(place)
    const waiting = places.get(name) ?? { place, entries: new Map<string, string>() }
    places.set(name, waiting)
    for (const [key, value] of entries) waiting.entries.set(key, value)
    await done
  }

  #schedule(): Batch {
    const places: Batch['places'] = new Map()
    const done = this.#after(async () => {
      this.#writing = this.#next
      this.#next = undefined
      try {
        for (const { place, entries } of places.values()) await this.#storage.put(place, [...entries], this.#spaces[place.space])
      } finally {
        this.#writing = undefined
      }
    })
    return { places, done }
  }

  /** One change after the other. */
  #after(change: () => Promise<void>): Promise<void> {
    const done = this.#running.then(change)
    this.#running = done.catch(() => undefined)
    return done
  }
}
