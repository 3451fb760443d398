import { LookUps } from './look-ups.ts'
import type { AccountHolder, KeyHolder } from './principal.ts'
import type { KeySource } from './source.ts'

/** The options of `KeyCache`. */
export interface KeyCacheOptions {
  /** The longest wait for the source where an older result is cached, in milliseconds. */
  readonly patienceMs: number
  /** The source has answered. */
  onAnswer?(): void
  /** All was forgotten, since changes could not be seen for too long. */
  onLost?(): void
}

/**
 * The keys and accounts that were found in a source. In a process that serves calls, and in control for all proxies: a key in use need not
 * have been used in each process to be found while the source fails.
 */
export class KeyCache {
  /** By the digests of secrets. */
  readonly holders: LookUps<KeyHolder>
  /** By their ids. */
  readonly accounts: LookUps<AccountHolder>
  readonly #stopWatching: () => void

  constructor(source: KeySource, { patienceMs, onAnswer, onLost }: KeyCacheOptions) {
    const lookUps = <Found>(find: (name: string) => Promise<Found | undefined>) =>
      new LookUps<Found>({
        patienceMs,
        seenUntil: () => source.seenUntil?.() ?? 0,
        async find(name) {
          const found = await find(name)
          onAnswer?.()
          return found
        },
      })
    this.holders = lookUps((digest) => source.find(digest))
    this.accounts = lookUps((id) => source.findAccount(id))
    this.#stopWatching = source.watch({
      changed: (id) => {
        this.holders.invalidate(({ key }) => key.keyId === id || key.account === id)
        this.accounts.invalidate((account) => account.id === id)
      },
      lost: () => {
        onLost?.()
        this.holders.clear()
        this.accounts.clear()
      },
    })
  }

  /** Stops watching the source. */
  close(): void {
    this.#stopWatching()
  }
}
