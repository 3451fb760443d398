import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Middleware } from 'koa'
import { Batch } from '../async/event-loop.ts'
import type { LinkedList } from '../async/linked-list.ts'
import type { Exchange } from '../call/exchange.ts'
import type { ErrorName } from '../error-table.ts'
import { GatewayError } from '../errors.ts'
import { newRequestId } from '../text/ids.ts'
import { type AppServices, createApp, PRIVATE } from './app.ts'
import { connectionLimit } from './connection-limit.ts'
import { type Connection, Connections } from './connections.ts'
import { type Listen, type ListenerName, type ListenPath, listen } from './listen.ts'
import { GatewayResponse } from './response.ts'
import { isInHandshake, serveTls, type TlsTermination } from './tls.ts'
import { HandshakeReply, type Sockets } from './upgrade.ts'

const OPTIONS: ServerOptions<typeof IncomingMessage, typeof GatewayResponse> = {
  ServerResponse: GatewayResponse,
  noDelay: true,
  // Longer than load balancers keep idle connections (60 s and more): they must close first.
  keepAliveTimeout: 75_000,
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 2_000,
  // Node's own refusal has no body: refuseAmbiguous sends one.
  requireHostHeader: false,
}

/** The options of an HTTP server. */
export interface HttpServerOptions {
  readonly connections: Connections
  /** Milliseconds without reads before a client is disconnected that has a reply to read. */
  readonly writeStall: number
  /** Absent: clients connect without TLS. */
  readonly tls?: TlsTermination | undefined
  /** Absent: clients get no WebSockets. */
  readonly sockets?: Sockets | undefined
  /** Called for input refused before it became a request, with its request id. */
  onRefused(id: string, error: GatewayError): void
}

/**
 * An HTTP server that refuses even invalid HTTP with OpenAI's JSON and a request id. It serves the pipelined requests of a connection one
 * after the other.
 */
export function createHttpServer(
  listener: RequestListener,
  { connections, writeStall, tls, sockets, onRefused }: HttpServerOptions,
): Server {
  const arrived = new Batch<ServerResponse>((response) => {
    const { req } = response
    // The client has disconnected, or already got an error because invalid HTTP followed the head.
    if (req.socket.writable) listener(req, response)
  })
  const begin = (connection: Connection, response: ServerResponse): void => {
    if (connections.begin(connection, response)) arrived.add(response)
    else refuse(connection.socket, new GatewayError('gateway_overloaded'))
  }
  const serve: RequestListener = ({ socket }, response) => {
    const connection = connections.of(socket)
    // A pipelined one has no socket yet.
    if (response.socket !== null) begin(connection, response)
    else connections.wait(connection, response, () => begin(connection, response))
  }
  const refuse = (socket: Socket, error: GatewayError): void => {
    const id = newRequestId()
    sendRawReply(socket, error, id)
    onRefused(id, error)
  }
  const server = createServer({ ...OPTIONS, ...(sockets && { shouldUpgradeCallback: (req) => sockets.isHandshake(req) }) }, serve)
  server.maxHeadersCount = 128
  server.timeout = writeStall
  server.on('connection', (socket: Socket) => connections.add(socket))
  server.on('timeout', (socket: Socket) => {
    const { reply } = connections.of(socket)
    // A head, and a reply that waits for its upstream, have time limits of their own.
    if (reply !== undefined && (reply.writableFinished || socket.writableLength > 0)) socket.destroy()
  })
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket: Socket) => {
    const error = new GatewayError(CLIENT_ERRORS[code] ?? 'malformed_http')
    const { reply } = connections.of(socket)
    if (!socket.writable || isInHandshake(socket)) socket.destroy()
    else if (reply !== undefined && isReplied(reply)) socket.destroySoon()
    else if (reply?.hasHeader('x-request-id') && !reply.writableFinished)
      sendRawReply(socket, error, String(reply.getHeader('x-request-id')))
    else refuse(socket, error)
  })
  if (sockets !== undefined)
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      // A client may leave at any time; without a listener its error would end the process.
      socket.on('error', () => undefined)
      const connection = connections.of(socket)
      begin(connection, new HandshakeReply({ request, head, connection }, sockets, listener))
    })
  server.on('connect', ({ url = '' }, socket: Socket) => refuse(socket, noTunnel(url)))
  // readBody sends 100 when the body is first read, after auth and the length check.
  server.on('checkContinue', serve)
  server.on('checkExpectation', serve)
  if (tls !== undefined) serveTls(server, tls)
  return server
}

/** Whether a raw reply would corrupt a reply or be the request's second. `reply`: the connection's last one. */
const isReplied = (reply: ServerResponse): boolean => (reply.writableFinished ? !reply.req.complete : reply.headersSent)

const CLIENT_ERRORS: Readonly<Record<string, ErrorName>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

function noTunnel(url: string): GatewayError {
  const allow = 'GET, POST'
  return new GatewayError('method_not_allowed', {
    values: { method: 'CONNECT', path: url.slice(0, 200), allow },
    headers: { allow },
  })
}

/** Writes a raw reply: without a request, Node has no response object. */
function sendRawReply(socket: Socket, error: GatewayError, id: string): void {
  const body = JSON.stringify(error)
  const headers = {
    ...PRIVATE,
    ...error.headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-request-id': id,
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  // A CONNECT socket has no error listener: a disconnected client would end the process.
  socket.on('error', () => {})
  socket.write(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
  // Closes both halves: a client that never closes its own would keep the socket.
  socket.destroySoon()
}

/** The middleware that serve the paths of the listeners. */
export interface Paths {
  /**
   * On every listener: the console's playground calls `/v1` at the origin of its page. Refusing these calls on the admin listener would gain
   * nothing: they need a key, pass the same chain and are counted there too.
   */
  readonly clients: readonly Middleware[]
  /** On the admin listener, or on the only listener if there is one; never on a separate public one. */
  readonly operators: readonly Middleware[]
}

/** Addresses to bind. Without `adminListen`: one listener. */
export interface ListenerOptions {
  readonly listen: Listen | ListenPath
  readonly adminListen?: Listen | ListenPath
  /** Of all listeners. */
  readonly tls?: TlsTermination | undefined
  /** Of the listener of clients. Absent: there are no WebSockets. */
  readonly sockets?: Sockets | undefined
}

/** The gateway's open listeners. */
export interface Listeners {
  /** `http://127.0.0.1:8080` */
  readonly url: string
  readonly adminUrl: string
  /** Serves a connection that another process accepted. */
  accept(listener: ListenerName, socket: Socket): void
  /**
   * Closes idle connections that other processes accepted. Resolves when none is open, or when those that are open have had no call for
   * `grace` milliseconds.
   */
  empty(grace: number): Promise<void>
  /** Closes the listeners. Resolves when open calls have ended; fails calls still open after `grace` milliseconds. */
  stop(grace: number): Promise<void>
}

/** Starts listening. Rejects if an address is unavailable. */
export async function openListeners(
  services: AppServices,
  paths: Paths,
  { listen: address, adminListen, tls, sockets }: ListenerOptions,
): Promise<Listeners> {
  const connections = new Connections(connectionLimit(), services.shed)
  const onRefused = (id: string, error: GatewayError): void => services.settlement.refused(id, error)
  const { writeStall } = services
  const serve = (served: readonly Middleware[], open?: Sockets) =>
    createHttpServer(createApp(services, served).callback(), { connections, writeStall, tls, sockets: open, onRefused })
  const everything = [...paths.clients, ...paths.operators]
  const front = serve(adminListen === undefined ? everything : paths.clients, sockets)
  const scheme = tls === undefined ? 'http' : 'https'
  const url = await listen(front, address, scheme)
  const back = adminListen === undefined ? front : serve(everything)
  const adminUrl =
    adminListen === undefined
      ? url
      : await listen(back, adminListen, scheme).catch((error: unknown) => {
          front.close()
          throw error
        })
  const accepted = new Set<Socket>()
  const serving = { servers: [...new Set([front, back])], accepted, open: services.open, sockets }
  return {
    url,
    adminUrl,
    accept(listener, socket) {
      accepted.add(socket)
      socket.once('close', () => accepted.delete(socket))
      const server = listener === 'clients' ? front : back
      server.emit('connection', socket)
    },
    empty: (grace) => empty(serving, grace),
    stop: (grace) => stop(serving, grace),
  }
}

interface Serving {
  readonly servers: readonly Server[]
  /** Connections that the servers do not count, because other processes accepted them. */
  readonly accepted: ReadonlySet<Socket>
  readonly open: LinkedList<Exchange>
  readonly sockets: Sockets | undefined
}

/** How often idle connections are closed, in milliseconds. */
const SWEEP_MS = 50

/** Closes connections as they become idle. The servers stay open: a server that is closed does not enforce its limits for heads any more. */
async function empty({ servers, accepted, open, sockets }: Serving, grace: number): Promise<void> {
  sockets?.leave()
  for (let calledAt = performance.now(); accepted.size > 0 || open.first !== undefined; await delay(SWEEP_MS)) {
    for (const server of servers) server.closeIdleConnections()
    // Live views of the console never end.
    if (open[Symbol.iterator]().some(({ endpoint }) => endpoint !== undefined)) calledAt = performance.now()
    else if (performance.now() - calledAt >= grace) return
  }
}

/** Closes the listeners and waits for open calls; after `grace` milliseconds sends them an error. */
async function stop({ servers, accepted, open, sockets }: Serving, grace: number): Promise<void> {
  sockets?.leave()
  const listenersClosed = servers.map((server) => new Promise((resolve) => server.close(resolve)))
  // `once` of node:events would reject if a client resets its connection.
  const acceptedClosed = Array.from(accepted, (socket) => new Promise((resolve) => socket.once('close', resolve)))
  // A keep-alive socket would serve on after its stream ends: idle sockets are closed repeatedly.
  const sweep = setInterval(() => {
    for (const server of servers) server.closeIdleConnections()
  }, SWEEP_MS)
  const graceTimer = setTimeout(() => {
    for (const exchange of open) exchange.end(new GatewayError('service_unavailable', { headers: { 'retry-after': '1' } }))
    setTimeout(() => {
      for (const server of servers) server.closeAllConnections()
      sockets?.terminate()
    }, ERROR_FLUSH_MS).unref()
  }, grace)
  await Promise.all([...listenersClosed, ...acceptedClosed])
  // Calls in the background have no connection.
  while (open.first !== undefined) await delay(SWEEP_MS)
  clearInterval(sweep)
  clearTimeout(graceTimer)
}

/** Time for the clients to get error frames. */
const ERROR_FLUSH_MS = 500
