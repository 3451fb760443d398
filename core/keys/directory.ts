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

/** Resolves API keys to principals: a cache of the keys in use, in front of their source, and the keys and accounts of routes.yaml. */
export class KeyDirectory {
  readonly #source: KeySource
  readonly #stopWatching: () => void
  readonly #holders: LookUps<KeyHolder>
  /** Accounts of the source that own keys of routes.yaml. */
  readonly #owners: LookUps<AccountHolder>
  #declared: ReadonlyMap<string, DeclaredKey> = new Map()
  #accounts: ReadonlyMap<string, DeclaredAccount> = new Map()
  /** All calls with a key share its principal. */
  #principals = new WeakMap<KeyHolder, Principal>()
  /** Whether a key of the source was ever asked for: a gateway without such keys does not need it. */
  #isUsed = false
  /** Whether cached keys had to be given up, and none was looked up since. */
  #isLost = false
  #probe: Promise<unknown> | undefined

  constructor(source: KeySource) {
    this.#source = source
    const found = <Found>(looking: Promise<Found>): Promise<Found> =>
      looking.then((result) => {
        this.#isLost = false
        return result
      })
    this.#holders = new LookUps((digest) => found(source.find(digest)))
    this.#owners = new LookUps((id) => found(source.findAccount(id)))
    this.#stopWatching = source.watch({
      changed: (id) => {
        this.#holders.invalidate(({ key }) => key.keyId === id || key.account === id)
        this.#owners.invalidate((account) => account.id === id)
      },
      lost: () => {
        this.#isLost = true
        this.#holders.clear()
        this.#owners.clear()
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
    if (declared !== undefined || !this.#holders.has(digest)) {
      const kind = kindOf(secret)
      if (kind === undefined || kind === 'admin') return undefined
      if (declared !== undefined) return this.#unlessExpired(await this.#declaredHolder(declared, kind))
    }
    this.#isUsed = true
    const principal = this.#unlessExpired(await this.#holders.get(digest))
    if (principal !== undefined) this.#source.used(principal.keyId)
    return principal
  }

  /**
   * False if no key can be checked: the source could not be reached for so long that cached keys had to be given up. Then each call of
   * this tries once more, so that a later one is true. Keys of routes.yaml whose accounts are there too need no source.
   */
  available(): boolean {
    if (!this.#isLost || !this.#isUsed) return true
    this.#probe ??= this.#owners
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
    for (const id of owners) this.#owners.get(id).catch(() => undefined)
  }

  /** Stops watching the source. */
  close(): void {
    this.#stopWatching()
  }

  async #declaredHolder(key: DeclaredKey, kind: Principal['kind']): Promise<KeyHolder | undefined> {
    const account = this.#accounts.get(key.account) ?? (await this.#owners.get(key.account))
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

/**
 * The source reports changes. If it does not, for example behind a pooler that drops notifications, cached entries are looked up again
 * after this time. Milliseconds.
 */
const FRESH_MS = 10_000

/** The longest wait of a call whose entry was known before the last change. Milliseconds. */
const STALE_LOOK_UP_MS = 80

/** The most cached entries, of known and of unknown names each. */
const MOST_KNOWN = 10_000
const MOST_UNKNOWN = 1_000

/** What was looked up since the last change. A look-up that ends after a change writes into the discarded cache. */
interface Cache<Found> {
  readonly known: Map<string, { readonly found: Found; foundAt: number }>
  /** Unknown names, by the time of their look-up. Separate from known ones, so that guessed keys cannot evict them. */
  readonly unknown: Map<string, number>
  readonly running: Map<string, Promise<Found | undefined>>
  /** What was known before the last change: used if the source fails. */
  readonly stale: Map<string, Found>
}

function emptyCache<Found>(stale: Map<string, Found> = new BoundedMap(MOST_KNOWN)): Cache<Found> {
  return { known: new BoundedMap(MOST_KNOWN), unknown: new BoundedMap(MOST_UNKNOWN), running: new Map(), stale }
}

/** A cache in front of a source that may fail: what is in use stays valid without the source. */
class LookUps<Found> {
  readonly #find: (name: string) => Promise<Found | undefined>
  #cache = emptyCache<Found>()

  /** `find`: asks the source, which limits how long that takes. */
  constructor(find: (name: string) => Promise<Found | undefined>) {
    this.#find = find
  }

  /** Whether a name is cached. */
  has(name: string): boolean {
    return this.#cache.known.has(name)
  }

  /** Throws `storage_unavailable` if the name must be looked up and the source fails. */
  async get(name: string): Promise<Found | undefined> {
    const cache = this.#cache
    const found = await this.#cached(name)
    // The result of a look-up that a change has overtaken is in no cache: it would be missing when the source fails.
    return cache === this.#cache ? found : this.#cached(name)
  }

  /** All must be looked up again. `isChanged`: whether an entry is not used even if the source fails. */
  invalidate(isChanged: (found: Found) => boolean): void {
    const { known, stale } = this.#cache
    for (const [name, { found }] of known) stale.set(name, found)
    for (const [name, found] of stale) if (isChanged(found)) stale.delete(name)
    this.#cache = emptyCache(stale)
  }

  /** Forgets everything. */
  clear(): void {
    this.#cache = emptyCache()
  }

  async #cached(name: string): Promise<Found | undefined> {
    const cache = this.#cache
    const now = Date.now()
    const known = cache.known.get(name)
    if (known !== undefined) {
      if (known.foundAt <= now - FRESH_MS) this.#refresh(cache, name)
      return known.found
    }
    const refusedAt = cache.unknown.get(name)
    if (refusedAt !== undefined && refusedAt > now - FRESH_MS) return undefined
    try {
      const lookUp = this.#lookUpOnce(cache, name)
      return await (cache.stale.has(name) ? withTimeout(STALE_LOOK_UP_MS, lookUp) : lookUp)
    } catch (cause) {
      const found = cache.stale.get(name)
      if (found === undefined) throw new GatewayError('storage_unavailable', { headers: { 'retry-after': '1' }, cause })
      // Later calls need not wait for the source to fail again; a look-up that ends late replaces this entry.
      cache.known.set(name, { found, foundAt: now })
      return found
    }
  }

  /** Looks up again, after the call that found the entry outdated. If the source fails, the cached entry stays in use. */
  #refresh(cache: Cache<Found>, name: string): void {
    cache.known.get(name)!.foundAt = Date.now()
    this.#lookUpOnce(cache, name).catch(() => undefined)
  }

  /** Concurrent calls share one look-up. */
  #lookUpOnce(cache: Cache<Found>, name: string): Promise<Found | undefined> {
    const running = cache.running.get(name) ?? this.#lookUp(cache, name)
    cache.running.set(name, running)
    return running
  }

  async #lookUp({ known, unknown, running, stale }: Cache<Found>, name: string): Promise<Found | undefined> {
    try {
      const found = await this.#find(name)
      stale.delete(name)
      if (found === undefined) {
        known.delete(name)
        unknown.set(name, Date.now())
      } else known.set(name, { found, foundAt: Date.now() })
      return found
    } finally {
      running.delete(name)
    }
  }
}
