import { type Bounds, type Entry, nameOf, type Place, sizeOf, type ValueStorage } from '../../../core/kept/value-store.ts'

/** A storage in the memory of a test, which can fail, and keeps everything for ever. */
export class ValuesInMemory implements ValueStorage {
  readonly #values = new Map<string, Map<string, string>>()
  /** Resolves when it may go on. */
  gate: Promise<void> = Promise.resolve()
  /** Resolves when it may count. */
  countGate: Promise<void> = Promise.resolve()
  fails = false

  async get(place: Place, keys: readonly string[]): Promise<readonly Entry[]> {
    await this.#work()
    const values = this.#values.get(nameOf(place))
    return keys.flatMap((key): Entry[] => (values?.has(key) ? [[key, values.get(key)!]] : []))
  }

  async put(place: Place, entries: readonly Entry[]): Promise<void> {
    await this.#work()
    this.#values.set(nameOf(place), new Map([...(this.#values.get(nameOf(place)) ?? []), ...entries]))
  }

  async add(place: Place, [key, value]: Entry): Promise<boolean> {
    await this.#work()
    if (this.#values.get(nameOf(place))?.has(key)) return false
    await this.put(place, [[key, value]])
    return true
  }

  async delete(place: Place, keys: readonly string[]): Promise<void> {
    await this.#work()
    for (const key of keys) this.#values.get(nameOf(place))?.delete(key)
  }

  async sweep(): Promise<ReadonlyMap<string, Bounds>> {
    await this.countGate
    if (this.fails) throw new Error('no storage')
    const sizes = new Map<string, Bounds>()
    for (const [name, values] of this.#values) {
      const space = name.slice(0, name.indexOf(' '))
      const { entries, bytes } = sizes.get(space) ?? { entries: 0, bytes: 0 }
      const added = [...values].reduce((sum, entry) => sum + sizeOf(entry), 0)
      sizes.set(space, { entries: entries + values.size, bytes: bytes + added })
    }
    return sizes
  }

  async close(): Promise<void> {}

  async #work(): Promise<void> {
    await this.gate
    if (this.fails) throw new Error('no storage')
  }
}
