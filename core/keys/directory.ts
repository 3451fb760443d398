import { BoundedMap } from '../async/bounded-map.ts'
import { withTimeout } from '../async/timeout.ts'
import type { Config, DeclaredAccount, DeclaredKey } from '../config/config.ts'
import { GatewayError } from '../errors.ts'
import type { Principal } from '../sdk/api.ts'
import { digestOf } from '../text/ids.ts'
import { kindOf } from './format.ts'
import { type AccountHolder, declaredHolder, type KeyHolder, principalOf } from './principal.ts'
import type { KeySource } from './source.ts'

/** The id of no account: to look it up shows whether the source answers. */
const NOBODY = ''

/** The longest wait of a call whose key was known before the last change. Milliseconds. */
const STALE_LOOK_UP_MS = 80

/** Resolves API keys to principals: a cache of the keys in use, in front of their source, and the keys and accounts of routes.yaml. */
export class KeyDirectory {
  readonly #source: KeySource
  /** Also of the accounts of the source that own keys of routes.yaml. */
  readonly #found: KeyCache
  #declared: ReadonlyMap<string, DeclaredKey> = new Map()
  #accounts: ReadonlyMap<string, DeclaredAccount> = new Map()
  /** All calls with a key share its principal. */
  #principals = new WeakMap<KeyHolder, Principal>()
  /** Whether a key of the source was ever asked for: a gateway without such keys does not need it. */
  #isUsed = false
  /** Whether cached keys had to be given up, and none was looked up since. */
  #isLost = false
  #probe: Promise<unknown> | undefined

  constructor(source: KeySource, options: Pick<KeyCacheOptions, 'clock'> = {}) {
    this.#source = source
    this.#found = new KeyCache(source, {
      ...options,
      patienceMs: STALE_LOOK_UP_MS,
      onAnswer: () => {
        this.#isLost = false
      },
      onLost: () => {
        this.#isLost = true
      },
    })
  }

  /**
   * The principal of a secret. The look-up of its digest is the comparison: its time may reveal leading bits of a stored digest, but no
   * caller can choose a digest, which is the hash of 178 random bits. Undefined if it is malformed, unknown, revoked, expired or an admin key. Declared keys take precedence.
   * A revocation takes effect within a second. Throws `api_key_disabled`, and `storage_unavailable` if the key or its account must be looked up and the source
   * fails; keys in use stay valid without it.
   */
  async verify(secret: string): Promise<Principal | undefined> {
    const digest = digestOf(secret)
    const declared = this.#declared.get(digest)
    // The format of a secret is checked only if it is not cached.
    if (declared !== undefined || !this.#found.holders.has(digest)) {
      const kind = kindOf(secret)
      if (kind === undefined || kind === 'admin') return undefined
      if (declared !== undefined) return this.#unlessExpired(await this.#declaredHolder(declared, kind))
    }
    this.#isUsed = true
    const { holders } = this.#found
    // Of a key in use, nothing is awaited.
    const cached = holders.cached(digest)
    const holder = cached === undefined ? await available(holders.get(digest)) : cached.found
    const principal = this.#unlessExpired(holder)
    if (principal !== undefined) this.#source.used(principal.keyId)
    return principal
  }

  /**
   * False if no key can be checked: the source could not be reached for so long that cached keys had to be given up. Then each call of
   * this tries once more, so that a later one is true. Keys of routes.yaml whose accounts are there too need no source.
   */
  available(): boolean {
    if (!this.#isLost || !this.#isUsed) return true
    this.#probe ??= this.#found.accounts
      .get(NOBODY)
      .catch(() => undefined)
      .finally(() => {
        this.#probe = undefined
      })
    return [...this.#declared.values()].some(({ account }) => this.#accounts.has(account))
  }

  /** Replaces the declared keys and accounts: those of the routes.yaml in use. */
  declare({ keys, accounts }: Pick<Config, 'keys' | 'accounts'>): void {
    this.#declared = new Map(keys.map((key) => [key.digest, key]))
    this.#accounts = accounts
    this.#principals = new WeakMap()
    // Known before the first call, so that the source may fail from then on.
    const owners = new Set(keys.map(({ account }) => account).filter((id) => !accounts.has(id)))
    for (const id of owners) this.#found.accounts.get(id).catch(() => undefined)
  }

  /** Stops watching the source. */
  close(): void {
    this.#found.close()
  }

  async #declaredHolder(key: DeclaredKey, kind: Principal['kind']): Promise<KeyHolder | undefined> {
    const account = this.#accounts.get(key.account) ?? (await available(this.#found.accounts.get(key.account)))
    return account && declaredHolder(key, kind, account)
  }

  /** The principal of a holder that has not expired. Throws `api_key_disabled`. */
  #unlessExpired(holder: KeyHolder | undefined): Principal | undefined {
    if (holder === undefined || (holder.expiresAt !== undefined && holder.expiresAt <= Date.now())) return undefined
    if (holder.isDisabled) throw new GatewayError('api_key_disabled')
    let principal = this.#principals.get(holder)
    if (principal === undefined) {
      principal = principalOf(holder, this.#accounts)
      this.#principals.set(holder, principal)
    }
    return principal
  }
}

/** Rejects with `storage_unavailable` where a look-up rejects. */
const available = <Found>(lookUp: Promise<Found>): Promise<Found> =>
  lookUp.catch((cause: unknown) => {
    throw new GatewayError('storage_unavailable', { headers: { 'retry-after': '1' }, cause })
  })

/** The options of `KeyCache`. */
interface KeyCacheOptions {
  /** The longest wait for the source where an older result is cached, in milliseconds. */
  readonly patienceMs: number
  /** Monotonic milliseconds, those of `seenUntil`. */
  readonly clock?: () => number
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

  constructor(source: KeySource, { patienceMs, clock = () => performance.now(), onAnswer, onLost }: KeyCacheOptions) {
    const lookUps = <Found>(find: (name: string) => Promise<Found | undefined>) =>
      new LookUps<Found>({
        patienceMs,
        clock,
        freshMs: source.seenUntil === undefined ? STALE_MS - SEEN_MS : STALE_MS,
        seenUntil: () => source.seenUntil?.() ?? Number.NEGATIVE_INFINITY,
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

/** A change takes effect within this time although nobody saw it, in milliseconds: what was found is looked up again. */
const STALE_MS = 10_000
/** How long ago changes may have been seen for those who keep the result themselves, in milliseconds: they are looked for every three seconds at least. */
const SEEN_MS = 4_000
/** It is looked up again after this time in any case, in milliseconds: someone may have disabled the triggers of a database. */
const LONGEST_MS = 600_000

/** The most cached entries, of known and of unknown names each. */
const MOST_KNOWN = 50_000
const MOST_UNKNOWN = 1_000

/** The options of `LookUps`. */
interface LookUpsOptions<Found> {
  /** Asks the source, which limits how long that takes. Resolves to undefined if there is nothing of this name. */
  find(name: string): Promise<Found | undefined>
  /** Until when every change was seen and told to `invalidate`, by `clock`; -Infinity if that is not known. */
  seenUntil(): number
  /** Monotonic milliseconds. */
  clock(): number
  /** What was found is looked up again after this time, in milliseconds, unless changes are known to be seen. */
  readonly freshMs: number
  /** The longest wait for the source where an older result is cached, in milliseconds. */
  readonly patienceMs: number
}

/** When something happened. */
interface Moment {
  /** Monotonic milliseconds. */
  readonly at: number
  /** The number of changes before it. */
  readonly changes: number
}

/** What the source has said. */
interface Entry<Found> {
  readonly found: Found
  /** When it was asked. If there were more changes since, this is only used where the source fails. */
  readonly asked: Moment
  /** When it failed last, or was slow, since then. */
  failed?: Moment
}

/** A cache in front of a source that may fail: what is in use stays valid without the source. */
class LookUps<Found> {
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
    return this.#unlessCached(name, () => this.cached(name))
  }

  /** The same for those who keep the result themselves: what may be outdated is looked up first. */
  getNewest(name: string): Promise<Found | undefined> {
    return this.#unlessCached(name, () => this.#newest(name))
  }

  /** What need not be looked up before it is used; undefined: `get` looks it up. */
  cached(name: string): Entry<Found | undefined> | undefined {
    const entry = this.#known.get(name)
    if (entry !== undefined) {
      // Later calls need not wait for the source to fail again.
      if (this.#isFresh(entry.failed)) return entry
      if (entry.asked.changes === this.#changes) {
        // Looked up again after the call that found it outdated. If the source fails, it stays in use.
        if (!this.#isFresh(entry.asked) && !this.#isSeen(entry, STALE_MS)) this.#share(name).catch(() => undefined)
        return entry
      }
    }
    const unknown = this.#unknown.get(name)
    return this.#isFresh(unknown?.asked) ? unknown : undefined
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

  #newest(name: string): Entry<Found> | undefined {
    const entry = this.#known.get(name)
    return entry?.asked.changes === this.#changes && this.#isSeen(entry, SEEN_MS) ? entry : undefined
  }

  /** Whether it was a short time ago, and there was no change since. */
  #isFresh(moment: Moment | undefined): boolean {
    return moment?.changes === this.#changes && moment.at > this.#options.clock() - this.#options.freshMs
  }

  /** Whether a change of it would have been seen until lately. */
  #isSeen({ asked }: Entry<Found>, ms: number): boolean {
    const now = this.#options.clock()
    return asked.at > now - LONGEST_MS && this.#options.seenUntil() > now - ms
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
      // A look-up that ends late replaces this entry.
      entry.failed = { at: this.#options.clock(), changes }
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
    const [asked, running] = [{ at: this.#options.clock(), changes: this.#changes }, this.#running]
    try {
      const found = await this.#options.find(name)
      if (found === undefined) this.#known.delete(name)
      if (asked.changes === this.#changes) {
        if (found === undefined) this.#unknown.set(name, { found: undefined, asked })
        else this.#known.set(name, { found, asked })
      }
      return found
    } catch (error) {
      const entry = this.#known.get(name)
      if (entry !== undefined) entry.failed = { at: this.#options.clock(), changes: asked.changes }
      throw error
    } finally {
      running.delete(name)
    }
  }
}
