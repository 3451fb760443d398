import type { QueryResult } from 'kysely'
import { Semaphore } from '../async/semaphore.ts'
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
  readonly #places: Semaphore
  readonly #idle: Connection[] = []
  #closing: Promise<void> | undefined

  constructor(options: ConnectionPoolOptions) {
    this.#options = options
    this.#places = new Semaphore(options.size)
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
    if (this.#closing !== undefined) throw new StoreError('the database is closed')
    if (!this.#places.tryAcquire()) await this.#turn()
    try {
      return this.#next()
    } catch (error) {
      this.#places.release()
      throw error
    }
  }

  release(connection: Connection): void {
    if (!connection.ended) this.#idle.push(connection)
    this.#places.release()
  }

  /** Resolves when all statements so far, waiting ones included, have ended, and the connections are closed. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    // Those who wait come first.
    await Promise.all(Array.from({ length: this.#options.size }, () => this.#places.acquire()))
    await Promise.all(this.#idle.splice(0).map((connection) => connection.close()))
  }

  /** Waits for the place of another user. */
  async #turn(): Promise<void> {
    const waiting = new AbortController()
    const error = new StoreError('other statements take too long', { row: 'storage_busy', code: 'SQLITE_BUSY' })
    const timer = setTimeout(() => waiting.abort(error), this.#options.wait)
    await this.#places.acquire(waiting.signal).finally(() => clearTimeout(timer))
  }

  #next(): Connection {
    // An idle connection may end by itself.
    let connection = this.#idle.pop()
    while (connection?.ended) connection = this.#idle.pop()
    return connection ?? this.#options.connect()
  }
}
