import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { Middleware } from 'koa'
import { GatewayError } from '../errors.ts'

/** Headers of one connection only (RFC 9110 §7.6.1). */
const HOP_BY_HOP = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Forwards requests for paths outside of `/v1` to the HTTP server of another process, at the Unix socket `path`. Throws
 * `service_unavailable` if it cannot be reached. The client's address is appended to `X-Forwarded-For`.
 */
export function forwardTo(path: string): Middleware {
  const agent = new Agent({ keepAlive: true })
  return async (ctx, next) => {
    if (ctx.path.startsWith('/v1/')) return next()
    const reply = await send(ctx.req, ctx.res, path, agent)
    ctx.respond = false
    ctx.res.writeHead(reply.statusCode!, withoutHops(reply.rawHeaders))
    // Before the first event of a live view.
    ctx.res.flushHeaders()
    reply.pipe(ctx.res)
    reply.on('error', () => ctx.res.destroy())
  }
}

function send(incoming: IncomingMessage, response: ServerResponse, socketPath: string, agent: Agent): Promise<IncomingMessage> {
  const { method, url: path, headers, rawHeaders, socket } = incoming
  const forwarded = headers['x-forwarded-for']
  const from = socket.remoteAddress ?? ''
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, agent, method, path, setHost: false })
    for (const [name, values] of grouped(withoutHops(rawHeaders))) outgoing.setHeader(name, values)
    outgoing.setHeader('x-forwarded-for', forwarded === undefined ? from : `${forwarded}, ${from}`)
    outgoing.once('response', resolve)
    outgoing.on('error', (cause) => reject(new GatewayError('service_unavailable', { headers: { 'retry-after': '1' }, cause })))
    response.once('close', () => outgoing.destroy())
    if (headers.expect !== undefined) response.writeContinue()
    incoming.pipe(outgoing)
  })
}

/** Names and values, alternating, without those of the connection. */
function withoutHops(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, index) => !HOP_BY_HOP.has(rawHeaders[index - (index % 2)]!.toLowerCase()))
}

function grouped(rawHeaders: readonly string[]): ReadonlyMap<string, string[]> {
  const groups = new Map<string, string[]>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase()
    groups.set(name, [...(groups.get(name) ?? []), rawHeaders[index + 1]!])
  }
  return groups
}
