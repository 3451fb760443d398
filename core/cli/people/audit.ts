import { hostname } from 'node:os'
import { type AuditFilter, type AuditView, listAudit, viewAudit } from '../../accounts/audit.ts'
import { type AuditExport, exportAudit } from '../../accounts/audit-export.ts'
import { type AuditFinding, verifyAudit } from '../../accounts/audit-verification.ts'
import { type CommandIo, type TableFormat, writeChunks, writeJson, writeTable } from '../output.ts'
import { type StoreOptions, withStore } from '../store.ts'

/** The options of `umg audit list`. */
export interface AuditOptions extends StoreOptions, Omit<AuditFilter, 'cursor'> {}

/** `umg audit list`, the newest first. Resolves to the exit code. */
export async function auditCommand({ action, actor, from, to, limit, ...options }: AuditOptions, io: CommandIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const { data } = await listAudit(store, { action, actor, from, to, limit })
    const entries = data.map(viewAudit)
    if (options.json) writeJson(entries, io)
    else writeTable(entries, TABLE, io)
  })
}

/** The options of `umg audit verify`. */
export interface VerifyOptions extends StoreOptions {
  /** A hash that the command has printed before. */
  readonly known?: string
}

/** `umg audit verify`. Resolves to the exit code: 1 if the audit trail is not as it was written. */
export async function verifyAuditCommand(options: VerifyOptions, io: CommandIo): Promise<number> {
  let isIntact = false
  const code = await withStore(options, io, async (store) => {
    const verdict = await verifyAudit(store, options.known)
    const { entries, head, findings } = verdict
    isIntact = findings.length === 0
    if (options.json) return writeJson({ intact: isIntact, ...verdict }, io)
    for (const finding of findings) io.stdout.write(`${formatFinding(finding)}\n`)
    const count = entries === 1 ? '1 entry' : `${entries} entries`
    if (isIntact) io.stdout.write(`The audit trail is intact: ${count}. Hash of the last one: ${head.hash}\n`)
    else io.stderr.write(`The audit trail is not as it was written: ${findings.length} findings.\n`)
  })
  return isIntact ? code : 1
}

function formatFinding({ position, id, problem }: AuditFinding): string {
  const name = [position === null ? 'entry' : `entry ${position}`, id !== null && `(${id})`].filter(Boolean).join(' ')
  return position === null && id === null ? problem : `${name} ${problem}`
}

/** The options of `umg audit export`. */
export interface ExportOptions extends StoreOptions, Omit<AuditExport, 'host'> {}

/** `umg audit export`, the oldest first. Resolves to the exit code. */
export async function exportAuditCommand({ format, after, ...options }: ExportOptions, io: CommandIo): Promise<number> {
  return withStore(options, io, (store) => writeChunks(exportAudit(store, { format, after, host: hostname() }), io))
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
