import type { Router } from '@koa/router'
import Koa from 'koa'
import { GatewayError } from '../errors.ts'
import type { Roster } from '../roster.ts'
import { newRequestId } from '../usage/request-id.ts'
import { checkEnvelope } from './envelope.ts'
import { Exchange } from './exchange.ts'
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
