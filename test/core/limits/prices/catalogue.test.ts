import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { type Catalogue, loadCatalogue, packagedList } from '../../../../core/limits/prices/catalogue.ts'
import { correctionOf, correctionsOf } from '../../../../core/limits/prices/corrections.ts'
import { costOf, type UsdPrice } from '../../../../core/limits/prices/price.ts'
import { PRESET_VENDORS, PROVIDER_VENDORS, vendorOf } from '../../../../core/limits/prices/vendors.ts'
import { formatUsd } from '../../../../core/text/money.ts'
import { PRESETS } from '../../../../plugins/providers/openai-compatible/presets.ts'

/** The module of a built-in provider. */
interface ProviderModule {
  readonly default: { readonly schema: { readonly properties?: Readonly<Record<string, { readonly default?: string }>> } }
}

const NOW = Date.UTC(2026, 10, 1, 12)

const listed = (usd: UsdPrice) => ({ id: 'm', usd, when: '', until: 0, context: undefined })

describe('the list prices of vendors', () => {
  let catalogue: Catalogue

  before(async () => {
    catalogue = await loadCatalogue()
  })

  const usdOf = (vendor: string, model: string, { prompt = 0, cached = 0, completion = 0, now = NOW }) => {
    const found = catalogue.find(vendor, model, now)
    const usage = {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      prompt_tokens_details: { cached_tokens: cached },
    }
    const cost = found && costOf(found.price, usage)
    return cost && formatUsd(cost.nanoUsd)
  }

  for (const vendor of new Set([...Object.values(PROVIDER_VENDORS), ...Object.values(PRESET_VENDORS)])) {
    it(`include those of ${vendor}`, () => {
      expect(catalogue.has(vendor)).to.equal(true)
    })
  }

  it('are those of presets that exist', () => {
    expect(Object.keys(PRESETS)).to.include.members(Object.keys(PRESET_VENDORS))
  })

  it('are those of the vendor whose address is used', () => {
    expect(vendorOf('openai-compatible', { preset: 'groq' })).to.equal('groq')
    expect(vendorOf('openai-compatible', { preset: 'openai', baseUrl: 'http://proxy' })).to.equal(undefined)
    expect(vendorOf('openai-compatible', { preset: 'vllm' })).to.equal(undefined)
    expect(vendorOf('openai-compatible', { preset: 'constructor' })).to.equal(undefined)
    expect(vendorOf('anthropic', {})).to.equal('anthropic')
    expect(vendorOf('azure-openai', { baseUrl: 'https://name.openai.azure.com' })).to.equal('azure')
    expect(vendorOf('their-own', {})).to.equal(undefined)
  })

  it('are found at the address that a provider or a preset has by itself, and at the same address written out', async () => {
    for (const [name, vendor] of Object.entries(PROVIDER_VENDORS)) {
      const { default: plugin } = (await import(`../../../../plugins/providers/${name}/index.ts`)) as ProviderModule
      const { default: baseUrl } = plugin.schema.properties?.baseUrl ?? {}
      expect(vendorOf(name, { baseUrl: baseUrl ?? undefined }), name).to.equal(vendor)
    }
    for (const [preset, vendor] of Object.entries(PRESET_VENDORS)) {
      const { baseUrl } = PRESETS[preset as keyof typeof PRESETS]
      expect(vendorOf('openai-compatible', { preset, baseUrl }), preset).to.equal(vendor)
      expect(vendorOf('openai-compatible', { baseUrl }), baseUrl).to.equal(vendor)
    }
    expect(vendorOf('bedrock', { baseUrl: 'https://bedrock-runtime.eu-west-1.amazonaws.com' })).to.equal('aws')
    expect(vendorOf('vertex', { baseUrl: 'https://aiplatform.eu.rep.googleapis.com/v1' })).to.equal('google')
  })

  it('are not found at an address that only looks like that of a vendor', () => {
    for (const baseUrl of ['https://api.anthropic.com.proxy.example', 'https://proxy.example/api.anthropic.com', 'nonsense']) {
      expect(vendorOf('anthropic', { baseUrl }), baseUrl).to.equal(undefined)
    }
  })

  it('have the version of the package in their names', () => {
    const { dependencies } = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'))
    const version = dependencies['@pydantic/genai-prices']
    expect(catalogue.find('openai', 'gpt-4o', NOW)?.price.name).to.equal(`genai-prices ${version} openai/gpt-4o`)
  })

  it('have cached tokens and tiers', () => {
    // 1000 × 2.5 + 1000 × 1.25 + 100 × 10
    expect(usdOf('openai', 'gpt-4o-2024-08-06', { prompt: 2000, cached: 1000, completion: 100 })).to.equal('0.00475')
    // 200,000 × 3 + 1000 × 15, and 200,001 × 6 + 1000 × 22.5
    expect(usdOf('anthropic', 'claude-sonnet-4-5', { prompt: 200_000, completion: 1000 })).to.equal('0.615')
    expect(usdOf('anthropic', 'claude-sonnet-4-5', { prompt: 200_001, completion: 1000 })).to.equal('1.222506')
  })

  it('have prices of requests', () => {
    // 14 dollars for each 1000 requests, 3 and 15 dollars per million tokens
    expect(usdOf('perplexity', 'sonar-pro', { prompt: 10, completion: 10 })).to.equal('0.01418')
  })

  it('change with the date', () => {
    const o3 = (now: number) => usdOf('openai', 'o3', { prompt: 1_000_000, now })
    expect(o3(Date.UTC(2025, 5, 9))).to.equal('10.00')
    expect(o3(Date.UTC(2025, 5, 11))).to.equal('2.00')
    expect(catalogue.find('openai', 'o3', NOW)?.price.name).to.match(/ openai\/o3 since 2025-06-10$/)
  })

  it('change with the time of day', () => {
    const chat = (hour: number) => catalogue.find('deepseek', 'deepseek-v4-pro', Date.UTC(2026, 10, 1, hour))!
    expect(chat(1).price.name).to.not.equal(chat(20).price.name)
    expect(chat(1).until - Date.UTC(2026, 10, 1, 1)).to.be.within(1, 60_000)
  })

  /** Models whose price the package lacks or has wrong, and what they cost at noon in UTC: input, cached and output. */
  const CORRECTED: readonly (readonly [vendor: string, model: string, usd: readonly [number, number, number]])[] = [
    ['deepseek', 'deepseek-flash', [0.15, 0.003, 0.6]],
    ['deepseek', 'deepseek-v4-flash', [0.15, 0.003, 0.6]],
    ['deepseek', 'deepseek-chat', [0.28, 0.028, 0.42]],
    ['deepseek', 'deepseek-reasoner', [0.28, 0.028, 0.42]],
    ['fireworks', 'accounts/fireworks/models/deepseek-v3p1', [0.56, 0.56, 1.68]],
    ['together', 'deepseek-ai/DeepSeek-V3.1', [0.6, 0.6, 1.7]],
    ['together', 'meta-llama/Llama-3.3-70B-Instruct-Turbo', [1.04, 1.04, 1.04]],
    ['mistral', 'mistral-large-latest', [0.5, 0.05, 1.5]],
    ['mistral', 'mistral-small-latest', [0.15, 0.015, 0.6]],
  ]

  for (const [vendor, model, usd] of CORRECTED) {
    it(`are corrected for ${vendor}/${model}`, () => {
      const { name, tiers } = catalogue.find(vendor, model, NOW)!.price
      const { input, cachedInput, output } = tiers.at(-1)!.rates
      expect([input, cachedInput, output]).to.deep.equal(usd.map((amount) => Math.round(amount * 1e6)))
      expect(name).to.match(/^genai-prices \d\S+ corrected /)
    })
  }

  it('are corrected by the hour for DeepSeek', () => {
    const peak = catalogue.find('deepseek', 'deepseek-flash', Date.UTC(2026, 10, 2, 3))!.price
    expect(peak.tiers.at(-1)!.rates).to.include({ input: 300_000, output: 1_200_000 })
  })

  it('are corrected only as long as the package is wrong', async () => {
    const list = await packagedList()
    for (const vendor of new Set(CORRECTED.map(([each]) => each))) {
      for (const { id, wrong } of correctionsOf(vendor)) {
        const amounts = wrong.map((amount) =>
          [0, 3, 12].some((hour) => list.find(vendor, id, Date.UTC(2026, 10, 2, hour))?.usd?.input === amount),
        )
        expect(amounts, `${vendor}/${id}`).to.not.include(false)
      }
    }
    expect(correctionOf('mistral', 'mistral-large-latest', listed({ input: 0.7, output: 2.1 }), NOW)).to.equal(undefined)
    expect(correctionOf('mistral', 'mistral-large-latest', listed({ input: 2, output: 6 }), NOW)?.usd?.input).to.equal(0.5)
  })

  it('have writes for an hour of Claude on Bedrock, and for twelve hours at OpenAI', () => {
    const ratesOf = (vendor: string, model: string) => catalogue.find(vendor, model, NOW)!.price.tiers.at(-1)!.rates
    const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
    expect(ratesOf('aws', claude)).to.include({ cacheWrite: 4_125_000, cacheWrite1h: 6_600_000 })
    expect(ratesOf('openai', 'gpt-6-sol')).to.include({ cacheWrite: 2_500_000, cacheWrite12h: 5_000_000 })
  })

  it('have the services of OpenAI and of Anthropic', () => {
    const variantsOf = (vendor: string, model: string) => catalogue.find(vendor, model, NOW)!.price.extras.variants
    expect(variantsOf('openai', 'gpt-5.5')).to.deep.equal({ service_tier: { priority: 2.5, fast: 2.5, flex: 0.5, batch: 0.5 } })
    expect(variantsOf('openai', 'gpt-6-sol')).to.deep.equal({ service_tier: { priority: 2, fast: 2, flex: 0.5, batch: 0.5 } })
    const batch = { service_tier: { batch: 0.5 } }
    for (const model of ['claude-opus-5-5', 'claude-opus-5', 'claude-opus-4-8'])
      expect(variantsOf('anthropic', model), model).to.deep.equal({ ...batch, speed: { fast: 2 }, inference_geo: { us: 1.1 } })
    expect(variantsOf('anthropic', 'claude-sonnet-4-6')).to.deep.equal({ ...batch, inference_geo: { us: 1.1 } })
    expect(variantsOf('anthropic', 'claude-sonnet-4-5')).to.deep.equal(batch)
  })

  it('have what LiteLLM knows of the services and regions of a new model', async () => {
    const model = (litellm_provider: string, more: object) => ({
      litellm_provider,
      input_cost_per_token: 2e-6,
      output_cost_per_token: 1e-5,
      cache_read_input_token_cost: 0.25e-6,
      ...more,
    })
    const litellm = JSON.stringify({
      'gpt-new': model('openai', {
        input_cost_per_token_flex: 1e-6,
        output_cost_per_token_flex: 5e-6,
        // Rounded to the cent.
        cache_read_input_token_cost_flex: 0.13e-6,
        regional_processing_uplift_multiplier_eu: 1.1,
      }),
      'claude-new': model('anthropic', { provider_specific_entry: { us: 1.2, fast: 3 }, input_cost_per_token_batches: 1e-6 }),
    })
    const newer = await loadCatalogue({ litellm })
    const { price } = newer.find('openai', 'gpt-new', NOW)!
    expect(price.extras.variants).to.deep.equal({ service_tier: { flex: 0.5 } })
    const regional = newer.find('openai', 'gpt-new', NOW, true)!.price
    expect(regional.name).to.equal(`${price.name} regional ×1.1`)
    expect(regional.tiers[0]!.rates).to.include({ input: 2_200_000, cachedInput: 275_000, output: 11_000_000 })
    expect(newer.find('anthropic', 'claude-new', NOW)!.price.extras.variants).to.deep.equal({
      service_tier: { batch: 0.5 },
      speed: { fast: 3 },
      inference_geo: { us: 1.2 },
    })
  })

  it('equal what the package itself finds', async () => {
    const library = await import('@pydantic/genai-prices')
    const list = await packagedList()
    for (const { id, models } of (await library.waitForUpdate())!) {
      for (const { id: model } of models) {
        const found = library.calcPrice({ input_tokens: 0 }, model, { providerId: id, timestamp: new Date(NOW) })
        expect(list.find(id, model, NOW)?.id, `${id}/${model}`).to.equal(found?.model.id)
      }
    }
  })

  it('are unknown for models that the vendor does not have, or does not sell by the token', () => {
    expect(catalogue.find('openai', 'gpt-99-imaginary', NOW)).to.equal(undefined)
    expect(catalogue.find('openai', 'whisper-1', NOW)).to.equal(undefined)
    expect(catalogue.find('nobody', 'gpt-4o', NOW)).to.equal(undefined)
  })

  it('are read from the package alone: it sends no request by itself', () => {
    const source = readFileSync(new URL(import.meta.resolve('@pydantic/genai-prices')), 'utf8')
    expect(source).not.to.match(/\bfetch\(|XMLHttpRequest|\bimport\(|require\(|from "(?:node:)?https?"/)
  })
})
