import type { Socket } from 'node:net'
import type { Urls } from '../control/services.ts'
import type { Certificate } from '../http/certificate.ts'
import type { ListenerName } from '../http/listen.ts'
import type { Instance } from '../telemetry/instance.ts'
import type { DrainTimes } from './gateway.ts'

/** What a process of a gateway does: control has the database, proxies serve calls. The supervisor starts both. */
export type Role = 'control' | 'proxy'

/** What the supervisor tells a process at its start, as JSON in the environment variable `UMG_SUPERVISED`. */
export interface Assignment {
  readonly role: Role
  /** The identity of the process, `proxy-2.1`; no other one ever has it. */
  readonly process: string
  /** The run of the gateway that it belongs to. */
  readonly instance: Instance
  /** The path of the `RunFolder`. */
  readonly folder: string
  /** Where the supervisor listens. */
  readonly urls: Urls
  /** How many processes had its place before it. All have ended but perhaps a proxy that leaves: it serves its last calls. */
  readonly predecessors: number
}

/** Messages of the supervisor to a process. */
export type Order =
  /** With the socket. A proxy serves it, and answers `accepted`. */
  | { readonly type: 'connection'; readonly id: number; readonly listener: ListenerName }
  /** Before any connection, and when it changes, if clients connect by TLS: a proxy ends TLS with it. */
  | { readonly type: 'certificate'; readonly certificate: Certificate }
  | { readonly type: 'drain'; readonly times: DrainTimes }
  | { readonly type: 'reload' }
  /** Its code is of another version than the one installed: it ends once its open calls have ended. */
  | { readonly type: 'leave' }
  /** All processes serve, for the first time: control creates what is shown once, and answers `welcome`. */
  | { readonly type: 'started' }
  | { readonly type: 'replaced'; readonly role: Role }

/** Messages of a process to the supervisor. */
export type Report =
  /** The first one. `version`: of the code that it has loaded. */
  | { readonly type: 'loaded'; readonly version: string }
  | { readonly type: 'alive' }
  | { readonly type: 'serving' }
  | { readonly type: 'accepted'; readonly id: number }
  /** A proxy serves its open calls to their end: a successor may start. It may be said twice. */
  | { readonly type: 'leaving' }
  /**
   * Its work has ended, and it exits. That takes seconds where a version runs for the first time: Node writes its cache of compiled code. Control's
   * successor may start: its sockets are free.
   */
  | { readonly type: 'ended' }
  | { readonly type: 'welcome'; readonly notices: readonly string[]; readonly text: string }

/** What a process does on the supervisor's orders. */
export interface Orders {
  connection?(listener: ListenerName, socket: Socket): void
  certificate?(certificate: Certificate): void
  /** Ends the process's work. It may be called again, with less time. */
  drain(times: DrainTimes): Promise<void>
  /** Ends the process's work once its open calls have ended, however long they take. It may be called again, and `drain` meanwhile. */
  leave(): Promise<void>
  reload?(): void
  started?(): Promise<Omit<Report & { readonly type: 'welcome' }, 'type'>>
  replaced?(role: Role): void
}

/** The variable that makes a process a supervised one. */
export const SUPERVISED = 'UMG_SUPERVISED'

/** The assignment of this process; undefined if no supervisor started it. */
export function assignmentOf(env: NodeJS.ProcessEnv): Assignment | undefined {
  const text = env[SUPERVISED]
  return text === undefined ? undefined : JSON.parse(text)
}

/** How often a process tells that its event loop runs, in milliseconds. */
export const ALIVE_MS = 1_000

/** Sends a report to the supervisor. */
export function report(message: Report): void {
  if (process.connected) process.send!(message, () => undefined)
}

/** Reports to the supervisor the version of this process, and from now on that it is alive. */
export function reportAlive(version: string): void {
  report({ type: 'loaded', version })
  setInterval(() => report({ type: 'alive' }), ALIVE_MS).unref()
}

/** A process under a supervisor. */
export interface Supervised {
  /** Resolves when it has drained. */
  readonly ended: Promise<void>
  /** Ends the process once its open calls have ended. */
  leave(): void
}

/**
 * Serves under the supervisor: carries out its orders, and drains if the supervisor ends. `grace`: how long open calls may go on without a
 * supervisor, in milliseconds.
 */
export function serveSupervised(role: Role, orders: Orders, grace: number): Supervised {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const end = (work: Promise<void>): void =>
    void work.then(() => {
      report({ type: 'ended' })
      resolve()
    }, reject)
  const drain = (times: DrainTimes): void => end(orders.drain(times))
  const leave = (): void => {
    // Control's successor needs its sockets.
    if (role === 'proxy') report({ type: 'leaving' })
    end(orders.leave())
  }
  process.on('message', (order: Order, socket?: Socket) => {
    if (order.type === 'connection' && socket !== undefined) {
      report({ type: 'accepted', id: order.id })
      orders.connection!(order.listener, socket)
    } else if (order.type === 'certificate') orders.certificate?.(order.certificate)
    else if (order.type === 'drain') drain(order.times)
    else if (order.type === 'reload') orders.reload?.()
    else if (order.type === 'leave') leave()
    else if (order.type === 'replaced') orders.replaced?.(order.role)
    else if (order.type === 'started') void orders.started?.().then((welcome) => report({ type: 'welcome', ...welcome }), reject)
  })
  process.once('disconnect', () => drain({ delay: 0, grace }))
  report({ type: 'serving' })
  return { ended: promise, leave }
}
