import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { Client, type ClientConfig, Pool, types } from 'pg'
import { withTimeout } from '../async/timeout.ts'
import { CodedError } from '../errors.ts'
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

/**
 * Opens a PostgreSQL database by its URL. Throws `StoreError`. `later`: not if it cannot be opened now: each query throws that until it can,
 * which is tried again and again.
 */
export async function openPostgres(url: string, { later }: { readonly later: boolean }): Promise<Backend> {
  if (!URL.canParse(url))
    throw new StoreError(
      'The database URL is not a valid URL. Percent-encode special characters, such as those of a password, as %XX.',
    )
  const config = configOf(url)
  const opening = new Opening(config, (payload) => sql`select pg_notify(${PROBES}, ${payload})`.execute(db))
  await opening.begin(later)
  const db = connect({ ...config, query_timeout: QUERY_MS }, CONNECTIONS, () => opening.check())
  const readers = connect({ ...config, query_timeout: READ_MS, statement_timeout: READ_MS }, READERS, () => opening.check())
  return {
    db,
    read: async (query) => (await readers.executeQuery(query)).rows,
    changed: () => opening.changed(),
    seenUntil: () => opening.seenUntil,
    async close() {
      const closing = Promise.all([opening.close(), db.destroy(), readers.destroy()])
      await withTimeout(CLOSE_MS, closing).catch(() => undefined)
    },
  }
}

/** The tables are migrated, and changes are listened to, before the first query. */
class Opening {
  readonly #config: ClientConfig
  readonly #notify: Notify
  #listener: ChangeListener | undefined
  /** Why there is none yet. */
  #failure: StoreError | undefined
  #missed = false
  readonly #closing = new AbortController()
  #retrying: Promise<void> | undefined

  constructor(config: ClientConfig, notify: Notify) {
    this.#config = config
    this.#notify = notify
  }

  /** Throws `StoreError` while the database could not be opened. */
  check(): ChangeListener {
    if (this.#listener === undefined) throw this.#failure
    return this.#listener
  }

  /** As of a `Backend`. Changes before the database was opened were missed. */
  async changed(): Promise<boolean> {
    const hasChanged = await this.check().changed()
    const missed = this.#missed
    this.#missed = false
    return missed || hasChanged
  }

  get seenUntil(): number {
    return this.#listener?.seenUntil() ?? Number.NEGATIVE_INFINITY
  }

  async begin(later: boolean): Promise<void> {
    await this.#try()
    if (this.#listener !== undefined) return
    if (!later) throw this.#failure
    this.#missed = true
    this.#retrying = this.#retry()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#retrying
    await this.#listener?.close()
  }

  async #try(): Promise<void> {
    try {
      await migrateFirst(this.#config)
      this.#listener = await listenForChanges(this.#config, this.#notify)
    } catch (error) {
      this.#failure = explain(error, this.#config)
    }
  }

  async #retry(): Promise<void> {
    const { signal } = this.#closing
    while (this.#listener === undefined && !signal.aborted) {
      await setTimeout(RETRY_MS, undefined, { ref: false, signal }).catch(() => undefined)
      if (!signal.aborted) await this.#try()
    }
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

/** `check` throws while no query may begin. */
function connect(config: ClientConfig, max: number, check: () => unknown): Backend['db'] {
  const pool = new Pool({ ...config, max })
  // A broken connection fails its query, and the next query opens another. Without listeners the error would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const checked = {
    async connect() {
      check()
      return pool.connect()
    },
    end: () => pool.end(),
    options: pool.options,
  }
  return new Kysely({ dialect: new PostgresDialect({ pool: checked }) })
}

/** Without the deadlines of queries: a large table takes long. Of gateways that start together one migrates, the others wait. */
async function migrateFirst(config: ClientConfig): Promise<void> {
  const db = connect(config, 1, () => undefined)
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
const CHANGES = 'umg_keys'
/** The channel of probes. Not that of changes, since gateways of older versions take each notification there for a change. */
const PROBES = 'umg_seen'

const RETRY_MS = 250

/** How often it is tried whether notifications arrive, in milliseconds: a connection may be dead, or a pooler may drop them. */
const PROBE_MS = 3_000
/** A connection on which probes have arrived is taken for dead after this number of probes that have not. */
const MAX_UNANSWERED = 10

/** Sends a probe to all that listen, by any connection. */
type Notify = (payload: string) => Promise<unknown>

/** Listens for changes of keys and accounts, made by any gateway or by hand. */
interface ChangeListener {
  /** Whether a change was notified, or may have been missed, since the last call. Throws while there is no connection. */
  changed(): Promise<boolean>
  /** When the last of its probes that has arrived was sent, by `performance.now()`: the notifications of changes before it have, too. */
  seenUntil(): number
  close(): Promise<void>
}

/** Listens, and reconnects when the connection breaks. Throws if the first connection fails. */
async function listenForChanges(config: ClientConfig, notify: Notify): Promise<ChangeListener> {
  const probe = randomUUID()
  let client: Client | undefined
  let changed = false
  let [probedAt, seenUntil] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  /** Breaks the connection if too many probes have not arrived on it. */
  let beforeProbe = (): void => undefined
  let closed = false

  /** Resolves once it listens. `ended` resolves when the connection has ended. */
  async function listen(): Promise<{ readonly ended: Promise<void> }> {
    const socket = new Socket()
    const next = new Client({ ...config, stream: () => socket })
    const ended = new Promise<void>((resolve) => next.once('end', resolve))
    let hasArrived = false
    let unanswered = 0
    next.on('notification', ({ channel, payload }) => {
      if (channel === CHANGES) changed = true
      // Other gateways try, too.
      const [id, sentAt] = payload?.split(' ') ?? []
      if (id !== probe) return
      seenUntil = Number(sentAt)
      hasArrived = true
      unanswered = 0
    })
    // An error of the connection also ends it.
    next.on('error', () => {})
    try {
      await next.connect()
      await next.query(`listen ${CHANGES}; listen ${PROBES}`)
    } catch (error) {
      await next.end()
      throw error
    }
    client = next
    beforeProbe = () => {
      unanswered += 1
      if (hasArrived && unanswered > MAX_UNANSWERED) socket.destroy()
    }
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
      if (client === undefined) throw new CodedError('DATABASE_CONNECTION_LOST', 'the connection to the database is lost')
      const now = performance.now()
      if (probedAt <= now - PROBE_MS) {
        probedAt = now
        beforeProbe()
        notify(`${probe} ${now}`).catch(() => undefined)
      }
      const before = changed
      changed = false
      return before
    },
    seenUntil: () => seenUntil,
    async close() {
      closed = true
      await client?.end()
    },
  }
}
