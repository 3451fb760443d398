import { type AuditFilter, type AuditView, listAudit, viewAudit } from '../accounts/audit.ts'
import { type StoreIo, type StoreOptions, withStore, writeJson, writeTable } from './store.ts'

/** What `umg audit` takes. */
export interface AuditOptions extends StoreOptions, Omit<AuditFilter, 'cursor'> {}

/** `umg audit`, the newest first. Resolves to the exit code. */
export async function auditCommand({ action, actor, from, to, limit, ...options }: AuditOptions, io: StoreIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const { data } = await listAudit(store, { action, actor, from, to, limit })
    const lines = data.map(viewAudit)
    if (options.json) writeJson(io, lines)
    else if (lines.length === 0) io.stderr.write('The audit trail has no such lines.\n')
    else writeTable(io, [HEADINGS, ...lines.map(cells)])
  })
}

const HEADINGS = ['AT', 'WHO', 'FROM', 'ACTION', 'WHAT', 'CHANGES']

const cells = ({ at, actor, ip, action, object, changes }: AuditView): string[] => [
  at,
  actor?.name ?? '-',
  ip ?? '-',
  action,
  object.name,
  Object.entries(changes)
    .map(([field, [before, after]]) => `${field}: ${text(before)} -> ${text(after)}`)
    .join(', '),
]

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
