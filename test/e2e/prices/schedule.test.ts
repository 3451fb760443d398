import { join } from 'node:path'
import { expect } from 'chai'
import { json, reply, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { until } from '../../support/poll.ts'
import { watchParsing } from '../../support/watch-parsing.ts'
import { replaceFile, validReloadAfter } from '../reload/reloading.ts'
import { type ApiClient, adminClient } from '../usage/api-client.ts'

/** A list of LiteLLM's format. `usd`: per million tokens of input. */
const listOf = (usd: number) => {
  const model = (litellm_provider: string, price = 1) => ({
    litellm_provider,
    input_cost_per_token: price / 1e6,
    output_cost_per_token: 1e-5,
  })
  return {
    'gpt-new': model('openai', usd),
    'claude-new': model('anthropic'),
    'gemini/gemini-new': model('gemini'),
    ...Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`openrouter/model-${index}`, model('openrouter')])),
  }
}

describe('the schedule of list prices', () => {
  const parsing = watchParsing()
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let answer: ReturnType<typeof json>
  let api: ApiClient

  beforeEach(async () => {
    upstream = await scriptedUpstream()
    upstream.on(() => answer)
    answer = json(listOf(2))
    gateway = await startTestGateway({
      routes: {
        namespaces: {
          openai: {
            provider: 'openai-compatible',
            models: ['gpt-new'],
            config: { preset: 'openai', apiKey: `\${env:KEY}` },
          },
        },
        prices: { lists: { every: '1s', sources: { litellm: { from: `${upstream.origin}/list.json` } } } },
      },
      env: { KEY: 'key' },
    })
    api = await adminClient(gateway)
  })

  afterEach(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const counted = (result: string) => gateway.metric('umg_price_updates_total', { source: 'litellm', result })
  const refused = () => gateway.metric('umg_price_list_refused', { source: 'litellm' })
  /** The input price of gpt-new in US dollars; undefined while it has none. */
  const usd = async (): Promise<string | undefined> => {
    const { data } = (await api.get('/models')).json as { data: { id: string; price: { input_usd: string } | null }[] }
    return data.find(({ id }) => id === 'openai/gpt-new')?.price?.input_usd
  }

  it('reads lists in a thread: the event loop of the calls parses none, when they come and when they are in use', async () => {
    await until(async () => (await usd()) === '2.00')
    expect(await counted('updated')).to.equal(1)
    expect(parsing.longest).to.be.below(10_000)
    expect(JSON.stringify(listOf(2)).length).to.be.above(300_000)
  })

  for (const [what, bad, reason] of [
    ['is broken', () => reply(['{"gpt-new":']), /it is no JSON/],
    ['is a thousand times dearer', () => json(listOf(900)), /openai\/gpt-new: input 2 → 900: more than 10 times/],
    [
      'has an absurd factor',
      () => json({ ...listOf(2), 'gpt-new': { ...listOf(2)['gpt-new'], regional_processing_uplift_multiplier_eu: 99 } }),
      /gpt-new: regional_processing_uplift_multiplier_eu is no factor from 1 to 10/,
    ],
  ] as const) {
    it(`alerts while a list that ${what} is refused, and the last good one stays`, async () => {
      await until(async () => (await usd()) === '2.00')
      expect(await refused()).to.equal(0)
      answer = bad()
      await until(async () => (await refused()) === 1)
      const line = gateway.log.find(({ msg }) => msg === 'list prices refused: the last good ones stay in use')
      expect(String(line?.reason)).to.match(reason)
      expect(await usd()).to.equal('2.00')
      answer = json(listOf(3))
      await until(async () => (await usd()) === '3.00')
      expect(await refused()).to.equal(0)
    })
  }

  it('ends its alert when an operator has accepted another list', async () => {
    await until(async () => (await usd()) === '2.00')
    answer = json(listOf(900))
    await until(async () => (await refused()) === 1)
    answer = json({}, { status: 503 })
    const text = JSON.stringify(listOf(900))
    await validReloadAfter(gateway, () => replaceFile(join(gateway.folder, 'prices/litellm.json'), text))
    await until(async () => (await refused()) === 0)
    expect(await usd()).to.equal('900.00')
  })
})
