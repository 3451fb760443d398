import { createClient, createCluster, ErrorReply } from '@redis/client'
import { CodedError } from '../errors.ts'

/** How long a reply may take, in milliseconds. */
const REPLY_MS = 1000
/** The longest pause before an attempt to connect again, in milliseconds. */
const MAX_RECONNECT_MS = 1000

/** An error that Redis replied. Its message is the reply. */
export class RedisError extends Error {
  override readonly name = 'RedisError'
  /** `REDIS_` and the first word of the reply: `REDIS_READONLY`. */
  readonly code: string

  constructor({ message }: Error) {
    super(message)
    this.code = `REDIS_${/^[A-Z]{1,24}\b/.exec(message)?.[0] ?? 'ERR'}`
  }
}

/** One server, or a cluster. */
interface Client {
  /** Runs a command on the server that has the key. */
  send(key: string, command: string[]): Promise<unknown>
  destroy(): void
}

/** Learns how a connection fares. */
export interface RedisListener {
  /** A failure: of an attempt to connect, or of the connection. */
  onError(error: Error): void
  /** The server answers, for the first time or again. */
  onReady(): void
}

/** A connection to a server of Redis or Valkey, or to all of a cluster. It is made again when it fails. */
export class RedisConnection {
  readonly #url: string
  readonly #listener: RedisListener
  /** Of the address. It tells whether its server is one of a cluster. */
  readonly #first
  /** Undefined: no server has told yet. */
  #client: Client | undefined
  #isDestroyed = false

  /** `url`: `redis://[user:password@]host:port/database`, `rediss:` with TLS; of a cluster, that of any node. */
  constructor(url: string, listener: RedisListener) {
    this.#url = url
    this.#listener = listener
    const onError = (error: Error): void => listener.onError(error)
    this.#first = createClient({
      url,
      ...OPTIONS,
      socket: { connectTimeout: REPLY_MS, reconnectStrategy: (tries) => Math.min(50 * 2 ** tries, MAX_RECONNECT_MS) },
    })
    this.#first.on('error', onError)
    this.#first.on('ready', () => void this.#use().then(() => listener.onReady(), onError))
    // Resolves when it is connected; until then commands reject.
    this.#first.connect().catch(() => undefined)
  }

  /** Runs a command that uses one key. Rejects with a RedisError if Redis replies with an error. */
  async send(key: string, command: string[]): Promise<unknown> {
    if (this.#client === undefined) throw new CodedError('REDIS_NOT_CONNECTED', 'Redis is not connected')
    try {
      return await this.#client.send(key, command)
    } catch (error) {
      throw error instanceof ErrorReply ? new RedisError(error) : error
    }
  }

  /** Ends it. Further commands reject. */
  destroy(): void {
    if (this.#isDestroyed) return
    this.#isDestroyed = true
    this.#first.destroy()
    this.#client?.destroy()
  }

  async #use(): Promise<void> {
    if (this.#client !== undefined) return
    const first = this.#first
    // A user that may not ask is taken for one of a single server, whose replies are in the log.
    const info = await first.sendCommand(['INFO', 'cluster']).catch(() => '')
    if (String(info).includes('cluster_enabled:1')) {
      this.#client = await this.#openCluster()
      first.destroy()
    } else this.#client = { send: (_, command) => first.sendCommand(command), destroy: () => undefined }
  }

  async #openCluster(): Promise<Client> {
    const { username, password, protocol } = new URL(this.#url)
    const cluster = createCluster({
      rootNodes: [{ url: this.#url }],
      // The other nodes have the same users, and TLS if this one has.
      defaults: {
        ...OPTIONS,
        ...(username !== '' && { username: decodeURIComponent(username) }),
        ...(password !== '' && { password: decodeURIComponent(password) }),
        socket: { connectTimeout: REPLY_MS, ...(protocol === 'rediss:' && { tls: true }) },
      },
    })
    cluster.on('error', (error: Error) => this.#listener.onError(error))
    await cluster.connect()
    return { send: (key, command) => cluster.sendCommand(key, false, command), destroy: () => cluster.destroy() }
  }
}

const OPTIONS = {
  // A question that cannot be asked now is answered without Redis.
  disableOfflineQueue: true,
  commandOptions: { timeout: REPLY_MS },
} as const
