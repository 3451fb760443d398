import type { Cores } from './cores.ts'
import type { Processes } from './processes.ts'

/** Where things are started. */
export interface Place {
  readonly processes: Processes
  /** A folder for logs, sockets and the gateway's data. */
  readonly scratch: string
  /** Absent: nothing is bound to a core. */
  readonly cores: Cores | undefined
}
