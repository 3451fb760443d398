import type { QueryResult } from 'kysely'
import { StoreError } from './unavailable.ts'

/** A compiled query. */
export interface Statement {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

/** A connection to a SQLite file. It runs one statement at a time. */
export interface Connection {
  /** Throws `StoreError` if the file cannot be used, and SQLite's error for a wrong statement. */
  run(statement: Statement): Promise<QueryResult<unknown>>
  /** True: it runs no further statement; an open transaction was rolled back. */
  readonly ended: boolean
  close(): Promise<void>
}

/** The options of a `ConnectionPool`. */
interface ConnectionPoolOptions {
  /** The most connections. */
  readonly size: number
  /** The longest wait for a connection, in milliseconds. */
  readonly wait: number
  connect(): Connection
}

/** Connections that are opened as they are needed. Each has one user at a time; those who wait for one get it in their order. */
export class ConnectionPool {
  readonly #options: ConnectionPoolOptions
  readonly #idle: Connection[] = []
  /** Oldest first. */
  readonly #waiting = new Set<PromiseWithResolvers<void>>()
  readonly #unused = Promise.withResolvers<void>()
  #used = 0
  #closed = false

  constructor(options: ConnectionPoolOptions) {
    this.#options = options
  }

  /** Runs one statement on a connection. */
  async run(statement: Statement): Promise<QueryResult<unknown>> {
    const connection = await this.acquire()
    try {
      return await connection.run(statement)
    } finally {
      this.release(connection)
    }
  }

  /** Resolves to a connection, which must be released. Throws `StoreError` after the longest wait, and once the pool is closed. */
  async acquire(): Promise<Connection> {
    if (this.#closed) throw new StoreError('the database is closed')
    if (this.#used < this.#options.size) this.#used += 1
    else await this.#turn()
    try {
      return this.#next()
    } catch (error) {
      this.#leave()
      throw error
    }
  }

  release(connection: Connection): void {
    if (!connection.ended) this.#idle.push(connection)
    this.#leave()
  }

  /** Resolves when all statements so far, waiting ones included, have ended, and the connections are closed. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#used > 0) await this.#unused.promise
    await Promise.all(this.#idle.splice(0).map((connection) => connection.close()))
  }

  /** Resolves when a user has left its place to this one. */
  async #turn(): Promise<void> {
    const turn = Promise.withResolvers<void>()
    this.#waiting.add(turn)
    const timer = setTimeout(() => {
      this.#waiting.delete(turn)
      turn.reject(new StoreError('other statements take too long', { row: 'storage_busy', code: 'SQLITE_BUSY' }))
    }, this.#options.wait)
    return turn.promise.finally(() => clearTimeout(timer))
  }

  #next(): Connection {
    // An idle connection may end by itself.
    let connection = this.#idle.pop()
    while (connection?.ended) connection = this.#idle.pop()
    return connection ?? this.#options.connect()
  }

  #leave(): void {
    const [turn] = this.#waiting
    if (turn !== undefined) {
      this.#waiting.delete(turn)
      turn.resolve()
      return
    }
    this.#used -= 1
    if (this.#used === 0 && this.#closed) this.#unused.resolve()
  }
}
