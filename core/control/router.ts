import type { IncomingMessage } from 'node:http'
import { BlockList, isIPv6 } from 'node:net'
import { Readable } from 'node:stream'
import { Router } from '@koa/router'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { Context } from 'koa'
import type { TObject } from 'typebox'
import { EMAIL } from '../accounts/users.ts'
import { GatewayError } from '../errors.ts'
import { readBody } from '../http/body.ts'
import { explain } from '../protocol/validation.ts'
import { isUnavailable } from '../store/unavailable.ts'
import { instant } from '../text/times.ts'
import { callerOf, checkRole, isStillIn } from './caller.ts'
import { watchStream } from './event-stream.ts'
import { BASE, type ManagementServices, type Route } from './operation.ts'
import { ROUTES } from './operations.ts'

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
export function managementRoutes(services: ManagementServices, rows: readonly Route[] = ROUTES, prefix = BASE): Router {
  const router = new Router({ strict: true, sensitive: true, prefix })
  const addressOf = clientAddress(services.trustedProxies ?? [])
  for (const row of rows) {
    const run = runner(row, services, addressOf)
    const guarded = boundary(row, services, run)
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
function boundary({ method, path }: Route, { log, urls }: ManagementServices, run: Run): Run {
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
  return new GatewayError(isUnavailable(thrown) ? 'storage_unavailable' : 'internal_error', { cause: thrown })
}

/** What every request of a row passes, in this order: where it comes from, who sent it, whether they may, and whether it is well made. */
function runner(row: Route, services: ManagementServices, addressOf: AddressOf): Run {
  const checkQuery = compileQuery(row.query ?? NOTHING)
  const checkBody = compileBody(row.body ?? NOTHING)
  return async function run(ctx) {
    const address = addressOf(ctx.req)
    if (row.method !== 'GET') checkOrigin(ctx.req, services.urls().people)
    const caller = row.role === 'nobody' ? undefined : await callerOf(ctx, services, address)
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
    const answer = await row.handle(asked as never, services)
    if (answer instanceof Readable)
      watchStream(answer, ctx.res, {
        mayRead: async () => caller === undefined || isStillIn(ctx, services, caller),
        onError: (err) => services.log.error({ id: ctx.state.id, route: `${row.method} ${row.path}`, err }, 'reply broken off'),
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

/** Holds what a client sent against its row's schema. Throws the 400 that names the field. */
export type FieldCheck = (fields: Record<string, unknown>) => void

const FORMATS = {
  'date-time': (text: string) => instant(text) !== undefined,
  email: EMAIL,
}

const BODIES = new Ajv({ strict: false, verbose: true, formats: FORMATS })
const QUERIES = new Ajv({ strict: false, verbose: true, formats: FORMATS, coerceTypes: true })

/** Compiles the check of a body. It is closed, unless its schema says otherwise: what is not named there is refused. */
export const compileBody = (schema: TObject): FieldCheck => compile(BODIES, schema)

/** Compiles the check of a query: closed too, and texts become the numbers and booleans that they spell. */
export const compileQuery = (schema: TObject): FieldCheck => compile(QUERIES, schema)

function compile(ajv: Ajv, schema: TObject): FieldCheck {
  let validate: ValidateFunction | undefined
  return function check(fields) {
    // All of them at the start would cost it a tenth of a second, and most are never needed.
    validate ??= ajv.compile({ additionalProperties: false, ...schema })
    if (!validate(fields)) throw refusal(validate.errors![0]!)
  }
}

function refusal(error: ErrorObject): GatewayError {
  if (error.keyword !== 'additionalProperties') return explain(error)
  return new GatewayError('unknown_parameter', { param: String(error.params.additionalProperty) })
}

/** Tells where a request comes from. */
export type AddressOf = (request: IncomingMessage) => string

/**
 * The address of the connection; where that is a proxy of the operator's, the last one in `X-Forwarded-For` that is none. What stands
 * before it the client may have written itself. `trusted`: addresses and networks (`10.0.0.0/8`).
 */
export function clientAddress(trusted: readonly string[]): AddressOf {
  const proxies = new BlockList()
  for (const network of trusted) {
    const [address = '', bits] = network.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    proxies.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family)
  }
  const isProxy = (address: string): boolean => proxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
  return function addressOf({ socket, headers }) {
    const way = `${headers['x-forwarded-for'] ?? ''},${socket.remoteAddress}`.split(',').map(plain).filter(Boolean)
    return way.findLast((address) => !isProxy(address)) ?? way[0] ?? ''
  }
}

/** Without the blanks around it, and an IPv4 address in its own form where a socket of IPv6 gave it. */
const plain = (address: string): string => address.trim().replace(/^::ffff:(?=\d+\.)/, '')

/**
 * Refuses a change that another site's page asks a browser for, with the cookies of whoever sits before it. Browsers say where a
 * request comes from by `Sec-Fetch-Site`, and over plain HTTP by `Origin`; a page can neither forge nor withhold them. `own`: the
 * console's origin, for a proxy that calls us by another name. Throws `foreign_origin`.
 */
export function checkOrigin({ headers }: IncomingMessage, own: string): void {
  const { authorization, cookie, origin, 'sec-fetch-site': site } = headers
  // No page can send a header of its own to another site unless that agrees, which we never do. Beside an empty one the cookie counts.
  if (authorization !== undefined && authorization !== '') return
  if (site !== undefined ? site === 'same-origin' : isOurs(origin, headers.host, own)) return
  // Neither of the two: it is no browser, and nobody's cookie is used behind their back.
  if (site === undefined && origin === undefined && cookie === undefined) return
  throw new GatewayError('foreign_origin')
}

/** Behind TLS browsers say more than the origin: only where there is none, the name that we were called by counts. */
function isOurs(origin: string | undefined, host: string | undefined, own: string): boolean {
  return origin === own || (own.startsWith('http:') && origin === `http://${host}`)
}
