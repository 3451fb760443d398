import { findOwner } from '../../accounts/accounts.ts'
import type { Caller } from './caller.ts'
import { showDeclaredKey } from './key-view.ts'
import type { ManagementParts } from './parts.ts'

/** The account that the keys of routes.yaml belong to. */
const OWNER = 'default'

/** Which of them are asked for; as in a list of keys. */
export interface DeclaredKeyFilter {
  readonly q?: string
  readonly status?: string
  readonly kind?: string
  readonly account_id?: string
}

/** The keys of routes.yaml that a caller may see. */
export async function declaredKeys(caller: Caller, parts: ManagementParts, filter: DeclaredKeyFilter = {}) {
  const { keys } = parts.current().config
  const { q = '', status, kind, account_id: account = OWNER } = filter
  const foreign = account !== OWNER || (caller.role !== 'admin' && caller.account.id !== OWNER)
  if (foreign || keys.length === 0) return []
  const owner = await findOwner(parts.store.db, OWNER)
  return keys
    .map((key) => showDeclaredKey(key, { id: owner.id, name: owner.name }))
    .filter((key) => status === undefined || key.status === status)
    .filter((key) => kind === undefined || key.kind === kind)
    .filter(({ name }) => name.toLowerCase().includes(q.toLowerCase()))
}
