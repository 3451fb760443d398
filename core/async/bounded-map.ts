import { type Linked, LinkedList } from './linked-list.ts'

interface Entry<K, V> extends Linked {
  readonly key: K
  value: V
}

/**
 * A map of at most `max` entries: a new entry replaces the oldest one. The entries are linked by age, because a `Map` finds its first key
 * only by skipping all that were deleted before it.
 */
export class BoundedMap<K, V> {
  readonly #max: number
  readonly #entries = new Map<K, Entry<K, V>>()
  readonly #byAge = new LinkedList<Entry<K, V>>()

  constructor(max: number) {
    this.#max = max
  }

  get size(): number {
    return this.#entries.size
  }

  has(key: K): boolean {
    return this.#entries.has(key)
  }

  get(key: K): V | undefined {
    return this.#entries.get(key)?.value
  }

  set(key: K, value: V): this {
    const known = this.#entries.get(key)
    if (known === undefined) this.#add(key, value)
    else known.value = value
    return this
  }

  #add(key: K, value: V): void {
    if (this.size >= this.#max) this.delete(this.#byAge.first!.key)
    const entry: Entry<K, V> = { key, value, previous: undefined, next: undefined }
    this.#byAge.add(entry)
    this.#entries.set(key, entry)
  }

  /** Returns whether there was such an entry. */
  delete(key: K): boolean {
    const entry = this.#entries.get(key)
    if (entry === undefined) return false
    this.#byAge.remove(entry)
    return this.#entries.delete(key)
  }

  clear(): void {
    for (const key of this.#entries.keys()) this.delete(key)
  }

  keys(): IterableIterator<K> {
    return this.#entries.keys()
  }

  values(): IterableIterator<V> {
    return this.#entries.values().map(({ value }) => value)
  }

  /** The oldest first. */
  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.#entries.values().map(({ key, value }) => [key, value])
  }
}
