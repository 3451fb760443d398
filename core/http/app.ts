import { Router } from '@koa/router'
import Koa from 'koa'
import { GatewayError } from '../errors.ts'
import type { Generation } from '../generation.ts'
import type { EndpointName } from '../plugin/api.ts'
import { newRequestId } from '../usage/request-id.ts'
import { readBody } from './body.ts'
import type { CallContext, Chain } from './chain.ts'
import { ClientCall } from './client-call.ts'
import { chatCompletions } from './endpoints/chat-completions.ts'
import { type CallServices, complete, type ModelEndpoint } from './endpoints/completions.ts'
import { sendModel, sendModels } from './endpoints/models.ts'
import { checkEnvelope } from './envelope.ts'
import { Exchange } from './exchange.ts'
import { takeOwnReply } from './own-reply.ts'
import { respond } from './respond.ts'
import type { Roster } from './roster.ts'
import type { Settlement } from './settle.ts'

/** What the application is made of. */
export interface AppParts extends CallServices {
  readonly chain: Chain
  readonly settlement: Settlement
  /** Requests under way. */
  readonly open: Roster<Exchange>
  /** The generation that serves new calls. */
  current(): Generation
  /** True while the gateway drains: every reply closes its connection. */
  draining(): boolean
}

/** Endpoints that a model answers; each is one small file. */
const MODEL_ENDPOINTS: readonly ModelEndpoint[] = [chatCompletions]

const MODELS = '/v1/models'

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

/** `/v1`, and what its routes do. */
export function apiRoutes(parts: AppParts): Router {
  const router = new Router({ strict: true, sensitive: true })
  for (const endpoint of MODEL_ENDPOINTS) {
    router.post(endpoint.path, (ctx) =>
      serve(ctx as never, parts, {
        name: endpoint.name,
        read: (exchange, generation) => readCall(ctx as never, exchange, { endpoint, generation }),
        run: (exchange, generation) => complete(exchange, generation, endpoint.reply, parts),
      }),
    )
  }
  router.get(MODELS, (ctx) => serve(ctx as never, parts, { name: 'models', run: sendModels }))
  router.get(`${MODELS}/*id`, (ctx) => {
    const rawId = ctx.path.slice(MODELS.length + 1)
    return serve(ctx as never, parts, {
      name: 'models',
      run: (exchange, generation) => sendModel(exchange, generation, rawId),
    })
  })
  return router
}

/** What stands behind the chain. */
interface Served {
  readonly name: EndpointName
  readonly read?: (exchange: Exchange, generation: Generation) => Promise<ClientCall>
  readonly run: (exchange: Exchange, generation: Generation) => Promise<void>
}

/** One call: a generation is held for all of it, the chain runs around the endpoint, and a link's own reply takes its place. */
async function serve(ctx: CallContext, parts: AppParts, { name, read, run }: Served): Promise<void> {
  const exchange = ctx.state as Exchange
  const generation = parts.current().hold()
  exchange.begin({ name, generation, ...(read && { read: () => read(exchange, generation) }) })
  await parts.chain.run(generation.links, {
    ctx,
    exchange,
    endpoint: () => run(exchange, generation),
    answer: () => takeOwnReply(exchange, generation, parts.relayTimes),
  })
}

async function readCall(
  ctx: CallContext,
  exchange: Exchange,
  { endpoint, generation }: { readonly endpoint: ModelEndpoint; readonly generation: Generation },
): Promise<ClientCall> {
  const bytes = await readBody(ctx.req, ctx.res)
  return new ClientCall(bytes, {
    id: exchange.id,
    endpoint: endpoint.name,
    check: endpoint.check,
    resolve: (name) => generation.table.resolve(name),
    upstreamHeaders: exchange.upstreamHeaders,
  })
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
