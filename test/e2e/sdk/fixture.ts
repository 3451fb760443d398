// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../../support/gateway.ts'
import { type RawReply, rawHttp } from '../../support/raw-http.ts'
import { anthropic } from './anthropic-dialect.ts'
import type { Dialect } from './dialect.ts'
import { openai } from './openai-dialect.ts'

/** Both ways in which the gateway handles replies, with the same results for clients. */
export const DIALECTS: readonly Dialect[] = [openai, anthropic]

/** Off: upstreams of these tests fail repeatedly. */
const breaker = false

/** A gateway with a namespace and an upstream for each dialect. */
export interface Fixture {
  readonly gateway: TestGateway
  upstream(dialect: Dialect): ScriptedUpstream
  /** Sends a chat completion request without the SDK, with the live key. */
  post(body: object | string | Buffer, headers?: Readonly<Record<string, string>>): Promise<RawReply>
  stop(): Promise<void>
}

/** Changes to the default gateway. */
export interface FixtureOptions extends Pick<TestGatewayOptions, 'database' | 'files' | 'times'> {
  /** Links after `auth`. */
  readonly chain?: readonly object[]
  /** Settings of both namespaces: `timeouts`, `models`. */
  readonly namespace?: object
  /** Further namespaces. */
  readonly others?: object
}

/** Starts the gateway and both upstreams. */
export async function startFixture({ chain = [], namespace, others, ...options }: FixtureOptions = {}): Promise<Fixture> {
  await using opened = new AsyncDisposableStack()
  const open = opened.adopt(await scriptedUpstream(), (all) => all.close())
  const claude = opened.adopt(await scriptedUpstream(), (all) => all.close())
  const gateway = await startTestGateway({
    ...options,
    env: { OPEN_KEY: openai.apiKey, CLAUDE_KEY: anthropic.apiKey },
    routes: {
      chain: [{ plugin: 'auth' }, ...chain],
      namespaces: {
        open: {
          provider: 'openai-compatible',
          breaker,
          config: { baseUrl: `${open.origin}/v1`, apiKey: '${env:OPEN_KEY}' },
          ...namespace,
        },
        claude: {
          provider: 'anthropic',
          breaker,
          config: { baseUrl: claude.origin, apiKey: '${env:CLAUDE_KEY}' },
          ...namespace,
        },
        ...others,
      },
    },
  })
  opened.defer(() => gateway.stop())
  const all = opened.move()
  return {
    gateway,
    upstream: (dialect) => ({ open, claude })[dialect.namespace],
    post(body, headers) {
      const own = { authorization: `Bearer ${gateway.liveKey}`, 'content-type': 'application/json' }
      return rawHttp(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { ...own, ...headers },
        body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      })
    },
    stop: () => all.disposeAsync(),
  }
}
