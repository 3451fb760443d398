import { type ChildProcess, fork } from 'node:child_process'
import type { Socket } from 'node:net'
import { ALIVE_MS, type Assignment, type Order, type Report, type Role, SUPERVISED } from './supervised.ts'

/** A process that serves is ended after so long without a sign of life, in milliseconds. */
const HANG_MS = 10_000
/** One that starts is given more: on a busy machine it may load its modules for longer. */
const START_MS = 60_000

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Receives what a process tells, and its end. */
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
  readonly startedAt = performance.now()
  /** Resolves when it has ended. */
  readonly ended: Promise<void>
  readonly #child: ChildProcess
  #aliveAt = performance.now()
  #silenceMs = START_MS

  constructor(assignment: Assignment, slot: number, listener: ProcessListener) {
    this.id = assignment.process
    this.role = assignment.role
    this.slot = slot
    this.#child = fork(process.argv[1]!, process.argv.slice(2), {
      env: { ...process.env, [SUPERVISED]: JSON.stringify(assignment) },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#child.on('message', (report: Report) => {
      this.#aliveAt = performance.now()
      if (report.type === 'serving') this.#silenceMs = HANG_MS
      listener.onReport(this, report)
    })
    this.#child.on('error', () => undefined)
    this.ended = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        listener.onEnd(this, { code, signal })
        resolve()
      })
    })
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Whether its event loop ran lately. */
  get isResponsive(): boolean {
    return performance.now() - this.#aliveAt < 2 * ALIVE_MS
  }

  /** Whether its event loop has not run for so long that it must be replaced. */
  get hangs(): boolean {
    return performance.now() - this.#aliveAt > this.#silenceMs
  }

  /** Sends an order, with a socket that this process keeps open too. */
  send(order: Order, socket?: Socket): void {
    if (this.#child.connected) this.#child.send(order, socket, { keepOpen: true }, () => undefined)
  }

  /** Takes it as alive now: the supervisor itself was suspended. */
  forgive(): void {
    this.#aliveAt = performance.now()
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}
