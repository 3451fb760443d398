import type { Store } from '../store/database.ts'
import type { AuditTable } from '../store/schema.ts'
import { chainedEntries, unchainedEntries } from './audit-verification.ts'

/** The options of an export. */
export interface AuditExport {
  readonly format: 'jsonl' | 'syslog'
  /** The position of the last entry that is not exported. */
  readonly after: number
  /** The name of this machine, for syslog. */
  readonly host: string
}

/** Yields a line for each entry, the oldest first; entries that are in no chain come last, whatever `after` is. */
export async function* exportAudit(store: Store, { format, after, host }: AuditExport): AsyncGenerator<string> {
  const lineOf = (entry: AuditTable): string => `${format === 'jsonl' ? jsonOf(entry) : syslogOf(entry, host)}\n`
  for await (const entry of chainedEntries(store, after)) yield lineOf(entry)
  for (const entry of await unchainedEntries(store)) yield lineOf(entry)
}

/** The columns as they are stored, since the hash is of these; beside them the time as people read it. */
function jsonOf({ id, position, previous, hash, at, changes, ...entry }: AuditTable): string {
  return JSON.stringify({ position, id, time: new Date(at).toISOString(), at, ...entry, changes, previous, hash })
}

/** Facility 13, "log audit", and severity 5, "notice": RFC 5424, section 6.2.1. */
const PRIORITY = 13 * 8 + 5
/** An id of structured data needs the number of an enterprise; this one is for documentation: RFC 5612. */
const ENTERPRISE = 32473

/** A message of RFC 5424: the entry as JSON, after structured data by which a collector can select it. */
function syslogOf(entry: AuditTable, host: string): string {
  const { at, id, position, hash, action, actor_id, object_type, object_id, address } = entry
  const fields = { id, position, hash, action, actor: actor_id, type: object_type, object: object_id, address }
  const data = Object.entries(fields).filter(([, value]) => value !== null)
  const params = data.map(([name, value]) => ` ${name}="${escapeValue(String(value))}"`).join('')
  const head = `<${PRIORITY}>1 ${new Date(at).toISOString()} ${headerField(host)} umg - ${headerField(action, 32)}`
  return `${head} [audit@${ENTERPRISE}${params}] ${jsonOf(entry)}`
}

/** Visible ASCII only: section 6. */
const headerField = (text: string, length = 255): string => text.replace(/[^!-~]/g, '').slice(0, length) || '-'

/** Section 6.3.3. */
const escapeValue = (text: string): string => text.replace(/["\\\]]/g, '\\$&').replace(/\p{Cc}/gu, ' ')
