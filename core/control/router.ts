import { Router } from '@koa/router'
import type { Context } from 'koa'
import { GatewayError } from '../errors.ts'
import { STRICT_TRANSPORT } from '../http/tls.ts'
import { AccessTrail, type Request } from './access-trail.ts'
import { authenticate, type Caller, checkConfirmed, isStillAuthenticated } from './caller.ts'
import { OpenStreams } from './open-streams.ts'
import { API_BASE, type Operation } from './operation.ts'
import { OPERATIONS } from './operations.ts'
import { type ClientAddress, checkOrigin, clientAddress } from './origin.ts'
import { sendResult, toGatewayError } from './reply.ts'
import type { ManagementServices } from './services.ts'
import { bodyReader, queryReader } from './validation.ts'

/** On every reply: API replies must not be rendered or framed. */
const HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
}

/** Creates the router of operations: by default the whole management API. */
export function managementRouter(
  services: ManagementServices,
  operations: readonly Operation[] = OPERATIONS,
  prefix = API_BASE,
): Router {
  const router = new Router({ strict: true, sensitive: true, prefix })
  const addressOf = clientAddress(services.trustedProxies ?? [])
  const checks = { addressOf, trail: new AccessTrail(services), streams: new OpenStreams() }
  for (const operation of operations) {
    const middleware = errorBoundary(operation, services, operationHandler(operation, services, checks))
    router.register(operation.path.replace(/\{(\w+)\}/g, ':$1'), [operation.method], [middleware as never])
  }
  return router
}

type Handler = (ctx: Context) => Promise<void>

/**
 * Converts what a handler throws to a reply. The error boundary of calls is not used, since it counts metrics and usage. Only errors of
 * the gateway are logged; what users do is in the audit trail.
 */
function errorBoundary({ method, path }: Operation, { log, urls }: ManagementServices, handler: Handler): Handler {
  return async function errorBoundary(ctx) {
    ctx.set(HEADERS)
    if (urls().people.startsWith('https:')) ctx.set(...STRICT_TRANSPORT)
    try {
      await handler(ctx)
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

/** What all operations share. */
interface Checks {
  readonly addressOf: ClientAddress
  readonly trail: AccessTrail
  readonly streams: OpenStreams
}

/** Checks the origin, authenticates, authorizes and validates, in this order; then runs the operation and sends its result. */
function operationHandler(operation: Operation, services: ManagementServices, { addressOf, trail, streams }: Checks): Handler {
  const { method, path, access } = operation
  const readQuery = queryReader(operation.query)
  const readBody = bodyReader(operation.body)
  return async function handle(ctx) {
    const address = addressOf(ctx.req)
    const request: Request = { operation, params: ctx.params, address, hasKey: ctx.get('authorization') !== '' }
    let caller: Caller | undefined
    try {
      if (method !== 'GET') checkOrigin(ctx.req, services.urls().people)
      caller = access === 'public' ? undefined : await authenticate(ctx, services, address)
      if (access === 'admin' && caller?.role !== 'admin') throw new GatewayError('admin_required')
      await run(ctx, caller, request)
    } catch (error) {
      if (error instanceof GatewayError) await trail.refused(error, caller, request)
      throw error
    }
  }

  async function run(ctx: Context, caller: Caller | undefined, request: Request): Promise<void> {
    if (operation.confirmed && caller !== undefined) checkConfirmed(caller)
    const query = readQuery(ctx)
    const context = {
      caller,
      params: ctx.params,
      query,
      body: method === 'GET' ? {} : await readBody(ctx),
      address: request.address,
      url: ctx.url,
      cookie: (name: string) => ctx.cookies.get(name),
      setHeader: (name: string, value: string) => ctx.append(name, value),
      signal: ctx.state.signal,
    }
    if (operation.streams !== undefined) ctx.res.once('close', streams.open(caller?.id ?? request.address))
    if (caller !== undefined && operation.records === 'data.export') await trail.exported(caller, query, request)
    if (caller !== undefined && operation.records === 'data.read') trail.read(caller, request)
    const result = await operation.handle(context as never, services)
    sendResult(ctx, operation, result, {
      isStillAuthenticated: async () => caller === undefined || isStillAuthenticated(ctx, services, caller),
      onError: (err) => services.log.error({ id: ctx.state.id, route: `${method} ${path}`, err }, 'reply aborted'),
    })
  }
}
