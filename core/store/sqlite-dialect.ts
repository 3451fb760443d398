import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SelectQueryNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { Connection, ConnectionPool } from './connection-pool.ts'
import { ROLLBACK } from './sqlite-connection.ts'

/** Where statements run. In WAL mode reads wait for no write, not even for one that waits for a lock. */
export interface SqlitePools {
  /** For `select` outside of transactions. */
  readonly reads: ConnectionPool
  /** For all else. It has one connection, so that writes run in their order. */
  readonly writes: ConnectionPool
}

/** Kysely's SQLite dialect over connections of this thread or of others. */
export function sqliteDialect(pools: SqlitePools): Dialect {
  return {
    createDriver: () => new SqliteDriver(pools),
    createAdapter: () => new SharedAdapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  }
}

class SharedAdapter extends SqliteAdapter {
  /** The pools have the connections: Kysely need not let one user wait for the other. */
  override get supportsMultipleConnections(): boolean {
    return true
  }

  /** Lets the Migrator work in one transaction: of processes that start together one migrates, the others wait and find it done. */
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

class SqliteDriver implements Driver {
  readonly #pools: SqlitePools

  constructor(pools: SqlitePools) {
    this.#pools = pools
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<Session> {
    return new Session(this.#pools)
  }

  beginTransaction(session: Session): Promise<void> {
    return session.begin()
  }

  async commitTransaction(session: Session): Promise<void> {
    await session.executeQuery(CompiledQuery.raw('commit'))
  }

  rollbackTransaction(session: Session): Promise<void> {
    return session.rollback()
  }

  async releaseConnection(session: Session): Promise<void> {
    session.release()
  }

  /** The pools are closed by those who made them. */
  async destroy(): Promise<void> {}
}

/** A query or a transaction, from its begin to its end. */
class Session implements DatabaseConnection {
  readonly #pools: SqlitePools
  /** The connection of its transaction. */
  #connection: Connection | undefined

  constructor(pools: SqlitePools) {
    this.#pools = pools
  }

  async executeQuery<Row>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<Row>> {
    const { reads, writes } = this.#pools
    const place = this.#connection ?? (SelectQueryNode.is(query) ? reads : writes)
    return (await place.run({ sql, parameters })) as QueryResult<Row>
  }

  /** Takes the write lock first, and waits for it; a lock requested after a read fails at once if another process holds it. */
  async begin(): Promise<void> {
    this.#connection = await this.#pools.writes.acquire()
    await this.#connection.run({ sql: 'begin immediate', parameters: [] })
  }

  /** Never throws: Kysely reports the error that caused it. A connection that cannot roll back is closed, which does the same. */
  async rollback(): Promise<void> {
    await this.#connection!.run({ sql: ROLLBACK, parameters: [] }).catch(() => void this.#connection!.close())
  }

  release(): void {
    if (this.#connection !== undefined) this.#pools.writes.release(this.#connection)
  }

  // biome-ignore lint/correctness/useYield: streams of rows are not used
  async *streamQuery(): AsyncGenerator<never> {
    throw new Error('queries of SQLite are not streamed')
  }
}
