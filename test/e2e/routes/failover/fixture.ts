// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { type ScriptedUpstream, scriptedUpstream } from '../../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../../../support/gateway.ts'
import { anthropic } from '../../sdk/anthropic-dialect.ts'
import type { Dialect } from '../../sdk/dialect.ts'
import { DIALECTS } from '../../sdk/fixture.ts'
import { openai } from '../../sdk/openai-dialect.ts'

/** A gateway with curated models of two targets each, at two upstreams that both speak either dialect. */
export interface FailoverFixture {
  readonly gateway: TestGateway
  readonly first: ScriptedUpstream
  readonly second: ScriptedUpstream
  stop(): Promise<void>
}

/** Settings of the gateway. */
export interface FailoverOptions extends Pick<TestGatewayOptions, 'times' | 'files'> {
  /** The number of curated models for each dialect of the first target. Each has its own targets, whose health no other call affects. */
  readonly models?: number
  /** Settings of the curated models besides their targets. */
  readonly route?: object
  /** Settings of the first upstream's namespaces. */
  readonly firstNamespace?: object
  /** Settings of both upstreams' namespaces. */
  readonly namespace?: object
  /** Further namespaces. */
  readonly others?: (origins: { readonly first: string; readonly second: string }) => object
}

/** The dialect of a model's second target if the first uses this one. */
export const otherThan = (dialect: Dialect): Dialect => DIALECTS.find((each) => each !== dialect)!

/** The namespace of a dialect's curated model, by its number; the model is the dialect's own. */
export const curated = ({ namespace }: Dialect, number = 0): string => `${namespace}-${number}`

/** The model ids of its two targets. */
export const targetsOf = (dialect: Dialect, number = 0) => ({
  first: `${dialect.namespace}-first/m${number}`,
  second: `${otherThan(dialect).namespace}-second/m${number}`,
})

/** Starts the gateway and both upstreams, which reply by `on` and `reply`. */
export async function startFailover(options: FailoverOptions = {}): Promise<FailoverFixture> {
  const { models = 1, route, namespace, firstNamespace, others, ...rest } = options
  await using opened = new AsyncDisposableStack()
  const first = opened.adopt(await scriptedUpstream(), (all) => all.close())
  const second = opened.adopt(await scriptedUpstream(), (all) => all.close())
  const origins = { first: first.origin, second: second.origin }
  const gateway = await startTestGateway({
    ...rest,
    env: { OPEN_KEY: openai.apiKey, CLAUDE_KEY: anthropic.apiKey },
    routes: {
      chain: [{ plugin: 'auth' }, { plugin: 'header-stamping' }],
      namespaces: {
        ...upstreamNamespaces('first', first.origin, { ...namespace, ...firstNamespace }),
        ...upstreamNamespaces('second', second.origin, namespace),
        ...Object.fromEntries(DIALECTS.flatMap((dialect) => curatedNamespaces(dialect, models, route))),
        ...others?.(origins),
      },
    },
  })
  opened.defer(() => gateway.stop())
  const all = opened.move()
  return { gateway, first, second, stop: () => all.disposeAsync() }
}

const upstreamNamespaces = (position: string, origin: string, more?: object) => ({
  [`open-${position}`]: {
    provider: 'openai-compatible',
    config: { baseUrl: `${origin}/v1`, apiKey: '${env:OPEN_KEY}' },
    ...more,
  },
  [`claude-${position}`]: { provider: 'anthropic', config: { baseUrl: origin, apiKey: '${env:CLAUDE_KEY}' }, ...more },
})

const curatedNamespaces = (dialect: Dialect, count: number, route?: object) =>
  Array.from({ length: count }, (_, number) => {
    const { first, second } = targetsOf(dialect, number)
    return [
      curated(dialect, number),
      { models: { [dialect.model]: { targets: [{ model: first }], fallbacks: [second], ...route } } },
    ]
  })
