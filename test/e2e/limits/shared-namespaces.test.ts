import { expect } from 'chai'
import { stringify } from 'yaml'
import { createSecret } from '../../../core/keys/format.ts'
import { hold, json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { until } from '../../support/poll.ts'
import { startRedis } from '../../support/redis.ts'
import { describeWith } from '../../support/requirements.ts'
import { completion, hello } from '../plugins/openai-wire.ts'
import { Cluster } from '../processes/cluster.ts'

/** Two callers: keys that all gateways know. */
const KEYS = [createSecret('live'), createSecret('live')] as const

const LIMITED = 'umg_namespace_limited_total'

const routesFor = (origin: string) => {
  const upstream = (limits?: object) => ({
    provider: 'openai-compatible',
    config: { baseUrl: `${origin}/v1` },
    ...(limits && { limits }),
  })
  return {
    chain: [{ plugin: 'auth' }, { plugin: 'header-stamping' }],
    namespaces: {
      vendor: upstream({ requests: '4/d' }),
      narrow: upstream({ concurrent: 1, wait: '1m' }),
      ample: upstream({ requests: '1M/d' }),
      spare: upstream(),
      acme: { models: { smart: { targets: [{ model: 'vendor/m' }], fallbacks: ['spare/m'] } } },
    },
    keys: KEYS.map((secret, index) => ({
      name: `caller-${index}`,
      kind: 'live',
      hash: `sha256:${digestOf(secret)}`,
      models: ['*'],
    })),
  }
}

/** Processes that share the limits of namespaces. */
interface Processes {
  /** Calls a model with one of the keys. Calls with different indexes reach different processes. */
  call(index: number, model: string): Promise<Response>
  /** How often an attempt has met the limit of a namespace. */
  limited(): Promise<number>
  stop(): Promise<void>
}

async function proxiesOfOneGateway(origin: string): Promise<Processes> {
  const cluster = await Cluster.start({ 'routes.yaml': stringify({ version: 1, ...routesFor(origin) }) })
  return {
    call: (index, model) => cluster.call('hi', { model, close: true, headers: { authorization: `Bearer ${KEYS[index % 2]!}` } }),
    limited: async () => (await cluster.metric(`${LIMITED}{namespace="narrow",limit="concurrent"}`)) ?? 0,
    stop: () => cluster.stop(),
  }
}

async function gatewaysOnOneRedis(origin: string): Promise<Processes> {
  const redis = await startRedis()
  const options = { redis: redis.url, routes: routesFor(origin) }
  const gateways = [await startTestGateway(options), await startTestGateway(options)]
  const call = (gateway: TestGateway, key: string, model: string): Promise<Response> =>
    gateway.fetch('/v1/chat/completions', { key, json: { model, messages: [{ role: 'user', content: 'hi' }] } })
  for (const gateway of gateways)
    while ((await gateway.metric('umg_quota_questions_total', { result: 'answered' })) === 0)
      await (await call(gateway, KEYS[0], 'ample/m')).text()
  return {
    call: (index, model) => call(gateways[index % 2]!, KEYS[(index >> 1) % 2]!, model),
    async limited() {
      const counts = await Promise.all(gateways.map((gateway) => gateway.metric(LIMITED)))
      return counts.reduce((sum, count) => sum + count, 0)
    },
    async stop() {
      await Promise.all(gateways.map((gateway) => gateway.stop()))
      await redis.stop()
    },
  }
}

function describeShared(start: (origin: string) => Promise<Processes>): void {
  let upstream: ScriptedUpstream
  let processes: Processes

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on(hello)
    processes = await start(upstream.origin)
  })

  after(async () => {
    await processes?.stop()
    await upstream?.close()
  })

  it('hold for all callers together, and leave further calls to the next target', async () => {
    const served = Array.from({ length: 12 }, async (_, index) => {
      const { status, headers, body } = await processes.call(index, 'acme/smart')
      await body?.cancel()
      return `${status} ${headers.get('x-umg-namespace')}`
    })
    const counts = Object.groupBy(await Promise.all(served), (each) => each)
    expect(counts['200 vendor']).to.have.length(4)
    expect(counts['200 spare']).to.have.length(8)
  })

  it('are awaited: a call in one process gets the place of a call in another when that ends', async () => {
    const seen = upstream.requests.length
    const door = hold()
    upstream.reply([door, ...json(completion())])
    const first = processes.call(0, 'narrow/m')
    await door.reached
    const second = processes.call(1, 'narrow/m')
    await until(async () => (await processes.limited()) > 0)
    expect(upstream.requests).to.have.length(seen + 1)
    door.release()
    const replies = await Promise.all([first, second])
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200])
    await Promise.all(replies.map((reply) => reply.text()))
    expect(upstream.requests).to.have.length(seen + 2)
  })
}

describe('the limits of a namespace', () => {
  describe('with several processes', () => describeShared(proxiesOfOneGateway))
  describeWith('redis', 'with several gateways on one Redis', () => describeShared(gatewaysOnOneRedis))
})
