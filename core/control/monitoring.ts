import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { Router } from '@koa/router'
import { GatewayError } from '../errors.ts'
import { isLoopback } from '../http/listen.ts'
import type { RenderedMetrics } from '../observe/metrics.ts'
import type { TargetReport } from '../routing/upstream-state.ts'
import type { Secret } from '../sdk/api.ts'
import { clientAddress } from './origin.ts'
import type { Urls } from './services.ts'

/** What the monitoring endpoints report. */
export interface MonitoringServices {
  readonly metrics: { render(): Promise<RenderedMetrics> }
  /** Required by `/metrics`, if set. */
  readonly metricsToken: Secret | undefined
  /** Its public origins. */
  urls(): Urls
  /** The state of all targets. */
  targets(): Promise<readonly TargetReport[]>
}

/** Why load balancers should send calls elsewhere. */
const REASONS = {
  draining: 'The gateway was told to end. It serves the calls that it has.',
  'keys lost':
    'No key can be checked: the database, or the process that has it, did not answer for five minutes. Start it again.',
} as const

/** Why the gateway is not ready; undefined if it is. */
export type Unready = () => keyof typeof REASONS | undefined

/** Creates the router of `/livez` and `/readyz`. */
export function healthRouter(unready: Unready): Router {
  const router = new Router({ strict: true, sensitive: true })
  router.get('/livez', (ctx) => {
    ctx.body = 'ok\n'
  })
  router.get('/readyz', (ctx, next) => {
    const reason = unready()
    const isVerbose = 'verbose' in ctx.query
    ctx.status = reason === undefined ? 200 : 503
    ctx.body = `${reason ?? 'ready'}\n`
    if (reason === undefined) return isVerbose ? next() : undefined
    if (isVerbose) ctx.body += `[-] ${reason}: ${REASONS[reason]}\n`
    return undefined
  })
  return router
}

/** Creates the router of `/readyz?verbose`, while the gateway is ready, and `/metrics`. Without a token, every client that can reach them is served. */
export function monitoringRouter({ metrics, metricsToken, urls, targets }: MonitoringServices): Router {
  const addressOf = clientAddress([])
  const check = (request: IncomingMessage): void => {
    const { host = '', authorization = '' } = request.headers
    if (metricsToken === undefined) checkHost(host, addressOf(request), urls())
    else if (!bears(authorization, metricsToken)) throw new GatewayError('metrics_token_required')
  }
  const router = new Router({ strict: true, sensitive: true })
  router.get('/readyz', async (ctx) => {
    check(ctx.req)
    ctx.body = `ready\n${(await targets()).map(targetLine).join('')}`
  })
  router.get('/metrics', async (ctx) => {
    check(ctx.req)
    const { contentType, text } = await metrics.render()
    ctx.set('content-type', contentType)
    ctx.body = text
  })
  return router
}

const WAITING = { coolingDown: 'cooling down for', open: 'next attempt in' } as const

/** `[+] openai/gpt-5.5: closed, 3 under way, 120 ms to the first byte`, in the format of Kubernetes' `/readyz?verbose`. */
function targetLine({
  namespace,
  model,
  breaker,
  availability,
  availableInMs,
  busy,
  latency,
  credentials,
}: TargetReport): string {
  const facts = [
    breaker,
    ...(availability === 'available' ? [] : [`${WAITING[availability]} ${Math.ceil(availableInMs / 1000)} s`]),
    `${busy} under way`,
    ...(latency === 0 ? [] : [`${Math.round(latency)} ms to the first byte`]),
    ...credentials
      .filter(({ cooldownMs }) => cooldownMs > 0)
      .map(({ name, cooldownMs }) => `credential ${name} cooling down for ${Math.ceil(cooldownMs / 1000)} s`),
  ]
  return `[${availability === 'available' ? '+' : '-'}] ${namespace}/${model}: ${facts.join(', ')}\n`
}

/**
 * Refuses a request of this machine by a name that is not its own: a page whose site gives its name the address 127.0.0.1 could read the
 * reply (DNS rebinding). Throws `foreign_host`.
 */
function checkHost(host: string, client: string, urls: Urls): void {
  const name = host.replace(/:\d*$/, '')
  if (!isLoopback(client) || name === '' || isIP(name.replace(/^\[|\]$/g, '')) !== 0 || /(?:^|\.)localhost$/i.test(name)) return
  if ([urls.clients, urls.people].some((url) => URL.parse(url)?.hostname === name.toLowerCase())) return
  throw new GatewayError('foreign_host', { values: { host: name } })
}

function bears(authorization: string, token: Secret): boolean {
  const given = Buffer.from(authorization)
  const wanted = Buffer.from(`Bearer ${token.reveal()}`)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
