import { BoundedMap } from '../async/bounded-map.ts'
import { withTimeout } from '../async/timeout.ts'

/** What was found is looked up again after this time, in milliseconds, unless changes are known to be seen. */
const FRESH_MS = 10_000
/** How long ago that may have been for those who keep the result themselves, in milliseconds: changes are looked for every three seconds at least. */
const SEEN_MS = 4_000
/** It is looked up again after this time in any case, in milliseconds: someone may have disabled the triggers of a database. */
const LONGEST_MS = 600_000

/** The most cached entries, of known and of unknown names each. */
const MOST_KNOWN = 50_000
const MOST_UNKNOWN = 1_000

/** The options of `LookUps`. */
export interface LookUpsOptions<Found> {
  /** Asks the source, which limits how long that takes. Resolves to undefined if there is nothing of this name. */
  find(name: string): Promise<Found | undefined>
  /** Until when every change was seen and told to `invalidate`, in milliseconds since 1970; 0 if that is not known. */
  seenUntil(): number
  /** The longest wait for the source where an older result is cached, in milliseconds. */
  readonly patienceMs: number
}

interface Entry<Found> {
  readonly found: Found
  /** Milliseconds since 1970. */
  foundAt: number
  /** The number of changes before it. If there were more since, it is only used where the source fails. */
  changes: number
}

/** A cache in front of a source that may fail: what is in use stays valid without the source. */
export class LookUps<Found> {
  readonly #options: LookUpsOptions<Found>
  readonly #known = new BoundedMap<string, Entry<Found>>(MOST_KNOWN)
  /** Unknown names. Separate from known ones, so that guessed keys cannot evict them. */
  readonly #unknown = new BoundedMap<string, Entry<undefined>>(MOST_UNKNOWN)
  /** Those that began since the last change. */
  #running = new Map<string, Promise<Found | undefined>>()
  #changes = 0

  constructor(options: LookUpsOptions<Found>) {
    this.#options = options
  }

  /** Whether a name is cached as known. */
  has(name: string): boolean {
    return this.#known.has(name)
  }

  /** Rejects as the source does if the name must be looked up, and was not known before. What may be outdated is looked up after this. */
  get(name: string): Promise<Found | undefined> {
    return this.#unlessCached(name, () => this.#cached(name))
  }

  /** The same for those who keep the result themselves: what may be outdated is looked up first. */
  getNewest(name: string): Promise<Found | undefined> {
    return this.#unlessCached(name, () => this.#newest(name))
  }

  /** All must be looked up again. `isChanged`: whether an entry is not used even if the source fails. */
  invalidate(isChanged: (found: Found) => boolean): void {
    this.#changes += 1
    this.#running = new Map()
    for (const [name, { found }] of this.#known) if (isChanged(found)) this.#known.delete(name)
  }

  /** Forgets everything. */
  clear(): void {
    this.invalidate(() => true)
  }

  async #unlessCached(name: string, find: () => Entry<Found | undefined> | undefined): Promise<Found | undefined> {
    const cached = find()
    if (cached !== undefined) return cached.found
    const changes = this.#changes
    const found = await this.#lookUpOnce(name)
    if (changes === this.#changes) return found
    // The result of a look-up that a change has overtaken is not cached: it would be missing when the source fails.
    const newer = find()
    return newer === undefined ? this.#lookUpOnce(name) : newer.found
  }

  /** What need not be looked up before it is used. */
  #cached(name: string): Entry<Found | undefined> | undefined {
    const now = Date.now()
    const entry = this.#known.get(name)
    if (entry?.changes === this.#changes) {
      if (!this.#isFresh(entry, now)) this.#refresh(entry, name, now)
      return entry
    }
    const unknown = this.#unknown.get(name)
    return unknown?.changes === this.#changes && unknown.foundAt > now - FRESH_MS ? unknown : undefined
  }

  #newest(name: string): Entry<Found> | undefined {
    const entry = this.#known.get(name)
    return entry?.changes === this.#changes && this.#isSeen(entry, Date.now(), SEEN_MS) ? entry : undefined
  }

  #isFresh(entry: Entry<Found>, now: number): boolean {
    return entry.foundAt > now - FRESH_MS || this.#isSeen(entry, now, FRESH_MS)
  }

  /** Whether a change of it would have been seen until lately. */
  #isSeen({ foundAt }: Entry<Found>, now: number, ms: number): boolean {
    return foundAt > now - LONGEST_MS && this.#options.seenUntil() > now - ms
  }

  /** Looks up again, after the call that found the entry outdated. If the source fails, the cached entry stays in use. */
  #refresh(entry: Entry<Found>, name: string, now: number): void {
    entry.foundAt = now
    this.#share(name).catch(() => undefined)
  }

  /** If the source fails or is slow, resolves to what was found before the last change. */
  async #lookUpOnce(name: string): Promise<Found | undefined> {
    const changes = this.#changes
    const lookUp = this.#share(name)
    try {
      return await (this.has(name) ? withTimeout(this.#options.patienceMs, lookUp) : lookUp)
    } catch (error) {
      const entry = this.#known.get(name)
      if (entry === undefined) throw error
      // Later calls need not wait for the source to fail again; a look-up that ends late replaces this entry.
      entry.changes = changes
      entry.foundAt = Date.now()
      return entry.found
    }
  }

  /** Concurrent calls share one look-up. */
  #share(name: string): Promise<Found | undefined> {
    const running = this.#running.get(name) ?? this.#lookUp(name)
    this.#running.set(name, running)
    return running
  }

  async #lookUp(name: string): Promise<Found | undefined> {
    const [changes, running] = [this.#changes, this.#running]
    try {
      const found = await this.#options.find(name)
      const foundAt = Date.now()
      if (found === undefined) {
        this.#known.delete(name)
        if (changes === this.#changes) this.#unknown.set(name, { found: undefined, foundAt, changes })
      } else if (changes === this.#changes) this.#known.set(name, { found, foundAt, changes })
      return found
    } finally {
      running.delete(name)
    }
  }
}
