import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import type { CallView } from '../../../core/usage/calls.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { ask, hello } from '../plugins/openai-wire.ts'
import { type ApiClient, adminClient } from './api-client.ts'

/** Times are stored in whole microseconds; the sum of two may be off by one each. */
const ROUNDING_MS = 0.002

describe('the times of attempts in the row of a call', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let client: ApiClient

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on((request) =>
      request.path.startsWith('/bad') ? json({ error: { message: 'no' } }, { status: 500 }) : hello(request),
    )
    const provider = (path: string) => ({
      provider: 'openai-compatible',
      breaker: false,
      config: { baseUrl: `${upstream.origin}${path}` },
    })
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          bad: provider('/bad/v1'),
          good: provider('/v1'),
          acme: { models: { m: { targets: [{ model: 'bad/m' }], fallbacks: ['good/m'] } } },
        },
      },
    })
    client = await adminClient(gateway)
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  for (const stream of [false, true])
    it(`tell when each attempt of a ${stream ? 'stream' : 'whole reply'} began: after the one before it, within the call`, async () => {
      const reply = await gateway.fetch('/v1/chat/completions', { json: ask({ model: 'acme/m', stream }) })
      await reply.text()
      const id = reply.headers.get('x-request-id')!
      await gateway.logged((line) => line.id === id)
      const { attempts, ms } = (await client.get(`/requests/${id}`)).json as CallView
      expect(attempts.map(({ namespace }) => namespace)).to.deep.equal(['bad', 'good'])
      const [first, second] = attempts
      expect(first!.start).to.be.above(0)
      expect(second!.start).to.be.at.least(first!.start! + first!.ms - ROUNDING_MS)
      expect(second!.start! + second!.ms).to.be.at.most(ms.total + ROUNDING_MS)
    })
})
