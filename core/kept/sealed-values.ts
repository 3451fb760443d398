import { createHmac, hkdfSync } from 'node:crypto'
import type { Keeper } from '../protocol/kept-ids.ts'
import { open, seal } from '../text/sealing.ts'
import type { Added, Entry, Kept, Place, SpaceName, ValueStore } from './value-store.ts'

const KEY_BYTES = 32

/** The keys of the values of one place. */
export interface SealingKeys {
  /** Makes the names under which the store has them. */
  readonly names: Buffer
  readonly contents: Buffer
}

/** The keys of what a keeper keeps: only gateways with the same credential can make them. */
export function keysOfKeeper(space: SpaceName, { namespace, credential, account, secret }: Keeper): SealingKeys {
  const keyFor = (use: string): Buffer =>
    createHmac('sha256', secret)
      .update(JSON.stringify([use, space, namespace, account, credential ?? null]))
      .digest()
  return { names: keyFor('names of kept values'), contents: keyFor('kept values') }
}

/** The keys of what the gateway keeps with a key of the operator's, of calls with keys of one kind. */
export function keysOfOperator({ space, account }: Place, kind: 'live' | 'test', secret: string): SealingKeys {
  const keyFor = (use: string): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, '', JSON.stringify([`umg ${use}`, space, account, kind]), KEY_BYTES))
  return { names: keyFor('names of kept values'), contents: keyFor('kept values') }
}

/**
 * Values of one place, sealed: the store, and who reads it, learns neither values nor keys; and what was put with other keys is not found, be it
 * of another account, credential or vendor.
 */
export class SealedValues {
  readonly #store: ValueStore
  readonly #place: Place
  readonly #keys: readonly SealingKeys[]
  /** How long its values are kept; undefined: as long as the space says. */
  readonly ttlMs: number | undefined

  /** `keys`: the first seals, and all open. `ttlMs`: default: that of the space. */
  constructor(store: ValueStore, place: Place, keys: readonly SealingKeys[], ttlMs?: number) {
    this.#store = store
    this.#place = place
    this.#keys = keys
    this.ttlMs = ttlMs
  }

  /** The values of those keys that are kept and can be opened. Rejects if the store cannot be reached. */
  async get(keys: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const values = new Map<string, Buffer>()
    const names = this.#keys.map((sealing) => keys.map((key) => nameOf(key, sealing)))
    const found = new Map(await this.#store.get(this.#place, [...new Set(names.flat())]))
    for (const [index, sealing] of this.#keys.entries()) {
      for (const [at, key] of keys.entries()) {
        const name = names[index]![at]!
        const sealed = values.has(key) ? undefined : found.get(name)
        const value = sealed === undefined ? undefined : open(Buffer.from(sealed, 'base64'), sealing.contents, name)
        if (value !== undefined) values.set(key, value)
      }
    }
    return values
  }

  /** Keeps values. Rejects if the store cannot be reached. */
  put(values: ReadonlyMap<string, Buffer>): Promise<Kept> {
    const entries = Array.from(values, ([key, value]) => this.#entry(key, value))
    return this.#store.put(this.#place, entries, this.ttlMs)
  }

  /** Keeps a value, by default for the time of these values, unless there is one of its key. Rejects if the store cannot be reached. */
  add(key: string, value: Buffer, ttlMs = this.ttlMs): Promise<Added> {
    return this.#store.add(this.#place, this.#entry(key, value), ttlMs)
  }

  /** Removes values. Rejects if the store cannot be reached. */
  delete(keys: readonly string[]): Promise<void> {
    return this.#store.delete(
      this.#place,
      this.#keys.flatMap((sealing) => keys.map((key) => nameOf(key, sealing))),
    )
  }

  /** A value that was moved to another name does not open. */
  #entry(key: string, value: Buffer): Entry {
    const [sealing] = this.#keys as [SealingKeys]
    const name = nameOf(key, sealing)
    return [name, seal(value, sealing.contents, name).toString('base64')]
  }
}

/** Under which name the store has a key, which may be any text of a client. */
const nameOf = (key: string, { names }: SealingKeys): string => createHmac('sha256', names).update(key).digest('base64url')
