import { json, openaiReply, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../../support/gateway.ts'

/** Tokens of each reply of the upstream. */
const USAGE = { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 }
const REPLY = openaiReply({ text: 'Hello!', usage: USAGE })

/** An upstream whose models have prices, and a routes.yaml for it. */
export interface PricedUpstream {
  readonly upstream: ScriptedUpstream
  /**
   * `up/call`: 0.25 USD a call. `up/token` and `up/prompt`: 0.001 USD for each token of the
   * answer, or of the prompt. `up/free`, and `up/unknown` without a price.
   */
  routes(more?: Readonly<Record<string, unknown>>): Record<string, unknown>
  close(): Promise<void>
}

export async function pricedUpstream(): Promise<PricedUpstream> {
  const upstream = await scriptedUpstream()
  upstream.on((request) => ((request.json() as { stream?: boolean }).stream ? sse(REPLY.stream) : json(REPLY.whole)))
  return {
    upstream,
    routes: ({ prices = {}, ...more } = {}) => ({
      chain: [{ plugin: 'auth' }],
      namespaces: {
        sandbox: { provider: 'sandbox' },
        up: { provider: 'openai-compatible', breaker: false, config: { baseUrl: `${upstream.origin}/v1` } },
        acme: { models: { either: { targets: [{ model: 'up/free' }], fallbacks: ['up/call'] } } },
      },
      prices: {
        models: {
          'up/call': { input: 0, output: 0, request: 0.25 },
          'up/token': { input: 0, output: 1000 },
          'up/prompt': { input: 1000, output: 0 },
          'up/free': { free: true },
        },
        ...(prices as object),
      },
      ...more,
    }),
    close: () => upstream.close(),
  }
}

/** Starts a gateway, and sends calls to it. */
export async function startBudgetGateway(options: TestGatewayOptions): Promise<BudgetGateway> {
  const gateway = await startTestGateway(options)
  const ask: BudgetGateway['ask'] = (key, { signal, ...body } = {}) =>
    gateway.fetch('/v1/chat/completions', {
      key,
      json: { model: 'up/call', messages: [{ role: 'user', content: 'Hi.' }], ...body },
      ...(signal && { signal }),
    })
  return {
    gateway,
    ask,
    async statuses(key, count, body) {
      const statuses: number[] = []
      for (let call = 0; call < count; call++) {
        const reply = await ask(key, body)
        await reply.text()
        statuses.push(reply.status)
      }
      return statuses
    },
  }
}

export interface BudgetGateway {
  readonly gateway: TestGateway
  /** Calls `up/call`, unless the body says otherwise. */
  ask(key: string, body?: Readonly<Record<string, unknown>> & { readonly signal?: AbortSignal }): Promise<Response>
  /** The statuses of calls, one after the other. */
  statuses(key: string, count: number, body?: Readonly<Record<string, unknown>>): Promise<readonly number[]>
}
