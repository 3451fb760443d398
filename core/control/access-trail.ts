import { type Actor, type Anonymous, type AuditEntry, audit, GATEWAY } from '../accounts/audit.ts'
import type { ErrorName } from '../error-table.ts'
import type { GatewayError } from '../errors.ts'
import type { Caller } from './caller.ts'
import type { Operation } from './operation.ts'
import type { ManagementServices } from './services.ts'

/** How long repetitions are counted before a second line says their number, in milliseconds. A console that is open reads all day. */
const REFUSALS_MS = 60_000
const READS_MS = 3_600_000

/** Sources counted at the same time. The attempts of further ones have one line for all. */
const MOST_SOURCES = 1000

/** A request of the management API, as its line of the audit trail names it. */
export interface Request {
  readonly operation: Pick<Operation, 'method' | 'path'>
  readonly params: Readonly<Record<string, string>>
  readonly address: string
  /** Whether it had an authorization header. */
  readonly hasKey: boolean
}

type Services = Pick<ManagementServices, 'store' | 'log'>

type Author = Actor | Anonymous

interface Line {
  readonly author: Author
  readonly entry: AuditEntry
  readonly ms: number
}

/**
 * Writes refused attempts, reads of others' data and exports to the audit trail. What the same source repeats is counted, and has one more
 * line with the number: a flood of wrong keys must not fill the trail.
 */
export class AccessTrail {
  readonly #services: Services
  readonly #repeated = new Map<string, number>()

  constructor(services: Services) {
    this.#services = services
  }

  /** Records an attempt that was refused, if one with more rights would not have been. The refusal stands, whatever the database says. */
  async refused({ row }: GatewayError, caller: Caller | undefined, request: Request): Promise<void> {
    if (!isRefusedAccess(row, caller, request)) return
    const entry: AuditEntry = {
      action: 'access.refuse',
      object: objectOf(request),
      changes: { refused: [null, row] },
    }
    await this.#writeOrLog({ author: caller ?? { address: request.address }, entry, ms: REFUSALS_MS })
  }

  /** Records an export before it begins. Throws what the database threw: what is not recorded is not given. */
  async exported(caller: Caller, query: unknown, request: Request): Promise<void> {
    const filter = Object.entries(query as object).map(([name, value]) => [name, [null, value]] as const)
    const entry: AuditEntry = { action: 'data.export', object: objectOf(request), changes: Object.fromEntries(filter) }
    await this.#write({ author: caller, entry, ms: REFUSALS_MS })
  }

  /** Records what an admin reads. A page does not wait for its line: a database that is locked must not close the console. */
  read(caller: Caller, request: Request): void {
    if (caller.role !== 'admin') return
    const entry: AuditEntry = { action: 'data.read', object: objectOf(request), changes: {} }
    void this.#writeOrLog({ author: caller, entry, ms: READS_MS })
  }

  async #writeOrLog(line: Line): Promise<void> {
    try {
      await this.#write(line)
    } catch (err) {
      const { author, entry } = line
      this.#services.log.error({ err, action: entry.action, address: author.address }, 'an access is not in the audit trail')
    }
  }

  async #write(line: Line): Promise<void> {
    const { author, entry } = line
    const source = JSON.stringify([author.id ?? author.address, entry])
    if (this.#repeated.has(source)) return this.#repeat(source)
    if (this.#repeated.size >= MOST_SOURCES) return this.#repeatOfFurther(line)
    this.#count(source, line)
    try {
      await audit(this.#services.store.db, author, entry)
    } catch (error) {
      this.#repeated.delete(source)
      throw error
    }
  }

  #repeat(source: string): void {
    this.#repeated.set(source, this.#repeated.get(source)! + 1)
  }

  #repeatOfFurther({ entry: { action, object }, ms }: Line): void {
    const further = `further ${action}`
    if (!this.#repeated.has(further)) {
      const entry: AuditEntry = { action, object: { type: object.type, id: null, name: 'further sources' } }
      this.#count(further, { author: GATEWAY, entry, ms })
    }
    this.#repeat(further)
  }

  /** Counts repetitions from now on. Their line is written when the time is over. */
  #count(source: string, { author, entry, ms }: Line): void {
    this.#repeated.set(source, 0)
    setTimeout(() => {
      const times = this.#repeated.get(source)
      this.#repeated.delete(source)
      if (!times) return
      const changes = { ...entry.changes, repeated: [null, times] as const }
      audit(this.#services.store.db, author, { ...entry, changes }).catch((err: unknown) =>
        this.#services.log.error({ err, action: entry.action, times }, 'repetitions are not in the audit trail'),
      )
    }, ms).unref()
  }
}

const objectOf = ({ operation: { method, path }, params }: Request): AuditEntry['object'] => ({
  type: 'api',
  id: Object.values(params)[0]?.slice(0, 100) ?? null,
  name: `${method} ${path}`,
})

/** Who is not signed in, and shows no key, has tried nothing. For a member, what belongs to another account does not exist. */
function isRefusedAccess(row: ErrorName, caller: Caller | undefined, { hasKey }: Request): boolean {
  if (row === 'not_signed_in') return hasKey
  if (row === 'object_not_found') return caller?.role === 'member'
  return row === 'admin_required' || row === 'foreign_origin'
}
