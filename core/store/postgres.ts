import { setTimeout } from 'node:timers/promises'
import { Kysely, PostgresDialect } from 'kysely'
import { Client, type ClientConfig, Pool, types } from 'pg'
import { withTimeout } from '../async/timeout.ts'
import type { Backend } from './backend.ts'
import { migrate } from './migrate.ts'
import { explainTls, readPostgresTls } from './postgres-tls.ts'
import { StoreError } from './unavailable.ts'

/** Connections of one gateway: for short queries, and for queries over many rows, which must not delay the short ones. */
const CONNECTIONS = 8
const READERS = 2
const CONNECT_MS = 3_000
/** Short queries use an index: one that takes longer has lost its connection unnoticed. */
const QUERY_MS = 5_000
const READ_MS = 30_000
/** A server that does not answer must not keep the gateway from ending. */
const CLOSE_MS = 3_000

/** The type `bigint` in PostgreSQL's catalogue. */
const INT8 = 20

/** Opens a PostgreSQL database by its URL. Throws `StoreError`. */
export async function openPostgres(url: string): Promise<Backend> {
  if (!URL.canParse(url))
    throw new StoreError(
      'The database URL is not a valid URL. Percent-encode special characters, such as those of a password, as %XX.',
    )
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
        const closing = Promise.all([listener.close(), db.destroy(), readers.destroy()])
        await withTimeout(CLOSE_MS, closing).catch(() => undefined)
      },
    }
  } catch (error) {
    throw explain(error, config)
  }
}

function configOf(text: string): ClientConfig {
  const { url, ssl } = readPostgresTls(text)
  return {
    connectionString: url,
    ...(ssl !== undefined && { ssl }),
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    application_name: 'unified-model-gateway',
    // By default pg returns bigint as text; counts and times are far below 2^53.
    types: { getTypeParser: (type, format) => (type === INT8 ? Number : types.getTypeParser(type, format)) },
  }
}

function connect(config: ClientConfig, max: number): Backend['db'] {
  const pool = new Pool({ ...config, max })
  // A broken connection fails its query, and the next query opens another. Without listeners the error would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return new Kysely({ dialect: new PostgresDialect({ pool }) })
}

/** Without the deadlines of queries: a large table takes long. Of gateways that start together one migrates, the others wait. */
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
  const tls = explainTls(error as Error, place)
  const otherwise = `${place} cannot be opened: ${message || code}. Start its server, or correct the database URL.`
  return new StoreError(words[code] ?? tls ?? otherwise, { cause: error })
}

/** SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const PASSWORD_REFUSED = '28P01'
const NO_DATABASE = '3D000'

/** The channel that the triggers of migration 0002 notify. */
const CHANNEL = 'umg_keys'

const RETRY_MS = 250

/** Listens for changes of keys and accounts, made by any gateway or by hand. */
interface ChangeListener {
  /** Whether a change was notified, or may have been missed, since the last call. Throws while there is no connection. */
  changed(): Promise<boolean>
  close(): Promise<void>
}

/** Listens, and reconnects when the connection breaks. Throws if the first connection fails. */
async function listenForChanges(config: ClientConfig): Promise<ChangeListener> {
  let client: Client | undefined
  let changed = false
  let closed = false

  /** Resolves once it listens. `ended` resolves when the connection has ended. */
  async function listen(): Promise<{ readonly ended: Promise<void> }> {
    const next = new Client(config)
    const ended = new Promise<void>((resolve) => next.once('end', resolve))
    next.on('notification', () => {
      changed = true
    })
    // An error of the connection also ends it.
    next.on('error', () => {})
    try {
      await next.connect()
      await next.query(`listen ${CHANNEL}`)
    } catch (error) {
      await next.end()
      throw error
    }
    client = next
    // `close` was called during the connect.
    if (closed) void next.end()
    return { ended }
  }

  async function reconnectAfter({ ended }: { readonly ended: Promise<void> }): Promise<void> {
    await ended
    client = undefined
    while (!closed) {
      await setTimeout(RETRY_MS, undefined, { ref: false })
      const connection = await listen().catch(() => undefined)
      // Notifications may have been missed.
      changed = true
      if (connection !== undefined) return reconnectAfter(connection)
    }
  }

  void reconnectAfter(await listen())
  return {
    async changed() {
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
