// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import Anthropic from '@anthropic-ai/sdk'
import { type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../../support/gateway.ts'

/** A gateway with an upstream for each kind of provider, and Anthropic's SDK. */
export interface Fixture {
  readonly gateway: TestGateway
  /** Anthropic itself. */
  readonly claude: ScriptedUpstream
  /** An upstream that speaks OpenAI's protocol. */
  readonly open: ScriptedUpstream
  /** Gemini's own API. */
  readonly gemini: ScriptedUpstream
  /** Anthropic's SDK, without retries. */
  readonly client: Anthropic
  stop(): Promise<void>
}

/** Further parts of the gateway. */
export interface FixtureOptions extends Pick<TestGatewayOptions, 'files' | 'times'> {
  /** Links after `auth`. */
  readonly chain?: readonly object[]
  readonly namespaces?: (upstreams: Pick<Fixture, 'open' | 'claude'>) => object
}

/** Starts the gateway and its upstreams. */
export async function startFixture({ chain = [], namespaces, ...options }: FixtureOptions = {}): Promise<Fixture> {
  await using opened = new AsyncDisposableStack()
  const start = async () => opened.adopt(await scriptedUpstream(), (upstream) => upstream.close())
  const [claude, open, gemini] = [await start(), await start(), await start()]
  const gateway = await startTestGateway({
    ...options,
    env: { KEY: 'sk-ant-upstream' },
    routes: {
      chain: [{ plugin: 'auth' }, ...chain],
      namespaces: {
        claude: { provider: 'anthropic', breaker: false, config: { baseUrl: claude.origin, apiKey: '${env:KEY}' } },
        open: {
          provider: 'openai-compatible',
          breaker: false,
          config: { baseUrl: `${open.origin}/v1`, apiKey: '${env:KEY}', facts: OPEN_FACTS },
        },
        gemini: { provider: 'gemini', breaker: false, config: { baseUrl: gemini.origin, apiKey: '${env:KEY}' } },
        ...namespaces?.({ open, claude }),
      },
    },
  })
  opened.defer(() => gateway.stop())
  const all = opened.move()
  const client = new Anthropic({ baseURL: gateway.url, apiKey: gateway.liveKey, maxRetries: 0 })
  return { gateway, claude, open, gemini, client, stop: () => all.disposeAsync() }
}

/** What the models of `open` take. */
const OPEN_FACTS = { gpt: { efforts: ['low', 'medium', 'high'] }, 'claude-*': { cacheControl: true } }

/** A minimal request. */
export const ASKED = { max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hello' }] }

/** One event of the Messages API. */
export const named = (event: { readonly type: string; readonly [member: string]: unknown }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
