import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Linked, LinkedList } from '../async/linked-list.ts'
import { onTurn } from '../internals.ts'
import type { HostCounter } from '../sdk/api.ts'

/** Connections beyond the limit, on which only monitoring is served. */
const BEYOND = 16
/** Connections that are considered for closing when a new one needs a place. */
const CONSIDERED = 100
/** Connections without a request age this many times faster: served clients are likelier to return. */
const UNUSED_WEIGHT = 4
/** Requests that wait on one connection while the one before is served. */
const MOST_WAITING = 100
/** Requests that are served on one connection: clients spread over the gateways behind a balancer, and over new ones. */
const MOST_REQUESTS = 1000

/** What is served at the limit too: `/metrics` says why nothing else is. */
const MONITORING = /^\/(?:livez|readyz|metrics)(?:\?|$)/

/** Values of the label `reason` of `umg_shed_total`. */
const REASONS = ['connections', 'pipelining'] as const
type Reason = (typeof REASONS)[number]

/** The connections of one address. */
interface Peer {
  readonly address: string | undefined
  connections: number
}

/** A connection of a client. */
export class Connection implements Linked {
  previous: this | undefined
  next: this | undefined
  readonly socket: Socket
  readonly peer: Peer
  /** The list of connections that it is in. */
  list: LinkedList<Connection> | undefined
  /** Opened when there were as many as the limit, and none of them idle. */
  readonly isBeyond: boolean
  /** The reply to the newest request whose turn has come; undefined before the first request. */
  reply: ServerResponse | undefined
  /** When it was opened, or that request began. Monotonic milliseconds. */
  usedAt = performance.now()
  /** The requests that wait for that reply to end. */
  waiting = 0
  /** The requests so far, without those that wait. */
  requests = 0
  /** The calls under way on its socket, if it has become one. */
  turns = 0

  constructor(socket: Socket, peer: Peer, isBeyond: boolean) {
    this.socket = socket
    this.peer = peer
    this.isBeyond = isBeyond
  }

  /** No request is being served. */
  get isIdle(): boolean {
    return this.waiting === 0 && this.turns === 0 && (this.reply === undefined || this.reply.writableFinished)
  }
}

/**
 * The client connections of the process, on all listeners, and their limits. At the limit a new connection takes the place of an idle
 * one (docs/decisions/client-connections.md).
 */
export class Connections {
  readonly #limit: number
  readonly #shed: HostCounter
  readonly #bySocket = new WeakMap<Socket, Connection>()
  readonly #peers = new Map<string | undefined, Peer>()
  /** Those without a request so far, the oldest first. */
  readonly #unused = new LinkedList<Connection>()
  /** The others, the one that has been without a new request for longest first. */
  readonly #used = new LinkedList<Connection>()
  #open = 0

  constructor(limit: number, shed: HostCounter) {
    this.#limit = limit
    this.#shed = shed
    for (const reason of REASONS) shed.add(0, reason)
  }

  /** A client has connected. */
  add(socket: Socket): void {
    if (this.#open >= this.#limit) this.#makeRoom()
    const address = socket.remoteAddress
    const peer = this.#peers.get(address) ?? { address, connections: 0 }
    const connection = new Connection(socket, peer, this.#open >= this.#limit)
    this.#peers.set(address, peer)
    this.#bySocket.set(socket, connection)
    peer.connections++
    this.#open++
    this.#move(connection, this.#unused)
    socket.once('close', () => this.#remove(connection))
    if (this.#open > this.#limit + BEYOND) this.#close(connection, 'connections')
  }

  /** The connection of a socket. */
  of(socket: Socket): Connection {
    return this.#bySocket.get(socket)!
  }

  /** A pipelined request waits for the reply before it, then `begin` is called. Closes the connection if too many wait. */
  wait(connection: Connection, reply: ServerResponse, begin: () => void): void {
    if (connection.waiting === MOST_WAITING) {
      this.#close(connection, 'pipelining')
      return
    }
    connection.waiting++
    onTurn(reply, () => {
      connection.waiting--
      begin()
    })
  }

  /** The turn of a request has come. False if it must be refused. */
  begin(connection: Connection, reply: ServerResponse): boolean {
    connection.reply = reply
    connection.usedAt = performance.now()
    // Not by Node's maxRequestsPerSocket: it says so, but does not close the connection.
    if (++connection.requests >= MOST_REQUESTS) reply.setHeader('connection', 'close')
    if (connection.list !== undefined) this.#move(connection, this.#used)
    if (!connection.isBeyond || this.#open <= this.#limit || MONITORING.test(reply.req.url!)) return true
    this.#shed.add(1, 'connections')
    return false
  }

  /** Closes the connection that has been idle for longest, if one is idle. */
  #makeRoom(): void {
    const now = performance.now()
    const { first: unused } = this.#unused
    const used = this.#leastRecentlyUsed()
    if (unused !== undefined && (used === undefined || UNUSED_WEIGHT * (now - unused.usedAt) >= now - used.usedAt))
      this.#close(unused, 'connections')
    else if (used !== undefined) this.#close(used, 'connections')
  }

  /**
   * The idle connection that has been without a new request for longest, of an address that has at least an equal share of all connections:
   * a client that opens many loses its own.
   */
  #leastRecentlyUsed(): Connection | undefined {
    for (let considered = 0; considered < CONSIDERED; considered++) {
      const connection = this.#used.first
      if (connection === undefined) return undefined
      if (connection.isIdle && connection.peer.connections * this.#peers.size >= this.#open) return connection
      // The next call considers others.
      this.#move(connection, this.#used)
    }
    return undefined
  }

  #close(connection: Connection, reason: Reason): void {
    if (connection.list === undefined) return
    this.#shed.add(1, reason)
    connection.socket.destroy()
    this.#remove(connection)
  }

  #remove(connection: Connection): void {
    if (connection.list === undefined) return
    this.#move(connection, undefined)
    this.#open--
    const { peer } = connection
    if (--peer.connections === 0) this.#peers.delete(peer.address)
  }

  #move(connection: Connection, list: LinkedList<Connection> | undefined): void {
    connection.list?.remove(connection)
    connection.list = list
    list?.add(connection)
  }
}
