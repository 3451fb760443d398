import type * as GenaiPrices from '@pydantic/genai-prices'
import { createPrice, type Price, type UsdPerMillion, type UsdTier } from './price.ts'

/** A price of the catalogue, and until when it may be used: some vendors' prices change with the date or the time of day. */
export interface CataloguePrice {
  readonly price: Price
  /** Milliseconds since 1970. */
  readonly until: number
}

/** The list prices of vendors, as `@pydantic/genai-prices` bundles them. Nothing is read from the network. */
export interface Catalogue {
  /** The price of a model at a time; undefined if the vendor has no such model, or no price for its tokens. `model`: the vendor's name. */
  find(vendor: string, model: string, now: number): CataloguePrice | undefined
  /** The context window of a model in tokens; undefined if it is not known. `model`: the vendor's name. */
  contextLengthOf(vendor: string, model: string): number | undefined
  /** Whether the catalogue has a vendor. */
  has(vendor: string): boolean
  /** The models of a vendor, by the names that the catalogue has for them. */
  models(vendor: string): readonly string[]
}

/** The version of `@pydantic/genai-prices`: its package does not export it. A test compares it with package.json. */
const VERSION = '0.1.8'

/** Loads the catalogue, of some 0.8 MB of source: only where a namespace needs it. */
export async function loadCatalogue(): Promise<Catalogue> {
  const library: typeof GenaiPrices = await import('@pydantic/genai-prices')
  return {
    has: (vendor) => library.findProvider({ providerId: vendor })?.id === vendor,
    contextLengthOf: (vendor, model) =>
      library.calcPrice({ input_tokens: 0 }, model, { providerId: vendor })?.model.context_window,
    models: (vendor) => library.findProvider({ providerId: vendor })?.models.map(({ id }) => id) ?? [],
    find(vendor, model, now) {
      const found = library.calcPrice({ input_tokens: 0 }, model, { providerId: vendor, timestamp: new Date(now) })
      if (found === null) return undefined
      const { model_price: amounts, model: info } = found
      const conditional = Array.isArray(info.prices) ? info.prices : undefined
      const when = conditional === undefined ? '' : describeWhen(conditional, amounts)
      const name = `genai-prices ${VERSION} ${found.provider.id}/${info.id}${when}`
      const price = toPrice(name, amounts)
      return price && { price, until: conditional === undefined ? Number.POSITIVE_INFINITY : now + RECHECK_MS }
    },
  }
}

/** How long a price that depends on the time is used before it is looked up again. The catalogue's times are multiples of a minute. */
const RECHECK_MS = 1000

/** What distinguishes one of a model's prices: ` since 2026-08-21`, ` from 00:30:00Z to 16:30:00Z`. */
function describeWhen(prices: GenaiPrices.ConditionalPrice[], amounts: GenaiPrices.ModelPrice): string {
  const constraint = prices.find((each) => each.prices === amounts)?.constraint
  if (constraint === undefined) return ''
  return constraint.type === 'start_date'
    ? ` since ${constraint.start_date}`
    : ` from ${constraint.start_time} to ${constraint.end_time}`
}

/** The catalogue's names of our classes. Its other prices, such as those of searches and of hours of audio, are not of tokens. */
const AMOUNTS: { readonly [Class in keyof UsdPerMillion]-?: string } = {
  input: 'input_mtok',
  inputAudio: 'input_audio_mtok',
  inputImage: 'input_image_mtok',
  cachedInput: 'cache_read_mtok',
  cachedInputAudio: 'cache_audio_read_mtok',
  cacheWrite: 'cache_write_mtok',
  cacheWrite1h: 'cache_write_1h_mtok',
  output: 'output_mtok',
  outputAudio: 'output_audio_mtok',
  outputImage: 'output_image_mtok',
  reasoning: 'output_reasoning_mtok',
}

/** Undefined for a model that is not sold by the token. */
function toPrice(name: string, amounts: GenaiPrices.ModelPrice): Price | undefined {
  if (amounts.input_mtok === undefined && amounts.output_mtok === undefined) return undefined
  const starts = new Set(Object.values(AMOUNTS).flatMap((key) => tiersOf(amounts[key]).map(({ start }) => start)))
  const tiers = [...starts].map((above): UsdTier => ({ above, ...usdOf(amounts, above) }))
  const perThousand = amounts.requests_kcount
  const request = typeof perThousand === 'number' ? perThousand / 1000 : 0
  return createPrice(name, { ...usdOf(amounts, 0), tiers, request })
}

/** The amounts for prompts with more than `start` tokens. */
function usdOf(amounts: GenaiPrices.ModelPrice, start: number): UsdPerMillion {
  const amountOf = (key: string): number | undefined => {
    const amount = amounts[key]
    if (typeof amount !== 'object') return amount
    return amount.tiers.filter((tier) => tier.start <= start).at(-1)?.price ?? amount.base
  }
  return Object.fromEntries(Object.entries(AMOUNTS).map(([name, key]) => [name, amountOf(key)]))
}

const tiersOf = (amount: number | GenaiPrices.TieredPrices | undefined): readonly GenaiPrices.Tier[] =>
  typeof amount === 'object' ? amount.tiers : []
