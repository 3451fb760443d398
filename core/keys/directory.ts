import { BoundedMap } from '../async/bounded-map.ts'
import { withTimeout } from '../async/timeout.ts'
import type { DeclaredKey } from '../config/config.ts'
import { GatewayError } from '../errors.ts'
import type { Principal } from '../sdk/api.ts'
import type { Store } from '../store/database.ts'
import { digestOf } from '../text/ids.ts'
import { kindOf } from './format.ts'
import { declaredHolder, findHolder, type KeyHolder, LAST_USED_RESOLUTION_MS } from './principal.ts'

/** Resolves API keys to principals. */
export interface KeyDirectory {
  /**
   * The principal of a secret; undefined if it is malformed, unknown, revoked, expired or an admin key. Declared keys take precedence.
   * A revocation in this process takes effect with the next call, one in another process within a second. Throws
   * `storage_unavailable` if the key must be looked up and the store fails; keys in use stay valid without it.
   */
  verify(secret: string): Promise<Principal | undefined>
  /** Replaces the declared keys: those of the routes.yaml in use. */
  declare(keys: readonly DeclaredKey[]): void
  close(): Promise<void>
}

/**
 * The store reports changes (`watchKeys`). If it does not, for example behind a pooler that drops notifications, cached keys are looked
 * up again after this time. Milliseconds.
 */
const FRESH_MS = 10_000

/** The longest wait of a call for the store, and of a call whose key was in use before the last change of keys. Milliseconds. */
const LOOK_UP_MS = 900
const DOUBT_MS = 80

/** The most cached keys, of known and of unknown ones each. */
const MOST_KNOWN = 10_000
const MOST_UNKNOWN = 1_000

/** The look-ups since the last change of keys. One that ends after a change writes into the discarded cache. */
interface Memory {
  readonly known: Map<string, { readonly holder: KeyHolder; askedAt: number }>
  /** Unknown keys, by the time of their look-up. Separate from known keys, so that guessed keys cannot evict them. */
  readonly unknown: Map<string, number>
  readonly underWay: Map<string, Promise<KeyHolder | undefined>>
  /** The cache before the last change: used if the store fails. */
  readonly doubtful: Map<string, KeyHolder>
}

const newMemory = (doubtful: Map<string, KeyHolder> = new BoundedMap(MOST_KNOWN)): Memory => ({
  known: new BoundedMap(MOST_KNOWN),
  unknown: new BoundedMap(MOST_UNKNOWN),
  underWay: new Map(),
  doubtful,
})

/** Creates the directory of a store's keys. It is the one reader of `store.changed`. */
export function createKeyDirectory(store: Store): KeyDirectory {
  let memory = newMemory()
  let declared: ReadonlyMap<string, DeclaredKey> = new Map()
  const uses = recordUse(store)
  const stopWatching = watchKeys(store, {
    doubt(id) {
      const { known, doubtful } = memory
      for (const [digest, { holder }] of known) doubtful.set(digest, holder)
      if (id !== undefined) {
        for (const [digest, { principal }] of doubtful)
          if (principal.keyId === id || principal.account === id) doubtful.delete(digest)
      }
      memory = newMemory(doubtful)
    },
    forget() {
      memory = newMemory()
    },
  })

  async function verify(secret: string): Promise<Principal | undefined> {
    const digest = digestOf(secret)
    const key = declared.get(digest)
    // The format of a secret is checked only if it is not cached.
    if (key !== undefined || !memory.known.has(digest)) {
      const kind = kindOf(secret)
      if (kind === undefined || kind === 'admin') return undefined
      if (key !== undefined) return valid(declaredHolder(key, kind))
    }
    const principal = valid(await find(store, memory, digest))
    if (principal !== undefined) uses.note(principal.keyId)
    return principal
  }

  return {
    verify,
    declare(keys) {
      declared = new Map(keys.map((key) => [key.digest, key]))
    },
    close() {
      stopWatching()
      return uses.close()
    },
  }
}

/** The principal of a holder that has not expired. */
function valid(holder: KeyHolder | undefined): Principal | undefined {
  return holder?.expiresAt !== undefined && holder.expiresAt <= Date.now() ? undefined : holder?.principal
}

async function find(store: Store, memory: Memory, digest: string): Promise<KeyHolder | undefined> {
  const now = Date.now()
  const known = memory.known.get(digest)
  if (known !== undefined) {
    if (known.askedAt <= now - FRESH_MS) refresh(store, memory, digest)
    return known.holder
  }
  const refusedAt = memory.unknown.get(digest)
  if (refusedAt !== undefined && refusedAt > now - FRESH_MS) return undefined
  try {
    return await withTimeout(memory.doubtful.has(digest) ? DOUBT_MS : LOOK_UP_MS, ask(store, memory, digest))
  } catch (cause) {
    const holder = memory.doubtful.get(digest)
    if (holder === undefined) throw new GatewayError('storage_unavailable', { headers: { 'retry-after': '1' }, cause })
    // Later calls need not wait for the store to fail again; a look-up that ends late replaces this entry.
    memory.known.set(digest, { holder, askedAt: now })
    return holder
  }
}

/** Looks up again, after the call that found the entry outdated. If the store fails, the cached entry stays in use. */
function refresh(store: Store, memory: Memory, digest: string): void {
  memory.known.get(digest)!.askedAt = Date.now()
  ask(store, memory, digest).catch(() => undefined)
}

/** Concurrent calls with one key share one look-up. */
function ask(store: Store, memory: Memory, digest: string): Promise<KeyHolder | undefined> {
  const search = memory.underWay.get(digest) ?? lookUp(store, memory, digest)
  memory.underWay.set(digest, search)
  return search
}

async function lookUp(
  store: Store,
  { known, unknown, underWay, doubtful }: Memory,
  digest: string,
): Promise<KeyHolder | undefined> {
  try {
    const holder = await findHolder(store, digest)
    doubtful.delete(digest)
    if (holder === undefined) {
      known.delete(digest)
      unknown.set(digest, Date.now())
    } else known.set(digest, { holder, askedAt: Date.now() })
    return holder
  } finally {
    underWay.delete(digest)
  }
}

/** A revocation by another process takes effect within a second: four polls. */
const POLL_MS = 250

/** Five minutes in which the store could not be polled for revocations. */
const MAX_FAILED_POLLS = 1200

/** Changes the cache of the store's keys. */
export interface Watcher {
  /**
   * Keys changed: all must be looked up again, if the store permits. `id`: the key or account that this process changed, whose cached
   * entries are invalid.
   */
  doubt(id?: string): void
  /** The store has failed for so long that cached keys may no longer be used. */
  forget(): void
}

/** Watches a store's keys until the returned function is called. */
function watchKeys(store: Store, { doubt, forget }: Watcher): () => void {
  let failedPolls = 0
  const poll = async () => {
    try {
      if (await store.changed()) doubt()
      failedPolls = 0
    } catch {
      failedPolls += 1
      // Keys in use stay valid during a short failure; look-ups fail with `storage_unavailable`.
      if (failedPolls >= MAX_FAILED_POLLS) forget()
    }
  }
  const timer = setInterval(poll, POLL_MS).unref()
  store.events.on('keys', doubt)
  return () => {
    clearInterval(timer)
    store.events.off('keys', doubt)
  }
}

/** Keys per statement: a database limits its parameters, and other writes wait for it. */
const BATCH = 500

/** Records the use of keys, and writes the times about once a minute, outside of calls. */
export interface UseRecorder {
  note(keyId: string): void
  /** Writes the pending times. */
  close(): Promise<void>
}

/** If the store fails, the times are written with the next batch; no call depends on it. */
function recordUse(store: Store): UseRecorder {
  let used = new Set<string>()

  async function write(): Promise<void> {
    const ids = [...used]
    used = new Set()
    const last_used_at = Date.now()
    while (ids.length > 0) {
      const batch = ids.slice(0, BATCH)
      try {
        await store.db.updateTable('keys').set({ last_used_at }).where('id', 'in', batch).execute()
      } catch {
        used = new Set([...ids, ...used])
        return
      }
      ids.splice(0, BATCH)
    }
  }

  const timer = setInterval(write, LAST_USED_RESOLUTION_MS).unref()
  return {
    note: (keyId) => void used.add(keyId),
    async close() {
      clearInterval(timer)
      await write()
    },
  }
}
