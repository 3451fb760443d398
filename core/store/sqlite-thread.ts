import { Worker } from 'node:worker_threads'
import type { QueryResult } from 'kysely'
import type { Connection, Statement } from './connection-pool.ts'
import type { Outcome, ThreadData } from './sqlite-worker.ts'
import { StoreError, sqliteError } from './unavailable.ts'

const WORKER = new URL('./sqlite-worker.ts', import.meta.url)

/** An idle gateway ends its threads. */
const IDLE_MS = 60_000

/** A connection in a thread of its own: node:sqlite is synchronous, and waits for the disk and for locks of other processes. */
export class SqliteThread implements Connection {
  readonly #worker: Worker
  readonly #exited: Promise<void>
  /** The longest time of a statement, in milliseconds. */
  readonly #limit: number
  #running: PromiseWithResolvers<Outcome> | undefined
  #idle: NodeJS.Timeout | undefined
  #ended = false

  constructor({ limit, ...data }: ThreadData & { readonly limit: number }) {
    this.#limit = limit
    // Without the flags of this process: none is for this thread.
    this.#worker = new Worker(WORKER, { workerData: data, execArgv: [] })
    this.#exited = new Promise((resolve) => this.#worker.once('exit', resolve))
    this.#worker.on('message', (outcome: Outcome) => this.#running?.resolve(outcome))
    this.#worker.on('error', (cause) => this.#end(new StoreError("the database's thread failed", { cause })))
    this.#worker.on('exit', () => this.#end(new StoreError("the database's thread has ended")))
  }

  async run(statement: Statement): Promise<QueryResult<unknown>> {
    if (this.#ended) throw new StoreError("the database's thread has ended")
    clearTimeout(this.#idle)
    const running = Promise.withResolvers<Outcome>()
    this.#running = running
    const late = () => this.#end(new StoreError(`a statement took longer than ${this.#limit} ms`))
    const deadline = setTimeout(late, this.#limit)
    try {
      this.#worker.postMessage(statement)
      const outcome = await running.promise
      if ('error' in outcome) throw sqliteError(outcome.error)
      return outcome.result
    } finally {
      clearTimeout(deadline)
      this.#running = undefined
      if (!this.#ended) this.#idle = setTimeout(() => this.close(), IDLE_MS).unref()
    }
  }

  get ended(): boolean {
    return this.#ended
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle)
    if (!this.#ended) {
      this.#ended = true
      this.#worker.postMessage(undefined)
    }
    await this.#exited
  }

  /** Ends the thread as soon as SQLite returns to it. */
  #end(error: StoreError): void {
    this.#ended = true
    this.#running?.reject(error)
    void this.#worker.terminate()
  }
}
