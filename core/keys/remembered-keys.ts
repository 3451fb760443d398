import { BoundedMap } from '../async/bounded-map.ts'
import type { AccountHolder, KeyHolder } from './principal.ts'
import type { KeySource } from './source.ts'

/** The most entries of each kind. */
const MOST_REMEMBERED = 10_000

/**
 * A source that several processes ask, each with a cache of its own. While it fails, what it has found for one of them is found for all:
 * a key in use need not have been used in each process.
 */
export class RememberedKeys {
  readonly #source: KeySource
  readonly #holders = new Memory<KeyHolder>()
  readonly #accounts = new Memory<AccountHolder>()
  readonly #stopWatching: () => void

  constructor(source: KeySource) {
    this.#source = source
    this.#stopWatching = source.watch({
      changed: (id) => {
        this.#holders.forget(({ key }) => key.keyId === id || key.account === id)
        this.#accounts.forget((account) => account.id === id)
      },
      lost: () => {
        this.#holders.forget(() => true)
        this.#accounts.forget(() => true)
      },
    })
  }

  /** As the source finds it. Rejects if the source fails and has not found it before, or if it has changed since. */
  find(digest: string): Promise<KeyHolder | undefined> {
    return this.#holders.find(digest, () => this.#source.find(digest))
  }

  /** As `find`. */
  findAccount(id: string): Promise<AccountHolder | undefined> {
    return this.#accounts.find(id, () => this.#source.findAccount(id))
  }

  close(): void {
    this.#stopWatching()
  }
}

class Memory<Found> {
  readonly #found = new BoundedMap<string, Found>(MOST_REMEMBERED)
  #changes = 0

  async find(name: string, ask: () => Promise<Found | undefined>): Promise<Found | undefined> {
    const changes = this.#changes
    try {
      const found = await ask()
      if (found === undefined) this.#found.delete(name)
      // What a change has overtaken may not be true any more.
      else if (changes === this.#changes) this.#found.set(name, found)
      return found
    } catch (error) {
      const found = this.#found.get(name)
      if (found === undefined) throw error
      return found
    }
  }

  forget(isChanged: (found: Found) => boolean): void {
    this.#changes += 1
    for (const [name, found] of this.#found) if (isChanged(found)) this.#found.delete(name)
  }
}
