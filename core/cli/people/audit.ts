import { type AuditFilter, type AuditView, listAudit, viewAudit } from '../../accounts/audit.ts'
import { type CommandIo, type TableFormat, writeJson, writeTable } from '../output.ts'
import { type StoreOptions, withStore } from '../store.ts'

/** The options of `umg audit`. */
export interface AuditOptions extends StoreOptions, Omit<AuditFilter, 'cursor'> {}

/** `umg audit`, the newest first. Resolves to the exit code. */
export async function auditCommand({ action, actor, from, to, limit, ...options }: AuditOptions, io: CommandIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const { data } = await listAudit(store, { action, actor, from, to, limit })
    const entries = data.map(viewAudit)
    if (options.json) writeJson(entries, io)
    else writeTable(entries, TABLE, io)
  })
}

const TABLE: TableFormat<AuditView> = {
  columns: {
    AT: ({ at }) => at,
    WHO: ({ actor }) => actor?.name ?? '-',
    FROM: ({ ip }) => ip ?? '-',
    ACTION: ({ action }) => action,
    WHAT: ({ object }) => object.name,
    CHANGES: ({ changes }) =>
      Object.entries(changes)
        .map(([field, [before, after]]) => `${field}: ${format(before)} -> ${format(after)}`)
        .join(', '),
  },
  empty: 'No audit entries match.',
}

const format = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
