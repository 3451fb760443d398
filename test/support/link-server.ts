import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Ajv } from 'ajv'
import Koa from 'koa'
import { type CallState, type ChainPlugin, GatewayError, type Host } from 'unified-model-gateway/plugin'
import { type FakeState, type FakeStateOptions, fakeState } from './fake-state.ts'

/** An HTTP server with one link in front of the test's handler. */
export interface LinkServer {
  call(options?: LinkCall): Promise<LinkReply>
  close(): Promise<void>
}

export interface LinkCall {
  readonly state?: FakeStateOptions
  readonly headers?: Readonly<Record<string, string>>
  /** The handler after the link. Default: an empty 200. */
  readonly inner?: (state: CallState) => unknown
}

export interface LinkReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly error?: { readonly message: string; readonly type: string; readonly code: string | null }
  readonly state: FakeState
}

/** Validates the configuration as the gateway does, creates the link and serves it. Throws the error of either. */
export async function serveLink(plugin: ChainPlugin, config: unknown, host: Host): Promise<LinkServer> {
  const ajv = new Ajv({ strict: true, keywords: ['declares', 'refersTo', 'secret'] })
  if (!ajv.validate(plugin.schema, config)) throw new Error(ajv.errorsText())
  const link = await plugin.create(config as never, host)

  const calls = new Map<string, { readonly state: FakeState; readonly inner: NonNullable<LinkCall['inner']> }>()
  const app = new Koa<CallState>()
  app.use(async (ctx, next) => {
    ctx.state = calls.get(ctx.path)!.state
    await next().catch((error: unknown) => {
      if (!(error instanceof GatewayError)) throw error
      ctx.status = error.status
      ctx.set(error.headers)
      ctx.body = error.toJSON()
    })
  })
  app.use(link.handle)
  app.use(async (ctx) => {
    ctx.status = 200
    await calls.get(ctx.path)!.inner(ctx.state)
  })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    async call({ state: options, headers = {}, inner = () => undefined } = {}) {
      const path = `/${calls.size}`
      const state = fakeState(options)
      calls.set(path, { state, inner })
      const reply = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close', ...headers } })
      const text = await reply.text()
      const { error } = text.startsWith('{') ? JSON.parse(text) : {}
      return { status: reply.status, headers: Object.fromEntries(reply.headers), error, state }
    },
    async close() {
      server.close()
      await once(server, 'close')
      await link.close?.()
    },
  }
}
