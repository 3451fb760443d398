import type { AuditContent, Link } from '../store/audit-chain.ts'
import type { Store } from '../store/database.ts'
import { hashOfEntry, NO_HASH } from '../store/migrations/audit-trail.ts'
import type { AuditHeadTable, AuditTable } from '../store/schema.ts'

/** Entries that are read at a time. */
const PAGE = 500

/** What is wrong with the audit trail. */
export interface AuditFinding {
  /** The place in the chain; null for an entry that has none. */
  readonly position: number | null
  /** The id of the entry; null if there is none at the place. */
  readonly id: string | null
  readonly problem: string
}

/** Whether the audit trail is as it was written. */
export interface AuditVerdict {
  /** In the chain. */
  readonly entries: number
  /** The end of the chain: to be kept elsewhere, for `known`. */
  readonly head: { readonly position: number; readonly hash: string }
  /** Empty: it is. */
  readonly findings: readonly AuditFinding[]
}

/** An entry with its place in the chain. */
export type ChainedEntry = AuditContent & Link

/** Reads the entries of the chain in their order, those after a position. */
export async function* chainedEntries(store: Store, after = 0): AsyncGenerator<ChainedEntry> {
  for (let last = after; ; ) {
    const entries = store.db.selectFrom('audit').selectAll().where('position', '>', last).orderBy('position').limit(PAGE)
    const page = await store.read(entries)
    // A position comes with the hashes.
    yield* page as readonly ChainedEntry[]
    if (page.length < PAGE) return
    last = page.at(-1)!.position!
  }
}

/** Reads the entries that are in no chain: an older version of the gateway, or another program, has written them. */
export async function unchainedEntries(store: Store): Promise<readonly AuditTable[]> {
  return store.read(store.db.selectFrom('audit').selectAll().where('position', 'is', null).orderBy('at').orderBy('id'))
}

/**
 * Verifies the chain of the audit trail; gateways may add to it meanwhile. `known`: a hash that the end of the chain once had, which must
 * still be in it. Who can write to the database can replace the whole chain, and only a hash kept elsewhere shows that.
 */
export async function verifyAudit(store: Store, known = NO_HASH): Promise<AuditVerdict> {
  const findings: AuditFinding[] = []
  const noted = await headOf(store)
  let entries = 0
  let end = { position: 0, hash: NO_HASH }
  let isKnown = known === NO_HASH
  for await (const entry of chainedEntries(store)) {
    const { position, id, previous, hash } = entry
    if (position > end.position + 1) findings.push(removed(end.position + 1, position - 1))
    // Else: after a gap, nothing tells the hash of the entry before.
    else if (previous !== end.hash)
      findings.push({ position, id, problem: 'does not follow the entry before it, which was replaced' })
    if (hash !== hashOfEntry(entry, entry)) findings.push({ position, id, problem: 'was changed' })
    if (position === noted.position && hash !== noted.hash) findings.push({ position, id, problem: 'was replaced' })
    isKnown ||= hash === known
    end = { position, hash }
    entries += 1
  }
  if (end.position < noted.position) findings.push(removed(end.position + 1, noted.position))
  // Gateways may have added entries meanwhile.
  if (end.position > (await headOf(store)).position)
    findings.push({ position: end.position, id: null, problem: 'was added by another program' })
  for (const { id } of await unchainedEntries(store))
    findings.push({
      position: null,
      id,
      problem: 'is in no chain: an older version of the gateway, or another program, wrote it',
    })
  if (!isKnown)
    findings.push({
      position: null,
      id: null,
      problem: `no entry has the hash ${known}: the chain is another one than that which had it`,
    })
  return { entries, head: end, findings }
}

const removed = (from: number, to: number): AuditFinding => ({
  position: from,
  id: null,
  problem: from === to ? 'was removed' : `was removed, and all up to entry ${to}`,
})

async function headOf(store: Store): Promise<AuditHeadTable> {
  const [head] = await store.read(store.db.selectFrom('audit_head').selectAll())
  return head ?? { position: 0, hash: NO_HASH }
}
