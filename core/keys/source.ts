import { withTimeout } from '../async/timeout.ts'
import type { Store } from '../store/database.ts'
import { type AccountHolder, findAccountHolder, findHolder, type KeyHolder, LAST_USED_RESOLUTION_MS } from './principal.ts'

/** Where a key directory finds keys, and learns that they changed: the store, or the process that has it. */
export interface KeySource {
  /** Finds the holder of a key by the digest of its secret. Rejects, within seconds, if the store fails or cannot be reached. */
  find(digest: string): Promise<KeyHolder | undefined>
  /** Finds an account by its id. Rejects as `find` does. */
  findAccount(id: string): Promise<AccountHolder | undefined>
  /** Notes that a key was used: the time is stored about once a minute. */
  used(keyId: string): void
  /** Reports changes to `watcher` until the returned function is called. */
  watch(watcher: KeyWatcher): () => void
  /**
   * Until when every change was seen and reported, by `performance.now()`; -Infinity: that is not known. Absent in a proxy, which asks control.
   */
  seenUntil?(): number
}

/** Learns that keys changed. */
export interface KeyWatcher {
  /**
   * Keys changed: all must be looked up again, if the source permits. `id`: the key or account that was changed, whose cached entries are
   * invalid.
   */
  changed(id?: string): void
  /** Changes could not be seen for so long that cached keys may no longer be used. */
  lost(): void
}

/** The keys of a store, and the times of their last use. Polls the store for changes by other processes until it is closed. */
export class StoredKeys implements KeySource {
  readonly #store: Store
  readonly #uses: UseWriter
  readonly #watchers = new Set<KeyWatcher>()
  readonly #timer = setInterval(() => void this.#poll(), POLL_MS).unref()
  #failures = 0
  #seenUntil = Number.NEGATIVE_INFINITY

  constructor(store: Store) {
    this.#store = store
    this.#uses = new UseWriter(store)
    store.events.on('keys', this.#changed)
  }

  find(digest: string): Promise<KeyHolder | undefined> {
    return withTimeout(LOOK_UP_MS, findHolder(this.#store, digest))
  }

  findAccount(id: string): Promise<AccountHolder | undefined> {
    return withTimeout(LOOK_UP_MS, findAccountHolder(this.#store, id))
  }

  used(keyId: string): void {
    this.#uses.note(keyId)
  }

  watch(watcher: KeyWatcher): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  seenUntil(): number {
    return this.#seenUntil
  }

  /** Writes the pending times. */
  close(): Promise<void> {
    clearInterval(this.#timer)
    this.#store.events.off('keys', this.#changed)
    return this.#uses.close()
  }

  readonly #changed = (id?: string): void => {
    for (const watcher of this.#watchers) watcher.changed(id)
  }

  async #poll(): Promise<void> {
    try {
      if (await this.#store.changed()) this.#changed()
      this.#failures = 0
      this.#seenUntil = this.#store.seenUntil()
    } catch {
      this.#failures += 1
      // Keys in use stay valid during a short failure.
      if (this.#failures >= MAX_FAILED_POLLS) for (const watcher of this.#watchers) watcher.lost()
    }
  }
}

/** The longest wait for the store, in milliseconds. */
const LOOK_UP_MS = 900

/** A revocation by another process takes effect within a second: four polls. */
const POLL_MS = 250

/** Five minutes in which the store could not be polled for revocations. */
const MAX_FAILED_POLLS = 1200

/** Keys per statement: a database limits its parameters, and other writes wait for it. */
const BATCH = 500

/** Writes the times of the last use of keys about once a minute, outside of calls. */
class UseWriter {
  readonly #store: Store
  readonly #timer = setInterval(() => void this.#write(), LAST_USED_RESOLUTION_MS).unref()
  #used = new Set<string>()

  constructor(store: Store) {
    this.#store = store
  }

  note(keyId: string): void {
    this.#used.add(keyId)
  }

  close(): Promise<void> {
    clearInterval(this.#timer)
    return this.#write()
  }

  /** If the store fails, the times are written with the next batch; no call depends on it. */
  async #write(): Promise<void> {
    const ids = [...this.#used]
    this.#used = new Set()
    const last_used_at = Date.now()
    while (ids.length > 0) {
      const batch = ids.slice(0, BATCH)
      try {
        await this.#store.db.updateTable('keys').set({ last_used_at }).where('id', 'in', batch).execute()
      } catch {
        this.#used = new Set([...ids, ...this.#used])
        return
      }
      ids.splice(0, BATCH)
    }
  }
}
