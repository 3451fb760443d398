import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import type { Keeper } from '../protocol/kept-ids.ts'
import type { Added, Kept, Place, SpaceName, ValueStore } from './value-store.ts'

const CIPHER = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16
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

/** The keys of what the gateway keeps with a key of the operator's. */
export function keysOfOperator({ space, account }: Place, secret: string): SealingKeys {
  const keyFor = (use: string): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, '', JSON.stringify([`umg ${use}`, space, account]), KEY_BYTES))
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
  readonly #ttlMs: number | undefined

  /** `keys`: the first seals, and all open. `ttlMs`: default: that of the space. */
  constructor(store: ValueStore, place: Place, keys: readonly SealingKeys[], ttlMs?: number) {
    this.#store = store
    this.#place = place
    this.#keys = keys
    this.#ttlMs = ttlMs
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
        const value = sealed === undefined ? undefined : open(name, sealed, sealing)
        if (value !== undefined) values.set(key, value)
      }
    }
    return values
  }

  /** Keeps values. Rejects if the store cannot be reached. */
  put(values: ReadonlyMap<string, Buffer>): Promise<Kept> {
    const [sealing] = this.#keys as [SealingKeys]
    const entries = Array.from(values, ([key, value]) => {
      const name = nameOf(key, sealing)
      return [name, seal(name, value, sealing)] as const
    })
    return this.#store.put(this.#place, entries, this.#ttlMs)
  }

  /** Keeps a value unless there is one of its key. Rejects if the store cannot be reached. */
  add(key: string, value: Buffer): Promise<Added> {
    const [sealing] = this.#keys as [SealingKeys]
    const name = nameOf(key, sealing)
    return this.#store.add(this.#place, [name, seal(name, value, sealing)], this.#ttlMs)
  }

  /** Removes values. Rejects if the store cannot be reached. */
  delete(keys: readonly string[]): Promise<void> {
    return this.#store.delete(
      this.#place,
      this.#keys.flatMap((sealing) => keys.map((key) => nameOf(key, sealing))),
    )
  }
}

/** Under which name the store has a key, which may be any text of a client. */
const nameOf = (key: string, { names }: SealingKeys): string => createHmac('sha256', names).update(key).digest('base64url')

/** `name`: a value that was moved to another one does not open. */
function seal(name: string, value: Buffer, { contents }: SealingKeys): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, contents, iv).setAAD(Buffer.from(name))
  const text = Buffer.concat([cipher.update(value), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64')
}

/** Undefined for what was sealed with other keys. */
function open(name: string, sealed: string, { contents }: SealingKeys): Buffer | undefined {
  const bytes = Buffer.from(sealed, 'base64')
  if (bytes.length < IV_BYTES + TAG_BYTES) return undefined
  const [iv, tag, text] = [
    bytes.subarray(0, IV_BYTES),
    bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES),
    bytes.subarray(IV_BYTES + TAG_BYTES),
  ]
  try {
    const decipher = createDecipheriv(CIPHER, contents, iv, { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(name))
      .setAuthTag(tag)
    return Buffer.concat([decipher.update(text), decipher.final()])
  } catch {
    return undefined
  }
}
