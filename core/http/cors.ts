import type { Context, Middleware, Next } from 'koa'

/** Where browsers may call the gateway from other origins. The console and the management API are for their own origin only. */
const PATHS = /^\/v1(?:\/|$)/

/** Seconds for which a browser remembers the answer to a preflight request. */
const MAX_AGE = 600

/** Headers of replies that pages may read. `*` stands for those that links add; older browsers do not know it. */
const EXPOSED = [
  'request-id',
  'retry-after',
  'x-ratelimit-limit-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-requests',
  'x-ratelimit-reset-tokens',
  'x-request-id',
  'x-should-retry',
  'x-umg-params-dropped',
  '*',
].join(', ')

/**
 * The middleware that lets pages of these origins call `/v1` (Fetch standard, "HTTP extensions"); none without origins. Requests of other
 * origins are served as before, but a browser does not show the reply to the page. Cookies are never allowed: a key is a header.
 */
export function crossOrigin(origins: readonly string[] = []): readonly Middleware[] {
  if (origins.length === 0) return []
  const allowed = new Set(origins)
  return [
    (ctx: Context, next: Next) => {
      if (!PATHS.test(ctx.path)) return next()
      ctx.vary('Origin')
      const origin = ctx.get('origin')
      if (!allowed.has(origin)) return next()
      ctx.set('access-control-allow-origin', origin)
      if (ctx.method === 'OPTIONS' && ctx.get('access-control-request-method') !== '') return allowRequest(ctx)
      ctx.set('access-control-expose-headers', EXPOSED)
      return next()
    },
  ]
}

/** Answers a preflight request: it has no key, so it must not reach the chain. SDKs send many headers, and more with each version. */
async function allowRequest(ctx: Context): Promise<void> {
  ctx.vary('Access-Control-Request-Headers')
  ctx.set('access-control-allow-methods', 'GET, POST')
  const headers = ctx.get('access-control-request-headers')
  if (headers !== '') ctx.set('access-control-allow-headers', headers)
  ctx.set('access-control-max-age', String(MAX_AGE))
  ctx.status = 204
}
