import { randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import { expect } from 'chai'
import { ERRORS, type ErrorName } from '../../../core/error-table.ts'
import { GatewayError } from '../../../core/errors.ts'
import { CallMetrics } from '../../../core/observe/call-metrics.ts'
import { METRICS } from '../../../core/observe/metric-definitions.ts'
import { Metrics } from '../../../core/observe/metrics.ts'
import type { Outcome, OutcomeKind } from '../../../core/sdk/api.ts'
import { scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway } from '../../support/gateway.ts'
import { hello } from '../plugins/openai-wire.ts'

/** The prefix of every name that a client makes up, so that the test finds it in the metrics. */
const MADE_UP = 'madeup'

const random = () => `${MADE_UP}${randomBytes(6).toString('hex')}`
const oneOf = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)]!

/** The number of series of each metric of the gateway. */
function seriesByMetric(text: string): Map<string, number> {
  const series = new Map<string, number>()
  for (const line of text.split('\n')) {
    const name = /^((?:umg|gen_ai)_\w+?)(?:_count)?(?:\{| )/.exec(line)?.[1]
    if (name !== undefined && !/_(?:bucket|sum)$/.test(name)) series.set(name, (series.get(name) ?? 0) + 1)
  }
  return series
}

describe('names that clients make up', () => {
  it('do not become series, for any kind of name', async () => {
    const upstream = await scriptedUpstream()
    upstream.on(hello)
    const up = { provider: 'openai-compatible', config: { baseUrl: `${upstream.origin}/v1` } }
    const gateway = await startTestGateway({
      routes: { chain: [{ plugin: 'auth' }], namespaces: { up: { ...up, models: ['gpt-*'] }, open: up } },
    })
    const agent = new Agent({ keepAlive: true, maxSockets: 16 })

    const ask = (path: string, { model, key }: { readonly model?: string; readonly key?: string } = {}) =>
      new Promise<void>((resolve, reject) => {
        const headers = {
          authorization: `Bearer ${key ?? gateway.liveKey}`,
          'content-type': 'application/json',
          'x-request-id': random(),
          'user-agent': random(),
        }
        const sent = request(gateway.url + path, { agent, method: model === undefined ? 'GET' : 'POST', headers }, (reply) => {
          reply.resume().once('end', resolve)
        })
        sent.once('error', reject)
        sent.end(model && JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi', name: random() }], user: random() }))
      })

    const chat = '/v1/chat/completions'
    const kinds = [
      () => ask(`/${random()}`),
      () => ask(`/v1/models/up/${random()}`),
      () => ask(chat, { model: random() }),
      () => ask(chat, { model: `${random()}/gpt` }),
      () => ask(chat, { model: `up/${random()}` }),
      () => ask(chat, { model: `up/gpt-${random()}`, key: `sk-live-${random()}` }),
      () => ask(chat, { model: `open/${random()}`, key: gateway.testKey }),
    ]
    /** Each kind so many times. */
    const storm = (times: number) => Promise.all(Array.from({ length: times }, () => kinds.map((one) => one())).flat())

    try {
      await storm(2)
      const before = seriesByMetric(await gateway.metrics())
      await storm(100)
      const text = await gateway.metrics()
      expect(text).to.not.contain(MADE_UP)
      expect(seriesByMetric(text)).to.deep.equal(before)
      expect(await gateway.metric('umg_requests_total')).to.equal(102 * kinds.length)
    } finally {
      agent.destroy()
      await gateway.stop()
      await upstream.close()
    }
  })

  it('that upstreams accept become series up to a limit', async () => {
    const metrics = new Metrics()
    const calls = new CallMetrics(metrics, metrics.declare(METRICS.shed))
    calls.declare(
      new Map([
        ['up', ['gpt']],
        ['open', []],
      ]),
    )
    for (let i = 0; i < 20_000; i++) {
      const outcome = anyOutcome()
      calls.started(outcome.model!.namespace)()
      calls.settled(outcome)
    }
    const series = seriesByMetric((await metrics.render()).text)
    expect(series.get('umg_requests_total')).to.be.greaterThan(200)
    for (const [name, count] of series) expect(count, name).to.be.at.most(1001)
    expect(series.get('umg_requests_in_flight')).to.equal(3)
  })
})

const KINDS: readonly OutcomeKind[] = [
  'ok',
  'client_error',
  'rate_limited',
  'upstream_error',
  'timeout',
  'client_closed',
  'gateway_error',
]
const ROWS = Object.keys(ERRORS) as ErrorName[]

/** A random outcome with made-up names. */
function anyOutcome(): Outcome {
  const model = oneOf(['gpt', random()])
  const namespace = oneOf(['up', 'open', random()])
  const served = { namespace: oneOf(['up', 'open']), model: oneOf([model, random()]), provider: 'openai-compatible' }
  const tokens = Math.floor(Math.random() * 1e6)
  return {
    kind: oneOf(KINDS),
    status: 200 + Math.floor(Math.random() * 400),
    error: new GatewayError(oneOf(ROWS)),
    endpoint: oneOf(['chat.completions', 'models'] as const),
    model: { id: `${namespace}/${model}`, namespace, model },
    stream: Math.random() < 0.5,
    served,
    attempts: [{ ...served, result: oneOf(['ok', ...ROWS]), start: 1, ms: Math.random() * 1e6 }],
    links: [{ name: random(), ms: Math.random() }],
    usage: { prompt_tokens: tokens, completion_tokens: tokens, total_tokens: 2 * tokens },
    usageEstimated: Math.random() < 0.5,
    times: { total: Math.random() * 1e6, firstByte: Math.random() * 1000, overhead: Math.random() * 100 },
  }
}
