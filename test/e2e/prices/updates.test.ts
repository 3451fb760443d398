import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { waitForUpdate } from '@pydantic/genai-prices'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { listPrices, updatePrices } from '../../../core/cli/config/prices.ts'
import { validate } from '../../../core/cli/config/validate.ts'
import { SOURCES } from '../../../core/config/schema/prices.ts'
import { createSecret } from '../../../core/keys/format.ts'
import { json, openaiReply, reply, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { until } from '../../support/poll.ts'
import { runCommand } from '../../support/run-command.ts'
import { VendorNetwork } from '../../support/vendor-network.ts'
import { Home } from '../lifecycle/umg.ts'
import { Cluster } from '../processes/cluster.ts'

/** A list in which anything may be wrong. */
// biome-ignore lint/suspicious/noExplicitAny: a test writes what no type allows
type List = any

const modelOf = (list: List, vendor: string, id: string): List =>
  list.find((each: List) => each.id === vendor).models.find((each: List) => each.id === id)

/** The list in the package, with a change. */
const changed = (change: (list: List) => unknown): List => {
  const list = structuredClone(PACKAGED)
  change(list)
  return list
}

let PACKAGED: List
/** As the package, but for gpt-4o, which costs 5 instead of 2.5. */
let NEWER: List

const LITELLM = {
  sample_spec: { litellm_provider: 'one of …', input_cost_per_token: 0 },
  'gpt-4o': { litellm_provider: 'openai', input_cost_per_token: 2e-6, output_cost_per_token: 1e-5 },
  'gpt-6.1-sol': {
    litellm_provider: 'openai',
    input_cost_per_token: 2e-6,
    output_cost_per_token: 1e-5,
    cache_read_input_token_cost: 1e-7,
    input_cost_per_token_priority: 4e-6,
    output_cost_per_token_priority: 2e-5,
    input_cost_per_token_above_272k_tokens: 4e-6,
    output_cost_per_token_above_272k_tokens: 1.5e-5,
    max_input_tokens: 922_000,
  },
  'azure/us/gpt-5.4': { litellm_provider: 'azure', input_cost_per_token: 2.75e-6, output_cost_per_token: 1.65e-5 },
  'claude-opus-5-5': { litellm_provider: 'anthropic', input_cost_per_token: 4e-6, output_cost_per_token: 2e-5 },
  'gemini/gemini-2.5-pro': { litellm_provider: 'gemini', input_cost_per_token: 1.25e-6, output_cost_per_token: 1e-5 },
}

const sha256 = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex')

describe('list prices', () => {
  let upstream: ScriptedUpstream
  let home: Home

  before(async () => {
    PACKAGED = await waitForUpdate()
    NEWER = changed((list) => {
      modelOf(list, 'openai', 'gpt-4o').prices.input_mtok = 5
    })
  })

  beforeEach(async () => {
    upstream = await scriptedUpstream()
    home = await Home.create({ key: 'none' })
  })

  afterEach(async () => {
    await home?.remove()
    await upstream?.close()
  })

  const routes = (lists: object, more: object = {}) =>
    stringify({
      version: 1,
      chain: [{ plugin: 'auth' }],
      namespaces: {
        openai: {
          provider: 'openai-compatible',
          models: ['gpt-4o', 'gpt-6.1-sol'],
          config: { preset: 'openai', apiKey: `\${file:key}` },
        },
      },
      prices: { lists },
      ...more,
    })
  const from = (name = 'list.json') => ({ sources: { 'genai-prices': { from: `${upstream.origin}/${name}` } } })
  const file = () => join(home.path, 'routes.yaml')
  const update = (acceptChanges = false) => runCommand((io) => updatePrices(file(), { acceptChanges }, io))
  const listed = async () => JSON.parse((await runCommand((io) => listPrices(file(), { json: true }, io))).stdout)
  const priceOf = async (model: string) => (await listed()).find((each: { model: string }) => each.model === model)

  it('are read where they are published, through the proxy of the environment, and told where they differ', async () => {
    const network = await VendorNetwork.start({
      [SOURCES['genai-prices']]: () => json(PACKAGED),
      [SOURCES.litellm]: () => json(LITELLM),
    })
    try {
      await home.write('routes.yaml', routes({}))
      expect(await priceOf('openai/gpt-6.1-sol')).to.include({ price: null })
      const { code, stdout, stderr } = await home.run(['prices', 'update'], { env: network.env }).ended
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' })
      expect(stdout).to.match(/^genai-prices: updated to [0-9a-f]{8}; .*\nlitellm: updated to [0-9a-f]{8}; /)
      expect(await priceOf('openai/gpt-6.1-sol')).to.deep.include({ input_usd: 2, output_usd: 10, differs: null })
      expect(await priceOf('openai/gpt-4o')).to.deep.include({
        input_usd: 2.5,
        differs: { list: `litellm ${sha256(LITELLM).slice(0, 8)}`, usd: { input: 2 } },
      })
      const { stdout: table } = await home.run(['prices', 'list']).ended
      expect(table)
        .to.match(/^MODEL +INPUT +OUTPUT +PRICE +DIFFERS\n/)
        .and.match(/openai\/gpt-4o .* litellm \w+: input 2\n/)
    } finally {
      await network.close()
    }
  })

  it("are those of Azure's data zones where routes.yaml says so and LiteLLM's list has them, else validate says what to do", async () => {
    await home.write('litellm.json', JSON.stringify(LITELLM))
    const config = { baseUrl: 'https://acme.openai.azure.com', apiKey: `\${file:key}` }
    const table = (models: object) => ({
      namespaces: { azure: { provider: 'azure-openai', models: ['mine'], config } },
      prices: { lists: { sources: { litellm: { from: 'litellm.json' } } }, models },
    })
    await home.write('routes.yaml', routes({}, table({ 'azure/mine': { like: 'azure/us/gpt-5.4' } })))
    const { code, stderr } = await runCommand((io) => validate(file(), {}, io))
    expect(code).to.equal(1)
    expect(stderr).to.contain('umg prices update')
    await home.write('routes.yaml', routes({}, table({ 'azure/mine': { like: 'azure/gpt-5.4' } })))
    expect((await update()).stdout).to.contain('litellm: updated')
    await home.write('routes.yaml', routes({}, table({ 'azure/mine': { like: 'azure/us/gpt-5.4' } })))
    expect(await priceOf('azure/mine')).to.include({ input_usd: 2.75, output_usd: 16.5 })
  })

  it('are those of the package if nothing was updated, and no address is asked', async () => {
    await home.write('routes.yaml', routes(from()))
    expect((await priceOf('openai/gpt-4o')).price).to.match(/^genai-prices \d+\.\d+\.\d+ openai\/gpt-4o$/)
    expect(upstream.requests).to.deep.equal([])
  })

  it('are taken from a file, named by their content, and unchanged the second time', async () => {
    await home.write('routes.yaml', routes({ sources: { 'genai-prices': { from: 'mirror.json' } } }))
    await home.write('mirror.json', JSON.stringify(NEWER))
    expect((await update()).stdout).to.contain('openai/gpt-4o: input 2.5 → 5')
    expect(await priceOf('openai/gpt-4o')).to.include({
      input_usd: 5,
      price: `genai-prices ${sha256(NEWER).slice(0, 8)} openai/gpt-4o`,
    })
    expect((await update()).stdout).to.match(/^genai-prices: unchanged, /)
  })

  it('are taken if they have the SHA-256 of the routing table, and no others', async () => {
    const pinned = { from: `${upstream.origin}/list.json`, sha256: sha256(NEWER) }
    await home.write('routes.yaml', routes({ sources: { 'genai-prices': pinned } }))
    upstream.reply(json(PACKAGED))
    const refused = await update()
    expect(refused.code).to.equal(1)
    expect(refused.stderr).to.contain('genai-prices: refused: its SHA-256 is ')
    upstream.reply(json(NEWER))
    expect((await update()).code).to.equal(0)
    expect((await priceOf('openai/gpt-4o')).input_usd).to.equal(5)
    await home.write('routes.yaml', routes({ sources: { 'genai-prices': { ...pinned, sha256: sha256(PACKAGED) } } }))
    expect((await priceOf('openai/gpt-4o')).input_usd).to.equal(2.5)
  })

  /** Lists that are refused after a good one, and the reason that is told. */
  const BAD: readonly (readonly [what: string, script: () => ReturnType<typeof json>, why: RegExp])[] = [
    ['is a page', () => reply(['<html>Not found</html>']), /refused: it is no JSON/],
    ['is cut', () => reply([JSON.stringify(NEWER).slice(0, -100)]), /refused: it is no JSON/],
    ['is of another kind', () => json({ models: [] }), /refused: it is no list of providers/],
    ['is empty', () => json([]), /refused: it has no prices of .*openai/],
    [
      'lacks a vendor',
      () => json(PACKAGED.filter(({ id }: List) => id !== 'anthropic')),
      /refused: it has no prices of anthropic/,
    ],
    [
      'lacks many models',
      () => json(changed((list) => list.find(({ id }: List) => id === 'openai').models.splice(5))),
      /refused: it lacks \d+ of the \d+ models of openai/,
    ],
    ['has a price that is null', () => json(wrong(null)), /refused: openai\/gpt-4o: input_mtok is null/],
    ['has a negative price', () => json(wrong(-1)), /refused: openai\/gpt-4o: input_mtok is -1/],
    ['has a price that is a text', () => json(wrong('2.5')), /refused: openai\/gpt-4o: input_mtok is a string/],
    ['has a price beyond all others', () => json(wrong(2500)), /refused: openai\/gpt-4o: input_mtok is 2500 USD/],
    ['is a hundred times dearer', () => json(wrong(500)), /refused: openai\/gpt-4o: input 5 → 500: more than 10 times/],
    ['is a hundred times cheaper', () => json(wrong(0.05)), /refused: openai\/gpt-4o: input 5 → 0\.05: more than 10 times/],
    ['costs nothing', () => json(wrong(0)), /refused: openai\/gpt-4o: input 5 → 0: more than 10 times/],
    [
      'has an expression that never ends',
      () => json(changed((list) => Object.assign(modelOf(list, 'openai', 'gpt-4o').match, { or: [{ regex: '^(a+)+$' }] }))),
      /refused: openai\/gpt-4o has a rule for names that cannot be used/,
    ],
    ['is older by its days', () => json(changed(withoutDays)), /refused: it is older: the last day it names/],
    [
      'is older by its date',
      () => json(PACKAGED, { headers: { 'last-modified': 'Tue, 01 Jan 2019 00:00:00 GMT' } }),
      /refused: it is older: it was changed at 2019-01-01/,
    ],
    ['is huge', () => reply(['['.padEnd(9 << 20, ' ')]), /not read: .*more than 8388608 bytes/],
    ['is behind an error', () => json({}, { status: 503 }), /not read: .*status 503/],
    [
      'is behind a redirect',
      () => json({}, { status: 302, headers: { location: 'http://169.254.169.254/' } }),
      /not read: .*status 302/,
    ],
  ]
  const wrong = (input_mtok: unknown) =>
    changed((list) => Object.assign(modelOf(list, 'openai', 'gpt-4o').prices, { input_mtok }))

  for (const [what, script, why] of BAD) {
    it(`stay the last good ones if the new list ${what}`, async () => {
      await home.write('routes.yaml', routes(from()))
      upstream.reply(json(NEWER))
      expect((await update()).code).to.equal(0)
      upstream.reply(script())
      const { code, stderr } = await update()
      expect(stderr).to.match(why)
      expect(code).to.equal(1)
      expect((await priceOf('openai/gpt-4o')).input_usd).to.equal(5)
    })
  }

  it('change by any factor if an operator accepts it', async () => {
    await home.write('routes.yaml', routes(from()))
    upstream.reply(json(wrong(50)))
    expect((await update()).code).to.equal(1)
    upstream.reply(json(wrong(50)))
    expect((await update(true)).code).to.equal(0)
    expect((await priceOf('openai/gpt-4o')).input_usd).to.equal(50)
  })

  it('are those of the package if the file that is kept was damaged', async () => {
    await home.write('routes.yaml', routes(from()))
    upstream.reply(json(NEWER))
    await update()
    await home.write('prices/genai-prices.json', '[{"id":"openai"')
    expect((await priceOf('openai/gpt-4o')).input_usd).to.equal(2.5)
    const { code, stdout } = await home.run(['validate']).ended
    expect(code).to.equal(0)
    expect(stdout).to.contain('note: the list of genai-prices that is kept is not used: it is no JSON')
  })

  it('come from addresses that nobody on the way can change', async () => {
    for (const bad of [
      'http://mirror.example.com/list.json',
      'ftp://mirror.example.com/list.json',
      'https://user:pass@mirror.example.com/',
    ]) {
      await home.write('routes.yaml', routes({ sources: { litellm: { from: bad } } }))
      const { code, stdout, stderr } = await runCommand((io) => validate(file(), {}, io))
      expect(code, bad).to.equal(1)
      expect(stdout + stderr).to.contain('prices.lists.sources.litellm.from must be an https address')
    }
  })

  it('are updated by a running gateway if its routing table says so; all processes take them, and tell of refusals', async () => {
    const secret = createSecret('live')
    upstream.on(({ path }) => {
      if (path.startsWith('/v1/'))
        return json(
          openaiReply({ text: 'Hi.', usage: { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000 } }).whole,
        )
      return json(list)
    })
    let list: List = PACKAGED
    const cluster = await Cluster.start({
      'routes.yaml': routes(
        { ...from(), every: '1s' },
        {
          chain: [{ plugin: 'auth' }, { plugin: 'header-stamping', config: { response: { 'x-cost': '{cost_usd}' } } }],
          namespaces: {
            sandbox: { provider: 'sandbox' },
            up: { provider: 'openai-compatible', config: { baseUrl: `${upstream.origin}/v1` } },
          },
          prices: { lists: { ...from(), every: '1s' }, models: { 'up/m': { like: 'openai/gpt-4o' } } },
          keys: [{ name: 'k', hash: `sha256:${digestOf(secret)}`, kind: 'live', models: ['*'] }],
        },
      ),
    })
    try {
      const costs = async () => {
        const headers = { authorization: `Bearer ${secret}` }
        const replies = await Promise.all(
          Array.from({ length: 6 }, () => cluster.call('Hi.', { model: 'up/m', headers, close: true })),
        )
        return Promise.all(replies.map((each) => each.text().then(() => Number(each.headers.get('x-cost')).toFixed(2))))
      }
      const counted = async (result: string) =>
        (await (await fetch(`${cluster.url}/metrics`)).text()).includes(
          `umg_price_updates_total{source="genai-prices",result="${result}"}`,
        )
      expect(new Set(await costs())).to.deep.equal(new Set(['2.50']))
      await until(() => counted('updated'))
      list = NEWER
      await until(async () => new Set(await costs()).has('5.00'))
      await until(async () => (await costs()).every((cost) => cost === '5.00'))
      await cluster.umg.prints(/"msg":"list prices updated"/)
      await cluster.umg.prints(/~ list prices of genai-prices: \w{8} → \w{8}/)
      list = wrong(1000)
      await cluster.umg.prints(
        /"reason":"openai\/gpt-4o: input 5 → 1000: more than 10 times.*"msg":"list prices refused: the last good ones stay in use"/,
      )
      await until(() => counted('refused'))
      expect(new Set(await costs())).to.deep.equal(new Set(['5.00']))
    } finally {
      await cluster.stop()
    }
  })

  it('are not fetched again when a gateway restarts before they are due', async () => {
    await home.write('routes.yaml', routes({ ...from(), every: '24h' }))
    upstream.reply(json(NEWER))
    const first = await home.start()
    await first.umg.prints(/"msg":"list prices updated"/)
    first.umg.signal('SIGTERM')
    await first.umg.ended
    const second = await home.start()
    // One whole look of the schedule passes before the gateway ends.
    await until(async () => (await fetch(`${second.url}/readyz`)).status === 200)
    second.umg.signal('SIGTERM')
    await second.umg.ended
    expect(upstream.requests).to.have.length(1)
    expect(existsSync(join(home.path, 'prices/genai-prices.json'))).to.equal(true)
  })
})

/** A list as it was before any price had changed at a day. */
function withoutDays(list: List): void {
  for (const { models } of list)
    for (const model of models)
      if (Array.isArray(model.prices))
        model.prices = model.prices.filter(({ constraint }: List) => constraint?.start_date === undefined)
  for (const { models } of list)
    for (const model of models) if (model.prices.length === 0) model.prices = { input_mtok: 1, output_mtok: 1 }
}
