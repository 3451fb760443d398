import {
  type Added,
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
  /** Default: those of `SPACES`. */
  readonly spaces?: Readonly<Partial<Record<SpaceName, Space>>>
  /** Learns what is kept, by the names of spaces. */
  onSwept?(sizes: ReadonlyMap<string, Bounds>): void
}

/** Entries that are written together, by their places and times. */
interface Batch {
  readonly places: Map<string, Waiting>
  readonly done: Promise<void>
}

/** Entries of one `put`, or of several to the same place for the same time. */
interface Waiting {
  readonly place: Place
  readonly ttlMs: number
  readonly entries: Map<string, string>
}

/** A store with a storage. Entries that arrive while others are written are one change, the next. Until then they are got from memory. */
export class StoredValues implements ValueStore {
  readonly #storage: ValueStorage
  readonly #spaces: Readonly<Record<SpaceName, Space>>
  readonly #onSwept: NonNullable<StoredValuesOptions['onSwept']>
  readonly #timer: NodeJS.Timeout
  /** What waits for the first count. */
  readonly #uncounted = new Set<Waiting>()
  #next: Batch | undefined
  #writing: Batch | undefined
  #running: Promise<unknown> = Promise.resolve()
  #waitingBytes = 0
  /** What is kept in each space, and what was put since it was counted. */
  #sizes = new Map<string, { entries: number; bytes: number }>()
  #counted: Promise<void> | undefined

  constructor(storage: ValueStorage, { spaces, onSwept = () => undefined }: StoredValuesOptions = {}) {
    this.#storage = storage
    this.#spaces = { ...SPACES, ...spaces }
    this.#onSwept = onSwept
    this.#timer = setInterval(() => void this.sweep(), SWEEP_MS).unref()
  }

  async get(place: Place, keys: readonly string[]): Promise<readonly Entry[]> {
    const found: Entry[] = []
    const sought: string[] = []
    const waiting = this.#waitingAt(place)
    for (const key of keys) {
      const value = waiting.find((entries) => entries.has(key))?.get(key)
      if (value === undefined) sought.push(key)
      else found.push([key, value])
    }
    return sought.length === 0 ? found : [...found, ...(await this.#storage.get(place, sought))]
  }

  async put(place: Place, entries: readonly Entry[], ttlMs: number = this.#spaces[place.space].ttlMs): Promise<Kept> {
    const waiting = { place, ttlMs, entries: new Map(entries) }
    this.#uncounted.add(waiting)
    try {
      return await this.#inRoom(place.space, entries, async () => {
        // From here to the batch without a pause, in which nobody could get them.
        this.#uncounted.delete(waiting)
        await this.#write(waiting)
        return 'kept'
      })
    } finally {
      this.#uncounted.delete(waiting)
    }
  }

  add(place: Place, entry: Entry, ttlMs: number = this.#spaces[place.space].ttlMs): Promise<Added> {
    return this.#inRoom<Added>(place.space, [entry], async () => {
      let isAdded = false
      await this.#after(async () => {
        isAdded = await this.#storage.add(place, entry, { ...this.#spaces[place.space], ttlMs })
      })
      return isAdded ? 'kept' : 'taken'
    })
  }

  /** Writes entries that a space has room for. */
  async #inRoom<Result extends Added>(
    space: SpaceName,
    entries: readonly Entry[],
    write: () => Promise<Result>,
  ): Promise<Result | Kept> {
    const { value } = this.#spaces[space]
    const sizes = entries.map(sizeOf)
    if (sizes.some((size) => size > value)) return 'too_large'
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    if (this.#waitingBytes + bytes > MAX_WAITING) return 'full'
    this.#waitingBytes += bytes
    try {
      this.#counted ??= this.sweep()
      await this.#counted
      return this.#takesRoom(space, entries.length, bytes) ? await write() : 'full'
    } finally {
      this.#waitingBytes -= bytes
    }
  }

  async delete(place: Place, keys: readonly string[]): Promise<void> {
    for (const entries of this.#waitingAt(place)) for (const key of keys) entries.delete(key)
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
    // What waits for it joins those that are written.
    await this.#counted
    await this.#running
    await this.#storage.close()
  }

  /** What is not written yet of a place: of a key that is there several times the first value is the newest. */
  #waitingAt(place: Place): readonly Map<string, string>[] {
    const name = nameOf(place)
    const uncounted = [...this.#uncounted].filter((each) => nameOf(each.place) === name).toReversed()
    const batches = [this.#next, this.#writing].flatMap((batch) => [...(batch?.places.values() ?? [])].toReversed())
    return [...uncounted, ...batches.filter((each) => nameOf(each.place) === name)].map(({ entries }) => entries)
  }

  /** Whether a space has room for entries, which then count. */
  #takesRoom(space: SpaceName, entries: number, bytes: number): boolean {
    const { total } = this.#spaces[space]
    const kept = this.#sizes.get(space) ?? { entries: 0, bytes: 0 }
    if (kept.entries + entries > total.entries || kept.bytes + bytes > total.bytes) return false
    this.#sizes.set(space, { entries: kept.entries + entries, bytes: kept.bytes + bytes })
    return true
  }

  async #write({ place, ttlMs, entries }: Waiting): Promise<void> {
    this.#next ??= this.#schedule()
    const { places, done } = this.#next
    const name = `${ttlMs} ${nameOf(place)}`
    const waiting = places.get(name) ?? { place, ttlMs, entries: new Map<string, string>() }
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
        for (const { place, ttlMs, entries } of places.values()) {
          await this.#storage.put(place, [...entries], { ...this.#spaces[place.space], ttlMs })
        }
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
