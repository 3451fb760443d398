import { BoundedMap } from '../async/bounded-map.ts'
import { withTimeout } from '../async/timeout.ts'
import type { DeclaredKey } from '../config/config.ts'
import { GatewayError } from '../errors.ts'
import type { Principal } from '../sdk/api.ts'
import { digestOf } from '../text/ids.ts'
import { kindOf } from './format.ts'
import { declaredHolder, type KeyHolder } from './principal.ts'
import type { KeySource } from './source.ts'

/**
 * The source reports changes. If it does not, for example behind a pooler that drops notifications, cached keys are looked up again after
 * this time. Milliseconds.
 */
const FRESH_MS = 10_000

/** The longest wait of a call for the source, and of a call whose key was known before the last change of keys. Milliseconds. */
const LOOK_UP_MS = 900
const STALE_LOOK_UP_MS = 80

/** The most cached keys, of known and of unknown ones each. */
const MOST_KNOWN = 10_000
const MOST_UNKNOWN = 1_000

/** The keys looked up since the last change. A look-up that ends after a change writes into the discarded cache. */
interface Cache {
  readonly known: Map<string, { readonly holder: KeyHolder; foundAt: number }>
  /** Unknown keys, by the time of their look-up. Separate from known keys, so that guessed keys cannot evict them. */
  readonly unknown: Map<string, number>
  readonly lookUps: Map<string, Promise<KeyHolder | undefined>>
  /** The keys known before the last change: used if the source fails. */
  readonly stale: Map<string, KeyHolder>
}

const emptyCache = (stale: Cache['stale'] = new BoundedMap(MOST_KNOWN)): Cache => ({
  known: new BoundedMap(MOST_KNOWN),
  unknown: new BoundedMap(MOST_UNKNOWN),
  lookUps: new Map(),
  stale,
})

/** Resolves API keys to principals: a cache of the keys in use, in front of their source. */
export class KeyDirectory {
  readonly #source: KeySource
  readonly #stopWatching: () => void
  #declared: ReadonlyMap<string, DeclaredKey> = new Map()
  #cache = emptyCache()

  constructor(source: KeySource) {
    this.#source = source
    this.#stopWatching = source.watch({
      changed: (id) => this.#invalidate(id),
      lost: () => {
        this.#cache = emptyCache()
      },
    })
  }

  /**
   * The principal of a secret; undefined if it is malformed, unknown, revoked, expired or an admin key. Declared keys take precedence.
   * A revocation takes effect within a second. Throws `storage_unavailable` if the key must be looked up and the source fails; keys in
   * use stay valid without it.
   */
  async verify(secret: string): Promise<Principal | undefined> {
    const digest = digestOf(secret)
    const key = this.#declared.get(digest)
    // The format of a secret is checked only if it is not cached.
    if (key !== undefined || !this.#cache.known.has(digest)) {
      const kind = kindOf(secret)
      if (kind === undefined || kind === 'admin') return undefined
      if (key !== undefined) return unlessExpired(declaredHolder(key, kind))
    }
    const cache = this.#cache
    let holder = await this.#find(digest)
    // The result of a look-up that a change has overtaken is in no cache: it would be missing when the source fails.
    if (cache !== this.#cache) holder = await this.#find(digest)
    const principal = unlessExpired(holder)
    if (principal !== undefined) this.#source.used(principal.keyId)
    return principal
  }

  /** Replaces the declared keys: those of the routes.yaml in use. */
  declare(keys: readonly DeclaredKey[]): void {
    this.#declared = new Map(keys.map((key) => [key.digest, key]))
  }

  /** Stops watching the source. */
  close(): void {
    this.#stopWatching()
  }

  /** Cached keys must be looked up again; those of the changed key or account are not used even if the source fails. */
  #invalidate(id: string | undefined): void {
    const { known, stale } = this.#cache
    for (const [digest, { holder }] of known) stale.set(digest, holder)
    if (id !== undefined) {
      for (const [digest, { principal }] of stale) if (principal.keyId === id || principal.account === id) stale.delete(digest)
    }
    this.#cache = emptyCache(stale)
  }

  async #find(digest: string): Promise<KeyHolder | undefined> {
    const cache = this.#cache
    const now = Date.now()
    const known = cache.known.get(digest)
    if (known !== undefined) {
      if (known.foundAt <= now - FRESH_MS) this.#refresh(cache, digest)
      return known.holder
    }
    const refusedAt = cache.unknown.get(digest)
    if (refusedAt !== undefined && refusedAt > now - FRESH_MS) return undefined
    try {
      return await withTimeout(cache.stale.has(digest) ? STALE_LOOK_UP_MS : LOOK_UP_MS, this.#lookUpOnce(cache, digest))
    } catch (cause) {
      const holder = cache.stale.get(digest)
      if (holder === undefined) throw new GatewayError('storage_unavailable', { headers: { 'retry-after': '1' }, cause })
      // Later calls need not wait for the source to fail again; a look-up that ends late replaces this entry.
      cache.known.set(digest, { holder, foundAt: now })
      return holder
    }
  }

  /** Looks up again, after the call that found the entry outdated. If the source fails, the cached entry stays in use. */
  #refresh(cache: Cache, digest: string): void {
    cache.known.get(digest)!.foundAt = Date.now()
    this.#lookUpOnce(cache, digest).catch(() => undefined)
  }

  /** Concurrent calls with one key share one look-up. */
  #lookUpOnce(cache: Cache, digest: string): Promise<KeyHolder | undefined> {
    const lookUp = cache.lookUps.get(digest) ?? this.#lookUp(cache, digest)
    cache.lookUps.set(digest, lookUp)
    return lookUp
  }

  async #lookUp({ known, unknown, lookUps, stale }: Cache, digest: string): Promise<KeyHolder | undefined> {
    try {
      const holder = await this.#source.find(digest)
      stale.delete(digest)
      if (holder === undefined) {
        known.delete(digest)
        unknown.set(digest, Date.now())
      } else known.set(digest, { holder, foundAt: Date.now() })
      return holder
    } finally {
      lookUps.delete(digest)
    }
  }
}

/** The principal of a holder that has not expired. */
function unlessExpired(holder: KeyHolder | undefined): Principal | undefined {
  return holder?.expiresAt !== undefined && holder.expiresAt <= Date.now() ? undefined : holder?.principal
}
