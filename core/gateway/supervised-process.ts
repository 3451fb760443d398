import { type ChildProcess, fork } from 'node:child_process'
import type { Socket } from 'node:net'
import { ALIVE_MS, type Assignment, type Order, type Report, type Role, SUPERVISED } from './supervised.ts'

/** A process that serves is ended after this time without a sign of life, in milliseconds. */
const HANG_MS = 10_000
/** One that starts or exits is given more: on a busy machine it may load its modules, or write its cache of compiled code, for longer. */
const QUIET_MS = 60_000

/**
 * Options of V8 for a proxy. A machine has several. Node's own semi-spaces of 64 MiB are three for each proxy, filled
 * before the first collection; of V8's own threads four serve one event loop. docs/decisions/processes.md has the figures.
 */
const PROXY_OPTIONS = '--max-semi-space-size=16 --v8-pool-size=1'

/** How a process ended, or why it could not be started. */
export type ProcessEnd = { readonly code: number | null; readonly signal: NodeJS.Signals | null } | { readonly error: unknown }

/** Receives what a process tells, and its end: after the constructor has returned, and once. */
export interface ProcessListener {
  onReport(process: SupervisedProcess, report: Report): void
  onEnd(process: SupervisedProcess, end: ProcessEnd): void
}

/** A process that the supervisor has started, with the same command line and an `Assignment`. */
export class SupervisedProcess {
  readonly id: string
  readonly role: Role
  /** Its place among those of its role: a successor has the same. */
  readonly slot: number
  /** How many had its place before it. */
  readonly predecessors: number
  readonly startedAt = performance.now()
  /** Of its code; undefined before it has loaded that. */
  version: string | undefined
  /** Resolves when it has ended, or could not be started. */
  readonly ended: Promise<void>
  readonly #child: ChildProcess | undefined
  #aliveAt = performance.now()
  #silenceMs = QUIET_MS

  constructor(assignment: Assignment, slot: number, listener: ProcessListener) {
    this.id = assignment.process
    this.role = assignment.role
    this.slot = slot
    this.predecessors = assignment.predecessors
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    const end = (how: ProcessEnd): void => {
      listener.onEnd(this, how)
      resolve()
    }
    try {
      this.#child = fork(process.argv[1]!, process.argv.slice(2), {
        env: { ...process.env, NODE_OPTIONS: nodeOptions(assignment.role), [SUPERVISED]: JSON.stringify(assignment) },
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      })
    } catch (error) {
      // Most failures of the system are thrown; those that Node expects, such as too many processes or files, are emitted.
      setImmediate(end, { error })
      return
    }
    this.#child.on('message', (report: Report) => {
      this.#aliveAt = performance.now()
      if (report.type === 'loaded') this.version = report.version
      if (report.type === 'serving') this.#silenceMs = HANG_MS
      if (report.type === 'ended') this.#silenceMs = QUIET_MS
      listener.onReport(this, report)
    })
    this.#child.on('error', (error) => {
      // If it was started, 'close' follows.
      if (this.pid === undefined) end({ error })
    })
    // After its last reports: a connection that it had accepted must not go to another process. It follows an 'error' too.
    this.#child.once('close', (code, signal) => {
      if (this.pid !== undefined) end({ code, signal })
    })
  }

  /** Undefined if it could not be started. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Whether its event loop ran lately. */
  get isResponsive(): boolean {
    return performance.now() - this.#aliveAt < 2 * ALIVE_MS
  }

  /** Whether its event loop has stood still for too long: the process must be replaced. */
  get hangs(): boolean {
    return performance.now() - this.#aliveAt > this.#silenceMs
  }

  /** Sends an order, with a socket that this process keeps open too. */
  send(order: Order, socket?: Socket): void {
    if (this.#child?.connected) this.#child.send(order, socket, { keepOpen: true }, () => undefined)
  }

  /** Takes it as alive now: the supervisor itself was suspended. */
  forgive(): void {
    this.#aliveAt = performance.now()
  }

  kill(): void {
    this.#child?.kill('SIGKILL')
  }
}

/** The operator's own come last: they count. */
function nodeOptions(role: Role): string | undefined {
  const own = process.env.NODE_OPTIONS
  if (role !== 'proxy') return own
  return own === undefined ? PROXY_OPTIONS : `${PROXY_OPTIONS} ${own}`
}
