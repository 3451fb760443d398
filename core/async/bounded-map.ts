import { type Linked, LinkedList } from './event-loop.ts'

/** A key, and its neighbours by age. */
interface Aged<K> extends Linked {
  readonly key: K
}

/**
 * A Map of at most `max` entries: a new entry replaces the oldest one. The keys are linked by age as well, because a Map finds its first key
 * only by skipping all that were deleted before it.
 */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #max: number
  readonly #byAge = new LinkedList<Aged<K>>()
  readonly #links = new Map<K, Aged<K>>()

  constructor(max: number) {
    super()
    this.#max = max
  }

  override set(key: K, value: V): this {
    if (!this.has(key)) {
      if (this.size >= this.#max) this.delete(this.#byAge.first!.key)
      const link: Aged<K> = { key, previous: undefined, next: undefined }
      this.#byAge.add(link)
      this.#links.set(key, link)
    }
    return super.set(key, value)
  }

  override delete(key: K): boolean {
    const link = this.#links.get(key)
    if (link === undefined) return false
    this.#byAge.remove(link)
    this.#links.delete(key)
    return super.delete(key)
  }

  override clear(): void {
    for (const key of this.keys()) this.delete(key)
  }
}
