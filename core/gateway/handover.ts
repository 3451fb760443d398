import { createServer, type Server, type Socket } from 'node:net'
import { connectionLimit } from '../http/connection-limit.ts'
import { type Listen, type ListenerName, listen, type Scheme } from '../http/listen.ts'
import type { SupervisedProcess } from './supervised-process.ts'

/** The share of this process's descriptors for connections that no proxy has taken yet. It needs few others. */
const WAITING_SHARE = 3 / 4

interface Handed {
  readonly listener: ListenerName
  readonly socket: Socket
  /** Undefined while no proxy can take it. */
  to: SupervisedProcess | undefined
}

/**
 * Accepts the connections of clients, and hands them to the proxies in turn. It reads nothing of them. A connection that a proxy has not
 * taken when it ends goes to another one, and never before: two processes would read one stream.
 */
export class Handover {
  readonly #servers: Server[] = []
  readonly #proxies = new Set<SupervisedProcess>()
  /** Connections that no proxy has taken yet, by id. */
  readonly #handed = new Map<number, Handed>()
  readonly #maxWaiting = connectionLimit(WAITING_SHARE)
  #lastId = 0

  /** Starts listening. Resolves to the base URL. Rejects if the address is not available. */
  async listen(listener: ListenerName, address: Listen, scheme: Scheme): Promise<string> {
    const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => this.#accept(listener, socket))
    const url = await listen(server, address, scheme)
    this.#servers.push(server)
    return url
  }

  /** Hands connections to this proxy too. */
  add(proxy: SupervisedProcess): void {
    this.#proxies.add(proxy)
    for (const [id, handed] of this.#handed) if (handed.to === undefined) this.#hand(id, handed)
  }

  /** Hands no more connections to this proxy. Those that are on their way to it stay its own: it may be reading them already. */
  rest(proxy: SupervisedProcess): void {
    this.#proxies.delete(proxy)
  }

  /** Called when a proxy has ended: hands the connections that it has not taken to others. */
  remove(proxy: SupervisedProcess): void {
    this.rest(proxy)
    for (const [id, handed] of this.#handed) if (handed.to === proxy) this.#hand(id, handed)
  }

  /** A proxy has taken a connection. */
  taken(id: number): void {
    // Closes the supervisor's own descriptor: the connection goes on.
    this.#handed.get(id)?.socket.destroy()
    this.#handed.delete(id)
  }

  /** Stops accepting connections. */
  close(): void {
    for (const server of this.#servers) server.close()
    for (const { socket } of this.#handed.values()) socket.destroy()
    this.#handed.clear()
  }

  #accept(listener: ListenerName, socket: Socket): void {
    if (this.#handed.size >= this.#maxWaiting) return void socket.destroy()
    const id = ++this.#lastId
    const handed = { listener, socket, to: undefined }
    socket.on('error', () => this.taken(id))
    this.#handed.set(id, handed)
    this.#hand(id, handed)
  }

  #hand(id: number, handed: Handed): void {
    handed.to = this.#next()
    handed.to?.send({ type: 'connection', id, listener: handed.listener }, handed.socket)
  }

  /** The next proxy in turn, if possible one whose event loop is known to run. */
  #next(): SupervisedProcess | undefined {
    const proxies = [...this.#proxies]
    const proxy = proxies.find(({ isResponsive }) => isResponsive) ?? proxies[0]
    if (proxy === undefined) return undefined
    this.#proxies.delete(proxy)
    this.#proxies.add(proxy)
    return proxy
  }
}
