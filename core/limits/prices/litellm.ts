import { isRecord } from '../../sdk/json.ts'
import type { UsdPerMillion, UsdPrice, UsdTier } from './price.ts'
import { expectUsd, type Listed, type ListedClass, named, type PublishedList, RefusedList } from './published-list.ts'

/** How the list names the models of a vendor: what it writes before the vendor's name, and as `litellm_provider`. */
interface Naming {
  readonly prefixes: readonly string[]
  readonly providers: readonly string[]
}

/** By the vendors of genai-prices. Read 2026-11-26 from the list itself. */
const NAMES: Readonly<Record<string, Naming>> = {
  anthropic: { prefixes: [''], providers: ['anthropic'] },
  aws: { prefixes: [''], providers: ['bedrock', 'bedrock_converse'] },
  azure: { prefixes: ['azure/'], providers: ['azure'] },
  cerebras: { prefixes: ['cerebras/'], providers: ['cerebras'] },
  cohere: { prefixes: ['', 'cohere/'], providers: ['cohere', 'cohere_chat'] },
  deepseek: { prefixes: ['deepseek/', ''], providers: ['deepseek'] },
  fireworks: { prefixes: ['fireworks_ai/'], providers: ['fireworks_ai'] },
  google: {
    prefixes: ['gemini/', 'vertex_ai/', ''],
    providers: ['gemini', 'vertex_ai', 'vertex_ai-anthropic_models', 'vertex_ai-language-models'],
  },
  groq: { prefixes: ['groq/'], providers: ['groq'] },
  mistral: { prefixes: ['mistral/'], providers: ['mistral'] },
  moonshotai: { prefixes: ['moonshot/'], providers: ['moonshot'] },
  openai: { prefixes: [''], providers: ['openai', 'text-completion-openai'] },
  openrouter: { prefixes: ['openrouter/'], providers: ['openrouter'] },
  perplexity: { prefixes: ['perplexity/'], providers: ['perplexity'] },
  together: { prefixes: ['together_ai/'], providers: ['together_ai'] },
  'x-ai': { prefixes: ['xai/'], providers: ['xai'] },
  zai: { prefixes: ['zai/'], providers: ['zai'] },
}

/** The list's names of our classes, in dollars per token. */
const AMOUNTS: { readonly [Class in ListedClass]?: string } = {
  input: 'input_cost_per_token',
  inputAudio: 'input_cost_per_audio_token',
  inputImage: 'input_cost_per_image_token',
  cachedInput: 'cache_read_input_token_cost',
  cachedInputAudio: 'cache_read_input_audio_token_cost',
  cacheWrite: 'cache_creation_input_token_cost',
  cacheWrite1h: 'cache_creation_input_token_cost_above_1hr',
  cacheWrite12h: 'cache_creation_input_token_cost_above_12hr',
  output: 'output_cost_per_token',
  outputAudio: 'output_cost_per_audio_token',
  outputImage: 'output_cost_per_image_token',
  reasoning: 'output_cost_per_reasoning_token',
}

/** The classes that may cost nothing. */
const WHOLE: readonly string[] = ['input', 'output']

/**
 * The services that have amounts of their own, by the end of their names, and the values of `service_tier` that mean them. OpenAI echoes
 * `priority` as `fast` since gpt-6; Anthropic's usage has `batch`.
 */
const SERVICES: Readonly<Record<string, readonly string[]>> = {
  priority: ['priority', 'fast'],
  flex: ['flex'],
  batches: ['batch'],
  ultrafast: ['ultrafast'],
}

/** The list's names of what all tokens cost at an address that keeps calls in a region: so many times their price. */
const UPLIFTS = [
  'regional_endpoint_uplift_multiplier',
  'regional_processing_uplift_multiplier_eu',
  'regional_processing_uplift_multiplier_us',
] as const

/** Where the list has factors of Anthropic's: of `inference_geo: us` and of `speed: fast`. */
const SPECIFIC = 'provider_specific_entry'

/** The largest factor of a list that is believed: fast mode of Opus 4.6 has cost six times as much. */
const MAX_FACTOR = 10

/** An entry of the list. */
type Entry = Readonly<Record<string, unknown>>

/** The models of each vendor that the gateway knows, by the vendor's names. */
export type LitellmModels = ReadonlyMap<string, ReadonlyMap<string, Listed>>

/** Reads the list of github.com/BerriAI/litellm, model_prices_and_context_window.json (read 2026-11-26). Throws `RefusedList`. */
export function readLitellm(json: unknown): LitellmModels {
  if (!isRecord(json)) throw new RefusedList('it is no map of models')
  const byProvider = Map.groupBy(Object.entries(json), ([, entry]) => isRecord(entry) && entry.litellm_provider)
  return new Map(
    Object.entries(NAMES).map(([vendor, { prefixes, providers }]) => {
      const own = providers.flatMap((provider) => byProvider.get(provider) ?? []) as [string, Entry][]
      return [vendor, modelsOf(own, prefixes)]
    }),
  )
}

/** The list of what `readLitellm` has read. */
export function litellmList(vendors: LitellmModels, version: string): PublishedList {
  return {
    name: `litellm ${version}`,
    latest: undefined,
    has: (vendor) => (vendors.get(vendor)?.size ?? 0) > 0,
    models: (vendor) => [...(vendors.get(vendor)?.keys() ?? [])],
    find: (vendor, model) => vendors.get(vendor)?.get(model),
    prices(vendor) {
      const priced = [...(vendors.get(vendor) ?? [])].map(([id, { usd }]) => [id, usd] as const)
      return new Map(priced.filter((each): each is [string, UsdPrice] => each[1] !== undefined))
    },
  }
}

/** By the vendor's names. */
function modelsOf(entries: readonly [string, Entry][], prefixes: readonly string[]): ReadonlyMap<string, Listed> {
  const models = new Map<string, Listed>()
  for (const prefix of prefixes) {
    for (const [key, entry] of entries) {
      const name = key.slice(prefix.length)
      if (key.startsWith(prefix) && !models.has(name)) models.set(name, listedOf(key, entry))
    }
  }
  return models
}

function listedOf(id: string, entry: Entry): Listed {
  const { max_input_tokens: context } = entry
  const window = typeof context === 'number' ? context : undefined
  return { id, usd: toUsd(id, entry), when: '', until: Number.POSITIVE_INFINITY, context: window }
}

function toUsd(id: string, entry: Entry): UsdPrice | undefined {
  if (entry[AMOUNTS.input!] === undefined && entry[AMOUNTS.output!] === undefined) return undefined
  const base = amountsOf(id, entry, '')
  const starts = Object.keys(entry).flatMap((key) => /^input_cost_per_token_above_(\d+)k_tokens$/.exec(key)?.[1] ?? [])
  const tiers = starts.map(
    (start): UsdTier => ({ above: Number(start) * 1000, ...amountsOf(id, entry, `_above_${start}k_tokens`) }),
  )
  const uplifts = UPLIFTS.flatMap((name) => (entry[name] === undefined ? [] : [factorIn(id, name, entry[name])]))
  const factors = Object.entries(SERVICES).flatMap(([end, values]) => {
    const factor = factorOf(base, amountsOf(id, entry, `_${end}`))
    return factor === undefined ? [] : values.map((value) => [value, factor] as const)
  })
  const { us, fast } = isRecord(entry[SPECIFIC]) ? entry[SPECIFIC] : {}
  const variants = {
    ...(factors.length > 0 && { service_tier: Object.fromEntries(factors) }),
    ...(us !== undefined && { inference_geo: { us: factorIn(id, SPECIFIC, us) } }),
    ...(fast !== undefined && { speed: { fast: factorIn(id, SPECIFIC, fast) } }),
  }
  return {
    ...base,
    tiers,
    ...(Object.keys(variants).length > 0 && { variants }),
    ...(uplifts.length > 0 && { regional: Math.max(...uplifts) }),
  }
}

function factorIn(id: string, name: string, factor: unknown): number {
  if (typeof factor === 'number' && factor >= 1 && factor <= MAX_FACTOR) return factor
  throw new RefusedList(`${named(id)}: ${name} is no factor from 1 to ${MAX_FACTOR}`)
}

function amountsOf(id: string, entry: Entry, end: string): UsdPerMillion {
  const amounts = Object.entries(AMOUNTS).flatMap(([name, key]) => {
    const perToken = entry[key + end]
    if (perToken === undefined) return []
    const usd = expectUsd(
      typeof perToken === 'number' ? Math.round(perToken * 1e12) / 1e6 : perToken,
      () => `${named(id)}: ${key}${end}`,
    )
    // The list has 0 for what is not sold apart, such as writes to a cache that cost as other tokens.
    return usd === 0 && !WHOLE.includes(name) ? [] : [[name, usd]]
  })
  return Object.fromEntries(amounts)
}

/** The higher ratio between a service's amounts and the usual ones, of input and output: those of other classes are rounded to the cent. */
function factorOf(base: UsdPerMillion, service: UsdPerMillion): number | undefined {
  if (service.input === undefined) return undefined
  const ratios = (['input', 'output'] as const).flatMap((name) => {
    const [usual, amount] = [base[name], service[name]]
    return usual && amount !== undefined ? [amount / usual] : []
  })
  return ratios.length === 0 ? undefined : Math.round(Math.max(...ratios) * 1000) / 1000
}
