import type { IncomingMessage } from 'node:http'
import { Router } from '@koa/router'
import Koa from 'koa'
import type { Roster } from '../async/linked-list.ts'
import { type ErrorName, GatewayError } from '../errors.ts'
import type { Generation } from '../gateway/generation.ts'
import { chatCompletions } from '../protocol/chat-completions.ts'
import { embeddings } from '../protocol/embeddings.ts'
import { responses } from '../protocol/responses.ts'
import { newRequestId } from '../text/ids.ts'
import type { Workers } from '../workers/pool.ts'
import type { CallContext, Chain } from './chain.ts'
import { type CallServices, complete, type Endpoint, type ModelEndpoint, Visit } from './complete.ts'
import { Exchange } from './exchange.ts'
import { sendModel, sendModels } from './models.ts'
import { respond } from './respond.ts'
import type { Settlement } from './settle.ts'

/** What the application is made of. */
export interface AppParts {
  readonly settlement: Settlement
  /** Requests under way. */
  readonly open: Roster<Exchange>
  /** True while the gateway drains: every reply closes its connection. */
  draining(): boolean
}

/** The Koa application of one listener: the boundary around its routes. */
export function createApp(parts: AppParts, routers: readonly Router[]): Koa {
  const app = new Koa()
  app.use(boundary(parts))
  for (const router of routers) app.use(router.routes() as Koa.Middleware)
  // Only sockets that break reach it: what is thrown stays within the boundary.
  app.on('error', () => {})
  return app
}

/** Around everything: the request id, the errors, and the reply. */
function boundary(parts: AppParts): Koa.Middleware {
  return async function boundary(ctx, next) {
    const exchange = new Exchange(newRequestId())
    ctx.state = exchange
    ctx.res.setHeader('x-request-id', exchange.id)
    if (parts.draining()) ctx.res.setHeader('connection', 'close')
    parts.open.add(exchange)
    ctx.res.once('close', () => {
      parts.open.remove(exchange)
      parts.settlement.settle(exchange, ctx.req, ctx.res)
    })
    try {
      checkEnvelope(ctx.req)
      await next()
      if (exchange.generation === undefined) {
        // Only routes beside `/v1` answer as Koa does.
        if (ctx.body != null) return
        throw noRoute(ctx)
      }
    } catch (error) {
      exchange.fail(error)
    }
    ctx.respond = false
    respond(exchange, ctx.res)
  }
}

/** 404, or 405 where only the method is wrong. */
function noRoute(ctx: Koa.Context): GatewayError {
  const layers = (ctx.matched ?? []) as readonly { readonly methods: readonly string[] }[]
  const allow = [...new Set(layers.flatMap((layer) => layer.methods))].join(', ')
  const values = { method: ctx.method, path: ctx.path.slice(0, 200), allow }
  return allow === ''
    ? new GatewayError('unknown_url', { values })
    : new GatewayError('method_not_allowed', { values, headers: { allow } })
}

/** What `/v1` is made of. */
export interface ApiParts extends CallServices {
  readonly chain: Chain
  readonly workers: Workers
  /** The generation that serves new calls. */
  current(): Generation
}

/** Endpoints that a model answers; each is one small file. */
const MODEL_ENDPOINTS: readonly ModelEndpoint[] = [chatCompletions, embeddings, responses]

const MODELS = '/v1/models'

/** `/v1`, and what its routes do. */
export function apiRoutes(parts: ApiParts): Router {
  const router = new Router({ strict: true, sensitive: true })
  for (const { name, path, check, reply } of MODEL_ENDPOINTS) {
    const endpoint: Endpoint = { name, check, run: (exchange, generation) => complete(exchange, generation, reply, parts) }
    router.post(path, (ctx) => serve(ctx as never, endpoint, parts))
  }
  const models: Endpoint = { name: 'models', run: sendModels }
  router.get(MODELS, (ctx) => serve(ctx as never, models, parts))
  const model: Endpoint = {
    name: 'models',
    run: (exchange, generation, { path }) => sendModel(exchange, generation, path.slice(MODELS.length + 1)),
  }
  router.get(`${MODELS}/*id`, (ctx) => serve(ctx as never, model, parts))
  return router
}

/** One call: a generation is held for all of it, and the chain runs around its endpoint. */
function serve(ctx: CallContext, endpoint: Endpoint, { chain, current, relayTimes, workers }: ApiParts): Promise<void> {
  const exchange = ctx.state as Exchange
  const generation = current().hold()
  const visit = new Visit(ctx, { exchange, endpoint, generation, relayTimes, workers })
  exchange.begin(visit)
  return chain.run(generation.links, visit)
}

/** More headers than any client sends; Node itself drops or refuses what is past its own limit. */
const MAX_HEADERS = 100

/**
 * Refuses what Node's parser lets through but servers read in different ways: a request must have one meaning, here and in front
 * of us (RFC 9112 §3.2, §6.1).
 */
export function checkEnvelope(request: IncomingMessage): void {
  const { rawHeaders, headers, httpVersion, method = '', url = '' } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0') throw refusal('http_version_not_supported')
  if (rawHeaders.length > 2 * MAX_HEADERS) throw refusal('headers_too_large')
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')) throw refusal('malformed_http')
  const hosts = count(rawHeaders, 'host')
  if (hosts === 0 ? httpVersion === '1.1' : hosts > 1 || !HOST.test(headers.host!)) throw refusal('malformed_http')
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') throw refusal('expectation_failed')
  if (!PLAIN.test(url)) throw new GatewayError('unknown_url', { values: { method, path: url.slice(0, 200) } })
}

/** What else is on such a connection has no certain meaning either: it is closed. */
const refusal = (row: ErrorName): GatewayError => new GatewayError(row, { headers: { connection: 'close' } })

/** A name or address with a port; nothing that could carry a path. */
const HOST = /^(?:[A-Za-z0-9._~-]*|\[[0-9A-Fa-f:.]+\])(?::\d*)?$/

/** Absolute-form and `*` name no resource of ours; where a `#` stands, Koa reads another path than is written. */
const PLAIN = /^\/[^#]*$/

function count(rawHeaders: readonly string[], name: string): number {
  let found = 0
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === name.length && rawHeaders[i]!.toLowerCase() === name) found++
  return found
}
