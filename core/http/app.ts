import type { IncomingMessage, ServerResponse } from 'node:http'
import { TLSSocket } from 'node:tls'
import { Router } from '@koa/router'
import Koa from 'koa'
import type { LinkedList } from '../async/linked-list.ts'
import type { Admission } from '../call/admission.ts'
import { exchangeOf, LinkState } from '../call/chain.ts'
import { conversationEndpoints } from '../call/conversations.ts'
import { type CallEnd, type Endpoint, Exchange, type ExchangeServices } from '../call/exchange.ts'
import type { Generation } from '../call/generation.ts'
import { keptEndpoints } from '../call/kept-responses.ts'
import { MODELS_PATH, type ModelEndpoints, modelEndpointsFor } from '../call/model-lists.ts'
import { UnreadBodies } from '../call/read-body.ts'
import { RequestLimit } from '../call/request-limit.ts'
import { type CallServices, modelEndpoint } from '../call/serve.ts'
import type { Settlement } from '../call/settle.ts'
import type { Relay } from '../dispatch/relay.ts'
import type { ErrorName } from '../error-table.ts'
import { CodedError, GatewayError } from '../errors.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { ClientWire } from '../protocol/client-protocol.ts'
import { modelEndpoints } from '../protocol/endpoints/model-endpoints.ts'
import { PLAIN_ENDPOINTS } from '../protocol/endpoints/plain-endpoints.ts'
import type { HostCounter } from '../sdk/api.ts'
import type { GatewayResponse } from './response.ts'
import { STRICT_TRANSPORT } from './tls.ts'
import { TurnRequest } from './turn.ts'
import { HANDSHAKE, HandshakeReply } from './upgrade.ts'

/** Whether a process serves, serves only the calls of the connections that it has, or ends with its gateway. */
export interface Lifecycle {
  phase: 'serving' | 'leaving' | 'draining'
}

/** The services that every request uses. */
export interface AppServices {
  readonly settlement: Settlement
  readonly metrics: Metrics
  /** Counts connections that are closed at their limit, by the reason. */
  readonly shed: HostCounter
  readonly admission: Admission
  /** The open requests. */
  readonly open: LinkedList<Exchange>
  /** Every reply of a process that does not only serve closes its connection. */
  readonly lifecycle: Readonly<Lifecycle>
  /** Milliseconds without reads before a client is disconnected that has a reply to read. */
  readonly writeStall: number
}

/** The Koa application of one listener. `paths`: the middleware that serve paths, each calling the next one for a path of others. */
export function createApp(services: AppServices, paths: readonly Koa.Middleware[]): Koa {
  const app = new GatewayKoa((req) => new LinkState(new Exchange(undefined, req instanceof TurnRequest ? req.turn : undefined)))
  app.use(beginExchange(services))
  app.use(sendReply(new UnreadBodies()))
  app.use(refuseAmbiguous)
  for (const middleware of paths) app.use(middleware)
  app.use(refuseUnknownPath)
  // Koa emits only socket errors here: sendReply catches those of middleware.
  app.on('error', () => {})
  return app
}

type Serve = (ctx: Koa.ParameterizedContext) => Promise<void>

/** A method of Koa that its types leave out: it serves a request, and sends `ctx.body`. */
const { handleRequest } = Koa.prototype as unknown as {
  handleRequest(this: Koa, ctx: Koa.ParameterizedContext, serve: Serve): Promise<void>
}

const STATE = Symbol('state')

/** Koa, with a state of the gateway's for each request, and without what a reply does not need that the gateway sends itself. */
class GatewayKoa extends Koa {
  readonly #newState: (req: IncomingMessage) => object

  /** `newState`: makes the `ctx.state` of a request. */
  constructor(newState: (req: IncomingMessage) => object) {
    super()
    this.#newState = newState
    Object.defineProperty(this.context, 'state', {
      get(this: { readonly [STATE]: object }) {
        return this[STATE]
      },
    })
  }

  /** Koa's own gives each context a `state` that a link could replace; to close a property takes longer than all of this. */
  override createContext<State = Koa.DefaultState>(req: IncomingMessage, res: ServerResponse): Koa.ParameterizedContext<State> {
    const context = Object.create(this.context)
    const request = Object.create(this.request)
    const response = Object.create(this.response)
    context.request = request
    context.response = response
    context.app = request.app = response.app = this
    context.req = request.req = response.req = req
    context.res = request.res = response.res = res
    request.ctx = response.ctx = context
    request.response = response
    response.request = request
    context.originalUrl = request.originalUrl = req.url
    context[STATE] = this.#newState(req)
    return context
  }

  /** As Koa's, but on a reply with `ctx.respond` false it puts no listeners for its end (on-finished). */
  async handleRequest(ctx: Koa.ParameterizedContext, serve: Serve): Promise<void> {
    const { res } = ctx
    res.statusCode = 404
    try {
      await serve(ctx)
    } catch (error) {
      ctx.onerror(error as Error)
      return
    }
    if (ctx.respond === false) return
    const { statusCode } = res
    await handleRequest.call(this, ctx, async () => {
      res.statusCode = statusCode
    })
  }
}

/**
 * On every reply, unless a path has its own: no cache keeps it (RFC 9111 §5.2.2.5), and no browser guesses another type than it has
 * (Fetch standard, "`X-Content-Type-Options` header").
 */
export const PRIVATE: Readonly<Record<string, string>> = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** Gives the reply the request's id, and settles its exchange when the reply closes. */
function beginExchange({ settlement, open, lifecycle }: AppServices): Koa.Middleware {
  return (ctx, next) => {
    const exchange = exchangeOf(ctx)
    ctx.res.setHeader('x-request-id', exchange.id)
    for (const name in PRIVATE) ctx.res.setHeader(name, PRIVATE[name]!)
    if (ctx.req.socket instanceof TLSSocket) ctx.res.setHeader(...STRICT_TRANSPORT)
    if (lifecycle.phase !== 'serving') ctx.res.setHeader('connection', 'close')
    open.add(exchange)
    // Emitted once: `once` would only make another function.
    ctx.res.on('close', () => {
      if (exchange.detached !== undefined) return void settleLater(exchange, exchange.detached, ctx.req)
      open.remove(exchange)
      settlement.settle(exchange, ctx.req, ctx.res)
    })
    return next()
  }

  /** Settles a call whose client is not waiting for its end. */
  async function settleLater(exchange: Exchange, detached: Promise<CallEnd>, req: IncomingMessage): Promise<void> {
    exchange.leave()
    const end = await detached
    if (end.error !== undefined) exchange.fail(end.error)
    open.remove(exchange)
    settlement.settle(exchange, req, end)
  }
}

/** Sends the result of a call, and thrown errors. Koa sends the other replies. */
function sendReply(unread: UnreadBodies): Koa.Middleware {
  return async (ctx, next) => {
    const exchange = exchangeOf(ctx)
    try {
      await next()
    } catch (error) {
      exchange.fail(error)
    }
    if (!ctx.req.complete) unread.discard(ctx.req)
    if (exchange.endpoint === undefined && exchange.failure === undefined) return
    ctx.respond = false
    respond(exchange, ctx.res as GatewayResponse)
  }
}

/** More headers than any client sends. Node drops or refuses headers beyond its own limit. */
const MAX_HEADERS = 100

/**
 * Refuses requests that Node's parser accepts but servers interpret differently: the gateway and a proxy before it must agree
 * (RFC 9112 §3.2, §6.1).
 */
export function refuseAmbiguous({ req }: Koa.ParameterizedContext, next: Koa.Next): Promise<void> {
  const { rawHeaders, headers, httpVersion, method = '', url = '' } = req
  if (httpVersion !== '1.1' && httpVersion !== '1.0') throw refusal('http_version_not_supported')
  if (rawHeaders.length > 2 * MAX_HEADERS) throw refusal('headers_too_large')
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')) throw refusal('malformed_http')
  const hosts = count(rawHeaders, 'host')
  if (hosts === 0 ? httpVersion === '1.1' : hosts > 1 || !HOST.test(headers.host!)) throw refusal('malformed_http')
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') throw refusal('expectation_failed')
  if (!PLAIN.test(url)) throw new GatewayError('unknown_url', { values: { method, path: url.slice(0, 200) } })
  return next()
}

/** Closes the connection: later requests on it would be ambiguous too. */
const refusal = (row: ErrorName): GatewayError => new GatewayError(row, { headers: { connection: 'close' } })

/** A host name or address with an optional port, without a path. */
const HOST = /^(?:[A-Za-z0-9._~-]*|\[[0-9A-Fa-f:.]+\])(?::\d*)?$/

/** Origin-form without `#`: absolute-form and `*` name no resource here; Koa misreads a path with `#`. */
const PLAIN = /^\/[^#]*$/

function count(rawHeaders: readonly string[], name: string): number {
  let found = 0
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === name.length && rawHeaders[i]!.toLowerCase() === name) found++
  return found
}

/** Throws 404, 405 if only the method is wrong, or 426 for a WebSocket at an endpoint: Codex then falls back to HTTP at once. */
function refuseUnknownPath(ctx: Koa.Context): never {
  const layers = (ctx.matched ?? []) as readonly { readonly methods: readonly string[] }[]
  const allow = [...new Set(layers.flatMap((layer) => layer.methods))].join(', ')
  const values = { method: ctx.method, path: ctx.path.slice(0, 200), allow, detail: detailFor(ctx.path) }
  if (allow === '') throw new GatewayError('unknown_url', { values })
  // RFC 9110 §15.5.22 asks for the header, and for the status.
  if (/^websocket$/i.test(ctx.get('upgrade')))
    throw new GatewayError('websocket_unsupported', { values, headers: { upgrade: 'HTTP/1.1' } })
  throw new GatewayError('method_not_allowed', { values, headers: { allow } })
}

/** What is wrong with a path, where it tells: the base URL of an SDK, or an endpoint that the gateway does not serve. */
function detailFor(path: string): string {
  const isEndpoint = (name: string): boolean => modelEndpoints.some((endpoint) => endpoint.path === name)
  const plain = path.replace(/\/$/, '')
  if (plain === '/v1' || isEndpoint(`/v1${plain}`))
    return '. The base URL of an SDK ends in /v1; calls go to paths below it, such as /v1/chat/completions.'
  if (plain.startsWith('/v1/v1/') || plain === '/v1/v1')
    return '. The base URL of this client must end without /v1, which it adds itself, as the SDKs of Anthropic and Claude Code do.'
  return NOT_SERVED.some((name) => plain === name || plain.startsWith(`${name}/`))
    ? '. This gateway does not serve that endpoint: docs/endpoints.md lists those that it serves.'
    : ''
}

/** Endpoints of OpenAI and Anthropic that the gateway does not serve. */
export const NOT_SERVED: readonly string[] = [
  '/v1/assistants',
  '/v1/audio/voices',
  '/v1/batches',
  '/v1/containers',
  '/v1/evals',
  '/v1/files',
  '/v1/fine_tuning',
  '/v1/images/variations',
  '/v1/messages/batches',
  '/v1/organization',
  '/v1/organizations',
  '/v1/realtime',
  '/v1/responses',
  '/v1/skills',
  '/v1/threads',
  '/v1/uploads',
  '/v1/vector_stores',
  '/v1/videos',
]

/** The services of the routes of `/v1`. */
export interface ApiServices extends CallServices, ExchangeServices {
  /** The version of routes.yaml that serves new calls. */
  readonly live: { readonly generation: Generation }
}

/** The paths of `/v1`. Those of calls are looked up; the router is for the others, and for a path with a query or a slash at its end. */
export function apiPaths(services: ApiServices): Koa.Middleware {
  const calls = callsOf(services)
  const routes = apiRoutes(services, calls).routes() as Koa.Middleware
  const handshake = serve(HANDSHAKE, services)
  return (ctx, next) => {
    if (ctx.res instanceof HandshakeReply) return handshake(ctx)
    const call = ctx.method === 'POST' ? calls.get(ctx.req.url!) : undefined
    return call === undefined ? routes(ctx, next) : call(ctx)
  }
}

/** What serves the calls of each path. */
const callsOf = (services: ApiServices) =>
  new Map(modelEndpoints.map((endpoint) => [endpoint.path, serve(modelEndpoint(endpoint, services), services)]))

/** The routes of `/v1`. */
export function apiRoutes(services: ApiServices, calls = callsOf(services)): Router {
  // Not strict: a slash at the end of a path changes nothing.
  const router = new Router({ sensitive: true })
  for (const [path, call] of calls) router.post(path, call as never)
  const models = (which: keyof ModelEndpoints) => (ctx: Koa.Context) => serve(modelEndpointsFor(ctx)[which], services)(ctx)
  const requests = new RequestLimit()
  for (const { name, endpoint } of [...keptEndpoints(services, requests), ...conversationEndpoints(services, requests)]) {
    const { method, path } = PLAIN_ENDPOINTS[name]
    router.register(path, [method], serve(endpoint, services) as never)
  }
  router.get(MODELS_PATH, models('list') as never)
  router.get(`${MODELS_PATH}/*id`, models('one') as never)
  return router
}

/** Serves one call: holds a generation until it is settled, and runs the chain around the endpoint. Throws 503 in an overload. */
const serve =
  (endpoint: Endpoint, services: ApiServices) =>
  (ctx: Koa.ParameterizedContext): Promise<void> => {
    const generation = services.live.generation.hold()
    const exchange = exchangeOf(ctx)
    exchange.begin(endpoint, generation, ctx, services)
    const { requestIdHeader } = exchange.wire
    if (requestIdHeader !== undefined) ctx.res.setHeader(requestIdHeader, exchange.id)
    services.admission.check()
    return generation.chain.run(exchange, ctx)
  }

/** Up to this size, in bytes, a body is sent as one latin1 string, in one write with the head. */
const ONE_WRITE = 16 * 1024

/** Sends the result of the call: a stream, a whole reply or an error. */
function respond(exchange: Exchange, response: GatewayResponse): void {
  if (exchange.closed) return
  if (exchange.dropped.length > 0) response.setHeader('x-umg-params-dropped', exchange.dropped.join(', '))
  if (exchange.cap !== undefined) response.setHeader('x-umg-output-cap', exchange.cap)
  const { reply, wire } = exchange
  if (reply?.kind === 'error') sendError(reply.error, wire, response)
  else if (reply?.kind === 'stream') sendStream(reply.stream, response)
  else if (reply?.kind === 'whole') sendJson(200, reply.body, response)
  else sendError(new GatewayError('internal_error', { cause: new CodedError('NO_REPLY', 'no reply') }), wire, response)
}

/** Sends an error as the client's protocol writes it. The request id is a header, never part of the body. */
function sendError(error: GatewayError, wire: ClientWire, response: ServerResponse): void {
  for (const name in error.headers) response.setHeader(name, error.headers[name]!)
  sendJson(wire.status?.(error) ?? error.status, Buffer.from(JSON.stringify(wire.error(error))), response)
}

function sendJson(status: number, body: Buffer, response: ServerResponse): void {
  response.statusCode = status
  response.setHeader('content-type', 'application/json')
  response.setHeader('content-length', body.length)
  if (response.req.method === 'HEAD') response.end()
  else if (body.length <= ONE_WRITE) response.end(body.toString('latin1'), 'latin1')
  else response.end(body)
}

function sendStream(stream: Relay, response: GatewayResponse): void {
  response.statusCode = 200
  response.setHeader('content-type', stream.type)
  response.setHeader('cache-control', 'no-store, no-transform')
  response.setHeader('x-accel-buffering', 'no')
  stream.open(response)
}
