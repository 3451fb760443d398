import { setTimeout } from 'node:timers/promises'
import { Kysely, PostgresDialect } from 'kysely'
import { Client, type ClientConfig, Pool, types } from 'pg'
import type { Backend } from './database.ts'
import { migrate } from './migrate.ts'
import { StoreError } from './unavailable.ts'

/** Connections of one gateway: for what calls and people wait for, and for queries over many rows, which must not hold those up. */
const CONNECTIONS = 8
const READERS = 2
const CONNECT_MS = 3_000
/** What is found by an index takes a moment: where it does not, the network is gone, and nobody said so. */
const QUERY_MS = 5_000
const READ_MS = 30_000

/** The type `bigint` in PostgreSQL's catalogue. */
const INT8 = 20

/** Opens a PostgreSQL database by its URL. Throws `StoreError`. */
export async function openPostgres(url: string): Promise<Backend> {
  if (!URL.canParse(url))
    throw new StoreError('The database URL is no URL. Write signs that are special in one, such as those of a password, as %XX.')
  const config = configOf(url)
  try {
    await migrateFirst(config)
    const listener = await listenForChanges(config)
    const db = connect({ ...config, query_timeout: QUERY_MS }, CONNECTIONS)
    const readers = connect({ ...config, query_timeout: READ_MS, statement_timeout: READ_MS }, READERS)
    return {
      db,
      read: async (query) => (await readers.executeQuery(query)).rows,
      changed: listener.changed,
      async close() {
        await Promise.all([listener.close(), db.destroy(), readers.destroy()])
      },
    }
  } catch (error) {
    throw explain(error, config)
  }
}

function configOf(url: string): ClientConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    application_name: 'unified-model-gateway',
    // As texts, unless told otherwise; counts and times are far below 2^53.
    types: { getTypeParser: (type, format) => (type === INT8 ? Number : types.getTypeParser(type, format)) },
  }
}

function connect(config: ClientConfig, max: number): Backend['db'] {
  const pool = new Pool({ ...config, max })
  // A connection that breaks fails the query under way, and the next one opens another. Without these it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return new Kysely({ dialect: new PostgresDialect({ pool }) })
}

/** With a connection of its own, for a large table may take its time. Of gateways that start together one migrates. */
async function migrateFirst(config: ClientConfig): Promise<void> {
  const db = connect(config, 1)
  await migrate(db).finally(() => db.destroy())
}

function explain(error: unknown, config: ClientConfig): StoreError {
  if (error instanceof StoreError) return error
  const { code = '', message } = error as Error & { readonly code?: string }
  const { host, port, database } = new Client(config)
  const place = `The database ${database} at ${host}:${port}`
  const words: Readonly<Record<string, string>> = {
    [PASSWORD_REFUSED]: `${place} refuses the user or the password. Correct them in the database URL.`,
    [NO_DATABASE]: `${place} does not exist. Create it (createdb ${database}), or correct the database URL.`,
  }
  const otherwise = `${place} cannot be opened: ${message || code}. Start its server, or correct the database URL.`
  return new StoreError(words[code] ?? otherwise, { cause: error })
}

/** SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const PASSWORD_REFUSED = '28P01'
const NO_DATABASE = '3D000'

/** What the triggers of migration 0002 notify. */
const CHANNEL = 'umg_keys'

const RETRY_MS = 250

/** Hears of every change of keys and accounts, whichever gateway or hand made it. */
export interface Listener {
  /** Whether a change was heard of, or may have been missed, since this was last asked. Throws while there is no connection. */
  changed(): boolean
  close(): Promise<void>
}

/** Begins to listen, and again whenever the connection breaks. Throws where the first one cannot be made. */
export async function listenForChanges(config: ClientConfig): Promise<Listener> {
  let client: Client | undefined
  let changed = false
  let closed = false

  /** Resolves with when the connection is over. */
  async function listen(): Promise<{ readonly over: Promise<void> }> {
    const next = new Client(config)
    const over = new Promise<void>((resolve) => next.once('end', resolve))
    next.on('notification', () => {
      changed = true
    })
    // What breaks a connection also ends it.
    next.on('error', () => {})
    try {
      await next.connect()
      await next.query(`listen ${CHANNEL}`)
    } catch (error) {
      await next.end()
      throw error
    }
    client = next
    // Closed meanwhile.
    if (closed) void next.end()
    return { over }
  }

  async function listenOn({ over }: { readonly over: Promise<void> }): Promise<void> {
    await over
    client = undefined
    while (!closed) {
      await setTimeout(RETRY_MS, undefined, { ref: false })
      const again = await listen().catch(() => undefined)
      // Whatever happened while nobody listened.
      changed = true
      if (again !== undefined) return listenOn(again)
    }
  }

  void listenOn(await listen())
  return {
    changed() {
      if (client === undefined) throw new Error('the connection to the database is lost')
      const before = changed
      changed = false
      return before
    },
    async close() {
      closed = true
      await client?.end()
    },
  }
}
