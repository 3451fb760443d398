import { Readable } from 'node:stream'
import { Router } from '@koa/router'
import type { Context } from 'koa'
import type { TObject } from 'typebox'
import { GatewayError } from '../../errors.ts'
import { isOutage } from '../../store/outage.ts'
import { readBody } from '../body.ts'
import { type AddressOf, clientAddress } from './address.ts'
import { callerOf, checkRole, isStillIn } from './caller.ts'
import { compileBody, compileQuery, type FieldCheck } from './check.ts'
import { checkOrigin } from './origin.ts'
import { BASE, type ManagementParts } from './parts.ts'
import type { Route } from './route.ts'
import { ROUTES } from './routes.ts'
import { watchStream } from './watch-stream.ts'

/** Bytes; what people type is short. */
const MAX_BODY = 256 * 1024

/** On every reply: it is for one reader, once, and no page. */
const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** Makes the management API of its rows: what they do not declare is not there. */
export function managementRoutes(parts: ManagementParts, rows: readonly Route[] = ROUTES, prefix = BASE): Router {
  const router = new Router({ strict: true, sensitive: true, prefix })
  const addressOf = clientAddress(parts.trustedProxies ?? [])
  for (const row of rows) {
    const run = runner(row, parts, addressOf)
    const guarded = boundary(row, parts, run)
    router.register(row.path.replace(/\{(\w+)\}/g, ':$1'), [row.method], [guarded as never])
  }
  return router
}

/** Runs one request and fills its reply. */
type Run = (ctx: Context) => Promise<void>

/**
 * Its own boundary: what goes wrong here is no call of a model's, so that neither metrics nor usage count it. Only what nobody
 * foresaw is logged; what people did stands in the audit trail.
 */
function boundary({ method, path }: Route, { log, urls }: ManagementParts, run: Run): Run {
  return async function boundary(ctx) {
    ctx.set(HEADERS)
    if (urls().people.startsWith('https:')) ctx.set('strict-transport-security', 'max-age=31536000')
    try {
      await run(ctx)
    } catch (thrown) {
      const error = toGatewayError(thrown)
      if (error.fault === 'gateway')
        log.error({ id: ctx.state.id, route: `${method} ${path}`, err: error.cause }, 'request failed')
      ctx.set(error.headers)
      ctx.status = error.status
      ctx.body = error.toJSON()
    }
  }
}

function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  return new GatewayError(isOutage(thrown) ? 'storage_unavailable' : 'internal_error', { cause: thrown })
}

/** What every request of a row passes, in this order: where it comes from, who sent it, whether they may, and whether it is well made. */
function runner(row: Route, parts: ManagementParts, addressOf: AddressOf): Run {
  const checkQuery = compileQuery(row.query ?? NOTHING)
  const checkBody = compileBody(row.body ?? NOTHING)
  return async function run(ctx) {
    const address = addressOf(ctx.req)
    if (row.method !== 'GET') checkOrigin(ctx.req, parts.urls().people)
    const caller = row.role === 'nobody' ? undefined : await callerOf(ctx, parts, address)
    if (caller !== undefined) checkRole(caller, row.role)
    const query = { ...ctx.query }
    checkQuery(query)
    const asked = {
      caller,
      params: ctx.params,
      query,
      body: row.method === 'GET' ? {} : await bodyOf(ctx, checkBody),
      address,
      url: ctx.url,
      cookie: (name: string) => ctx.cookies.get(name),
      header: (name: string, value: string) => ctx.append(name, value),
      signal: ctx.state.signal,
    }
    const answer = await row.handle(asked as never, parts)
    if (answer instanceof Readable)
      watchStream(answer, ctx.res, {
        mayRead: async () => caller === undefined || isStillIn(ctx, parts, caller),
        onError: (err) => parts.log.error({ id: ctx.state.id, route: `${row.method} ${row.path}`, err }, 'reply broken off'),
      })
    tell(ctx, row, answer)
  }
}

const NOTHING = { type: 'object', properties: {} } as unknown as TObject

async function bodyOf(ctx: Context, check: FieldCheck): Promise<unknown> {
  const bytes = await readBody(ctx.req, ctx.res, MAX_BODY)
  const body: unknown = parse(bytes.toString() || '{}')
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new GatewayError('invalid_json')
  check(body as Record<string, unknown>)
  return body
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new GatewayError('invalid_json')
  }
}

function tell(ctx: Context, row: Route, answer: unknown): void {
  ctx.status = row.status ?? (answer === undefined ? 204 : 200)
  if (answer instanceof Readable) ctx.set('content-type', row.streams!)
  // Koa sends no body with a 204; but the boundary around it must see that there is a reply.
  ctx.body = answer ?? ''
  if (row.streams !== 'text/event-stream') return
  // Events may be long in coming; who waits for them should know that they will come, and no proxy should hold them back.
  ctx.set('x-accel-buffering', 'no')
  ctx.flushHeaders()
}
