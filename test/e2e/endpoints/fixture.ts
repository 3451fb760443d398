import { type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import type { CallView } from '../../../core/usage/calls.ts'
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../../support/gateway.ts'
import { poll } from '../../support/poll.ts'
import { type ApiClient, adminClient } from '../usage/api-client.ts'

/** A gateway before one upstream with OpenAI's API, at `/v1` and `/v2`. */
export interface Fixture {
  readonly gateway: TestGateway
  readonly upstream: ScriptedUpstream
  /** The row of a call, once it is written. */
  row(id: string | null | undefined): Promise<CallView>
  stop(): Promise<void>
}

/** Changes to the default gateway. */
export interface FixtureOptions extends Pick<TestGatewayOptions, 'files' | 'times' | 'admission'> {
  /** Links after `auth`. */
  readonly chain?: readonly object[]
  /** Settings of both namespaces. */
  readonly namespace?: object
}

/** Starts them: `acme/m` is `open/m` at `/v1`, and if that fails `second/m` at `/v2`. A token costs a dollar per million, each answer's two. */
export async function startFixture({ chain = [], namespace, ...options }: FixtureOptions = {}): Promise<Fixture> {
  await using opened = new AsyncDisposableStack()
  const upstream = opened.adopt(await scriptedUpstream(), (all) => all.close())
  const at = (path: string) => ({
    provider: 'openai-compatible',
    breaker: false,
    config: { baseUrl: `${upstream.origin}${path}` },
    ...namespace,
  })
  const gateway = await startTestGateway({
    ...options,
    routes: {
      chain: [{ plugin: 'auth' }, ...chain],
      namespaces: {
        open: at('/v1'),
        second: at('/v2'),
        acme: { models: { m: { targets: [{ model: 'open/m' }], fallbacks: ['second/m'] } } },
      },
      prices: { models: { '*': { input: 1, output: 2 } } },
    },
  })
  opened.defer(() => gateway.stop())
  const admin: ApiClient = await adminClient(gateway)
  const all = opened.move()
  return {
    gateway,
    upstream,
    async row(id) {
      const found = await poll(
        () => admin.get(`/requests/${id}`),
        ({ status }) => status === 200,
      )
      return found.json
    },
    stop: () => all.disposeAsync(),
  }
}
