import { BoundedMap } from '../async/bounded-map.ts'
import { withTimeout } from '../async/timeout.ts'
import type { DeclaredKey } from '../config/config.ts'
import { GatewayError } from '../errors.ts'
import type { Principal } from '../sdk/api.ts'
import type { Store } from '../store/database.ts'
import { digestOf } from '../text/ids.ts'
import { kindOf } from './format.ts'
import { declaredHolder, findHolder, type KeyHolder, LAST_USED_RESOLUTION_MS } from './principal.ts'

/** Tells whom a key identifies. */
export interface KeyDirectory {
  /**
   * Whom a secret identifies; undefined where it is malformed, unknown, revoked or expired, and for admin keys. Declared keys come
   * first. A revocation in this process holds for the next call, one in another process within a
   * second. Throws `storage_unavailable` where the key would have to be looked up and the store fails; keys in use go on without it.
   */
  verify(secret: string): Promise<Principal | undefined>
  /** Replaces the declared keys: those of the routes.yaml in use. */
  declare(keys: readonly DeclaredKey[]): void
  close(): Promise<void>
}

/**
 * The store tells of changes (`watchKeys`); should it ever fail to, as behind a pooler that swallows notifications, what is known is
 * asked for again after so long.
 */
const FRESH_MS = 10_000

/** A call waits no longer for the store. Milliseconds. */
const LOOK_UP_MS = 900

/** How many keys of either sort are remembered. */
const MOST_KNOWN = 10_000
const MOST_UNKNOWN = 1_000

/** What was found since the keys last changed. A look-up that ends after a change writes into the memory of before, which nobody reads. */
interface Memory {
  readonly known: Map<string, { readonly holder: KeyHolder; askedAt: number }>
  /** When it was asked for. Apart from the known ones, so that guessing cannot push them out. */
  readonly unknown: Map<string, number>
  readonly underWay: Map<string, Promise<KeyHolder | undefined>>
  /** What was known before something else changed: it holds where the store cannot be asked. */
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
    // The format of a secret is checked where nothing is known of it yet.
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
    return await withTimeout(LOOK_UP_MS, ask(store, memory, digest))
  } catch (cause) {
    const holder = memory.doubtful.get(digest)
    if (holder === undefined) throw new GatewayError('storage_unavailable', { headers: { 'retry-after': '1' }, cause })
    // The calls that follow need not wait for the store to fail again.
    memory.known.set(digest, { holder, askedAt: now })
    return holder
  }
}

/** Behind the call that noticed. Where the store cannot be asked, what is known goes on. */
function refresh(store: Store, memory: Memory, digest: string): void {
  memory.known.get(digest)!.askedAt = Date.now()
  ask(store, memory, digest).catch(() => undefined)
}

/** Calls that come together with one key share one look-up. */
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

/** A revocation by another process holds within a second: four chances to see it. */
const POLL_MS = 250

/** Five minutes in which the store could not say whether a key was revoked. */
const MAX_FAILED_POLLS = 1200

/** What to do about what is remembered of the store's keys. */
export interface Watcher {
  /**
   * Something changed: all must be asked for again, if that can be. `id`: that of the key or account which this process changed; of it
   * nothing can be trusted.
   */
  doubt(id?: string): void
  /** The store has failed for so long that nothing of it can be trusted. */
  forget(): void
}

/** Watches a store's keys until the returned function is called. */
function watchKeys(store: Store, { doubt, forget }: Watcher): () => void {
  let failedPolls = 0
  const poll = () => {
    try {
      if (store.changed()) doubt()
      failedPolls = 0
    } catch {
      failedPolls += 1
      // Keys in use outlive a short failure; each look-up meanwhile says `storage_unavailable`.
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

/** Keys per statement: SQLite runs in this thread, and thousands at once would delay streams. */
const BATCH = 500

/** Records which keys are used, and writes the time about once a minute, off the path of calls. */
export interface UseRecorder {
  note(keyId: string): void
  /** Writes what is not written yet. */
  close(): Promise<void>
}

/** If the store fails, the uses are written the next time; no call depends on it. */
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
