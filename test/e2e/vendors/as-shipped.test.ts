import { hash } from 'node:crypto'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { createSecret } from '../../../core/keys/format.ts'
import { type Catalogue, loadCatalogue } from '../../../core/limits/prices/catalogue.ts'
import { builtinNames } from '../../../core/plugins/registry.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { OtlpCollector } from '../../support/otlp-collector.ts'
import { VendorNetwork } from '../../support/vendor-network.ts'
import { Home } from '../lifecycle/umg.ts'
import { AS_SHIPPED, type AsShipped, GOOGLE_TOKENS, KEYS, vendorOf } from './as-shipped.ts'

const HELLO = [{ role: 'user', content: 'Hi.' }]

/** Dollars per million tokens of the models that have no list price. */
const OWN_PRICE = { input: 1, output: 1 }

describe('with the configuration that users have,', () => {
  let network: VendorNetwork
  let local: ScriptedUpstream
  let collector: OtlpCollector
  let home: Home
  let url: string
  const models = new Map<string, string>()
  const secrets = new Map<string, { readonly own: string; readonly budget: string; readonly limit: string }>()

  before(async () => {
    const catalogue = await loadCatalogue()
    for (const { name, prices, model } of AS_SHIPPED) models.set(name, model ?? pricedModel(catalogue, prices!))
    local = await scriptedUpstream()
    local.on((request) => {
      const row = AS_SHIPPED.find(({ name }) => request.path.startsWith(`/${name}/`))!
      return vendorOf(row, models.get(row.name)!)(request)
    })
    network = await VendorNetwork.start({
      ...GOOGLE_TOKENS,
      ...Object.fromEntries(
        AS_SHIPPED.flatMap((row) => row.addresses.map((address) => [address, vendorOf(row, models.get(row.name)!)])),
      ),
    })
    collector = await OtlpCollector.start()

    const keys = AS_SHIPPED.flatMap(({ name }) => {
      const [own, budget, limit] = [createSecret('live'), createSecret('live'), createSecret('live')]
      secrets.set(name, { own, budget, limit })
      const declare = (secret: string, kind: string, more: object = {}) => ({
        name: `${name}-${kind}`,
        hash: `sha256:${digestOf(secret)}`,
        kind: 'live',
        models: [`${name}/*`],
        ...more,
      })
      return [
        declare(own, 'own'),
        declare(budget, 'budget', { budget: '0.01 USD/day' }),
        declare(limit, 'limit', { class: 'few' }),
      ]
    })
    home = await Home.create({
      'routes.yaml': stringify({
        version: 1,
        chain: [
          { plugin: 'auth' },
          { plugin: 'rate-tagging', config: { classes: { few: { tokens: '1000/min' }, all: {} }, default: 'all' } },
        ],
        namespaces: Object.fromEntries(AS_SHIPPED.map((row) => [row.name, namespaceOf(row)])),
        keys,
        prices: {
          models: Object.fromEntries(AS_SHIPPED.filter(({ prices }) => !prices).map(({ name }) => [`${name}/*`, OWN_PRICE])),
        },
      }),
    })
    const env = { ...KEYS, ...network.env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin }
    const validated = await home.run(['validate'], { env }).ended
    expect(validated, validated.stderr).to.include({ code: 0 })
    const umg = home.run(['start', '--port', '0'], { env })
    url = (await umg.prints(/^listening on (\S+)$/m))[1]!
  })

  after(async () => {
    await home?.remove()
    await collector?.close()
    await local?.close()
    await network?.close()
  })

  function namespaceOf({ name, provider, config, isLocal, model }: AsShipped): object {
    const path = provider === 'ollama' ? '' : '/v1'
    return {
      provider,
      config: isLocal ? { ...config, baseUrl: `${local.origin}/${name}${path}` } : config,
      ...(provider === 'azure-openai' && { models: [model ?? models.get(name)] }),
    }
  }

  function call(
    { name }: AsShipped,
    key: 'own' | 'budget' | 'limit',
    more: object = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secrets.get(name)![key]}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: `${name}/${models.get(name)}`, messages: HELLO, max_tokens: 10, ...more }),
    })
  }

  it('every provider and preset is called', async () => {
    const providers = (await builtinNames('provider')).filter((name) => name !== 'sandbox')
    expect([...new Set(AS_SHIPPED.map(({ provider }) => provider))]).to.have.members(providers)
  })

  for (const row of AS_SHIPPED)
    describe(row.name, () => {
      it('answers', async () => {
        const headers = { traceparent: `00-${traceIdOf(row)}-0123456789abcdef-01` }
        const reply = await call(row, 'own', {}, headers)
        const text = await reply.text()
        expect(reply.status, text).to.equal(200)
        expect(JSON.parse(text).choices[0].message.content).to.equal('Hello.')
      })

      it('streams', async () => {
        const reply = await call(row, 'own', { stream: true })
        const text = await reply.text()
        expect(reply.status, text).to.equal(200)
        expect(contentOf(text)).to.equal('Hello.')
        expect(text).to.match(/data: \[DONE\]\n\n$/)
      })

      it('has a price, by which a budget admits calls and then stops them', async () => {
        const reply = await call(row, 'budget')
        expect(reply.status, await reply.text()).to.equal(200)
        const refused = await call(row, 'budget', { max_tokens: 1_000_000 })
        expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).to.deep.equal([
          429,
          'insufficient_quota',
        ])
      })

      it('counts its tokens for limits', async () => {
        const reply = await call(row, 'limit')
        expect(reply.status, await reply.text()).to.equal(200)
        expect(reply.headers.get('x-ratelimit-limit-tokens')).to.equal('1000')
        const refused = await call(row, 'limit', { max_tokens: 990 })
        expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).to.deep.equal([
          429,
          'rate_limit_exceeded',
        ])
      })

      it('lists its models', async () => {
        const reply = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${secrets.get(row.name)!.own}` } })
        const { data } = (await reply.json()) as { data: { id: string }[] }
        expect(data.map(({ id }) => id)).to.deep.equal([`${row.name}/${models.get(row.name)}`])
      })
    })

  // Last, as spans are sent some seconds after their calls.
  describe('spans and metrics name', () => {
    let metrics: string

    before(async () => {
      metrics = await (await fetch(`${url}/metrics`)).text()
    })

    for (const row of AS_SHIPPED)
      it(row.name, async () => {
        const { name, provider } = row
        const [server, client] = await collector.trace(traceIdOf(row), 2)
        const model = models.get(name)
        expect(server!.attributes).to.include({ 'umg.request.model': `${name}/${model}`, 'umg.outcome': 'ok' })
        expect(client!.attributes).to.include({ 'umg.namespace': name, 'umg.provider': provider, 'gen_ai.request.model': model })
        expect(client!.attributes['gen_ai.usage.output_tokens']).to.be.greaterThan(0)
        expect(metrics).to.match(new RegExp(`^umg_requests_total\\{namespace="${name}",.*outcome="ok"`, 'm'))
      })
  })
})

/** The trace of a namespace's first call. */
const traceIdOf = ({ name }: AsShipped): string => hash('md5', name)

/** A model that has a list price, for its input and its output. Fireworks' own names of models have a path. */
function pricedModel(catalogue: Catalogue, vendor: string): string {
  const isPriced = (model: string): boolean => {
    const { input, output } = catalogue.find(vendor, model, Date.now())?.price.tiers[0]?.rates ?? {}
    return input !== undefined && output !== undefined
  }
  const models = catalogue.models(vendor).flatMap((model) => [model, `accounts/fireworks/models/${model}`])
  return models.find(isPriced)!
}

/** The text of a stream of chat completions. */
const contentOf = (stream: string): string =>
  [...stream.matchAll(/^data: (\{.*)$/gm)]
    .map(([, data]) => (JSON.parse(data!) as { choices: { delta: { content?: string } }[] }).choices[0]?.delta.content ?? '')
    .join('')
