import { expect } from 'chai'
import { loadCatalogue } from '../../../core/limits/prices/catalogue.ts'
import { PRESET_VENDORS, PROVIDER_VENDORS } from '../../../core/limits/prices/vendors.ts'
import { closedOrigin } from '../../support/closed-port.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

/** The config of each provider as users write it: without an address, unless the provider requires one. */
const CONFIGS: Readonly<Record<string, object>> = {
  anthropic: { apiKey: `\${env:TEST_KEY}` },
  'azure-openai': { baseUrl: 'https://name.openai.azure.com', apiKey: `\${env:TEST_KEY}` },
  bedrock: { region: 'us-east-1', apiKey: `\${env:TEST_KEY}` },
  cohere: { apiKey: `\${env:TEST_KEY}` },
  gemini: { apiKey: `\${env:TEST_KEY}` },
  vertex: { project: 'acme-ai', credentials: `\${env:TEST_ACCOUNT}` },
}

/** The key of a service account, with which nothing can be signed. */
const ACCOUNT = JSON.stringify({
  type: 'service_account',
  client_email: 'umg@acme-ai.iam.gserviceaccount.com',
  private_key: 'none',
})

/** A namespace for each provider and preset whose vendor has list prices. */
const NAMESPACES = [
  ...Object.entries(PROVIDER_VENDORS).map(([provider, vendor]) => ({
    name: provider,
    vendor,
    entry: { provider, config: CONFIGS[provider] },
  })),
  ...Object.entries(PRESET_VENDORS).map(([preset, vendor]) => ({
    name: `preset-${preset}`,
    vendor,
    entry: { provider: 'openai-compatible', config: { preset, apiKey: `\${env:TEST_KEY}` } },
  })),
]

describe('with a budget, a model with a list price is called at', () => {
  let gateway: TestGateway
  let key: string
  let models: ReadonlyMap<string, string>

  before(async () => {
    const catalogue = await loadCatalogue()
    const isPriced = (vendor: string, model: string): boolean => {
      const { input, output } = catalogue.find(vendor, model, Date.now())?.price.tiers[0]?.rates ?? {}
      return input !== undefined && output !== undefined
    }
    // Fireworks' own names of models have this beginning.
    const pricedModel = (vendor: string) =>
      catalogue
        .models(vendor)
        .flatMap((model) => [model, `accounts/fireworks/models/${model}`])
        .find((model) => isPriced(vendor, model))!
    models = new Map(NAMESPACES.map(({ name, vendor }) => [name, `${name}/${pricedModel(vendor)}`]))
    const entries = NAMESPACES.map(({ name, entry }) => [name, { ...entry, breaker: false }])
    gateway = await startTestGateway({
      routes: { chain: [{ plugin: 'auth' }], namespaces: Object.fromEntries(entries) },
      // No vendor is reached: that its price was found shows before.
      env: { TEST_KEY: 'key', TEST_ACCOUNT: ACCOUNT, HTTPS_PROXY: await closedOrigin() },
    })
    key = await gateway.key({ budgets: ['100000 USD/month'] })
  })

  after(() => gateway?.stop())

  for (const { name } of NAMESPACES) {
    it(name, async () => {
      const messages = [{ role: 'user', content: 'Hi.' }]
      const reply = await gateway.fetch('/v1/chat/completions', { key, json: { model: models.get(name), messages } })
      const { error } = (await reply.json()) as { error: { code: string } }
      expect(error.code, models.get(name)).not.to.equal('price_unknown')
      expect(reply.status).to.be.at.least(500)
    })
  }
})
