import type { Bounds, Entry, Place, Space, SpaceName, ValueStorage } from './value-store.ts'

/** Values whose spaces have storages of their own: what lasts for days is in the database also where Redis keeps the rest. */
export class StoragesBySpace implements ValueStorage {
  readonly #storages: Readonly<Record<SpaceName, ValueStorage>>

  constructor(storages: Readonly<Record<SpaceName, ValueStorage>>) {
    this.#storages = storages
  }

  get(place: Place, keys: readonly string[]): Promise<readonly Entry[]> {
    return this.#storages[place.space].get(place, keys)
  }

  put(place: Place, entries: readonly Entry[], space: Space): Promise<void> {
    return this.#storages[place.space].put(place, entries, space)
  }

  add(place: Place, entry: Entry, space: Space): Promise<boolean> {
    return this.#storages[place.space].add(place, entry, space)
  }

  delete(place: Place, keys: readonly string[]): Promise<void> {
    return this.#storages[place.space].delete(place, keys)
  }

  async sweep(): Promise<ReadonlyMap<string, Bounds>> {
    const swept = new Map<ValueStorage, ReadonlyMap<string, Bounds>>()
    for (const storage of new Set(Object.values(this.#storages))) swept.set(storage, await storage.sweep())
    // A storage may still have what was in it before another one had the space.
    return new Map(
      Object.entries(this.#storages).flatMap(([space, storage]) => {
        const size = swept.get(storage)!.get(space)
        return size === undefined ? [] : [[space, size] as const]
      }),
    )
  }

  async close(): Promise<void> {
    await Promise.all([...new Set(Object.values(this.#storages))].map((storage) => storage.close()))
  }
}
