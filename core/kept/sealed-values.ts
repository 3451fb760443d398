import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import type { Keeper } from '../protocol/kept-ids.ts'
import type { Kept, Place, SpaceName, ValueStore } from './value-store.ts'

const CIPHER = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Values of a keeper, sealed as kept responses are: with a key that only gateways with the same credential can make. The store, and who reads
 * it, learns neither values nor keys; and what one keeper has put another one does not find, be it of another account, credential or vendor.
 */
export class SealedValues {
  readonly #store: ValueStore
  readonly #place: Place
  readonly #names: Buffer
  readonly #contents: Buffer

  constructor(store: ValueStore, space: SpaceName, { namespace, credential, account, secret }: Keeper) {
    this.#store = store
    this.#place = { space, account }
    const keyFor = (use: string): Buffer =>
      createHmac('sha256', secret)
        .update(JSON.stringify([use, space, namespace, account, credential ?? null]))
        .digest()
    this.#names = keyFor('names of kept values')
    this.#contents = keyFor('kept values')
  }

  /** The values of those keys that are kept and can be opened. Rejects if the store cannot be reached. */
  async get(keys: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const names = new Map(keys.map((key) => [this.#nameOf(key), key]))
    const found = await this.#store.get(this.#place, [...names.keys()])
    return new Map(
      found.flatMap(([name, sealed]): [string, Buffer][] => {
        const key = names.get(name)
        const value = key === undefined ? undefined : this.#open(name, sealed)
        return value === undefined ? [] : [[key!, value]]
      }),
    )
  }

  /** Keeps values. Rejects if the store cannot be reached. */
  put(values: ReadonlyMap<string, Buffer>): Promise<Kept> {
    const entries = Array.from(values, ([key, value]) => {
      const name = this.#nameOf(key)
      return [name, this.#seal(name, value)] as const
    })
    return this.#store.put(this.#place, entries)
  }

  /** Removes values. Rejects if the store cannot be reached. */
  delete(keys: readonly string[]): Promise<void> {
    return this.#store.delete(
      this.#place,
      keys.map((key) => this.#nameOf(key)),
    )
  }

  /** Under which name the store has a key, which may be any text of a client. */
  #nameOf(key: string): string {
    return createHmac('sha256', this.#names).update(key).digest('base64url')
  }

  /** `name`: a value that was moved to another one does not open. */
  #seal(name: string, value: Buffer): string {
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv(CIPHER, this.#contents, iv).setAAD(Buffer.from(name))
    const text = Buffer.concat([cipher.update(value), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64')
  }

  /** Undefined for what this keeper has not sealed. */
  #open(name: string, sealed: string): Buffer | undefined {
    const bytes = Buffer.from(sealed, 'base64')
    if (bytes.length < IV_BYTES + TAG_BYTES) return undefined
    const [iv, tag, text] = [
      bytes.subarray(0, IV_BYTES),
      bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES),
      bytes.subarray(IV_BYTES + TAG_BYTES),
    ]
    try {
      const decipher = createDecipheriv(CIPHER, this.#contents, iv, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(name))
        .setAuthTag(tag)
      return Buffer.concat([decipher.update(text), decipher.final()])
    } catch {
      return undefined
    }
  }
}
