import { matchesGlob } from '../../text/glob.ts'
import { type GenaiModel, listedOf, matches } from './genai-prices.ts'
import type { UsdPerMillion, UsdPrice, UsdTier } from './price.ts'
import type { Listed, ListedClass } from './published-list.ts'

/** A model whose price the lists lack or have wrong, in the format of genai-prices. */
interface Correction {
  readonly vendor: string
  readonly model: GenaiModel
  /** The `input_mtok` that the list has had at any time of day: once it says anything else, it has been corrected itself. Absent: it lacks the model. */
  readonly wrong?: readonly number[]
}

const equalTo = (...names: readonly string[]): GenaiModel['match'] => ({ or: names.map((name) => ({ equals: name })) })

/** The hours at which DeepSeek bills twice as much, in UTC. Not on weekends and holidays, which lists do not know: then we charge too much. */
const PEAKS = [
  { type: 'time_of_date', start_time: '01:00:00Z', end_time: '04:00:00Z' },
  { type: 'time_of_date', start_time: '06:00:00Z', end_time: '10:00:00Z' },
] as const

const FLASH = { input_mtok: 0.15, cache_read_mtok: 0.003, output_mtok: 0.6 }
const FLASH_AT_PEAK = { input_mtok: 0.3, cache_read_mtok: 0.006, output_mtok: 1.2 }
const FLASH_PRICES = [{ prices: FLASH }, ...PEAKS.map((constraint) => ({ constraint, prices: FLASH_AT_PEAK }))]
const V3_2 = { input_mtok: 0.28, cache_read_mtok: 0.028, output_mtok: 0.42 }

/**
 * What @pydantic/genai-prices 0.1.8 has wrong, or lacks. A test compares each `wrong` with the list in the package.
 *
 * - DeepSeek: api-docs.deepseek.com/quick_start/pricing, read 2026-11-26 (`deepseek-flash`; old names of it are billed as it). `deepseek-chat`
 *   and `deepseek-reasoner` as that page had them from 2025-12-09 until they were retired in 2026-07, quoted by github.com/RooCodeInc/Roo-Code,
 *   packages/types/src/providers/deepseek.ts; they have had no price by the time of day since 2025-09.
 * - Fireworks, Together and Mistral: not confirmed by a page of the vendor that could be read; model_prices_and_context_window.json of
 *   github.com/BerriAI/litellm in its 1.110.2 of 2026-11, which names fireworks.ai/pricing, api.together.ai/v1/models and docs.mistral.ai/models.
 */
const CORRECTIONS: readonly Correction[] = [
  {
    vendor: 'deepseek',
    model: { id: 'deepseek-flash', match: equalTo('deepseek-flash'), context_window: 1_000_000, prices: FLASH_PRICES },
  },
  {
    vendor: 'deepseek',
    model: {
      id: 'deepseek-v4-flash',
      match: equalTo('deepseek-v4-flash', 'deepseek-v4-flash-vision-exp'),
      context_window: 1_000_000,
      prices: FLASH_PRICES,
    },
    wrong: [0.22, 0.44],
  },
  ...[['deepseek-chat', 0.27] as const, ['deepseek-reasoner', 0.55] as const].map(
    ([name, byDay]): Correction => ({
      vendor: 'deepseek',
      model: { id: name, match: equalTo(name), context_window: 131_072, prices: V3_2 },
      wrong: [0.135, byDay],
    }),
  ),
  {
    vendor: 'fireworks',
    model: {
      id: 'deepseek-v3p1',
      match: equalTo('accounts/fireworks/models/deepseek-v3p1'),
      context_window: 128_000,
      prices: { input_mtok: 0.56, output_mtok: 1.68 },
    },
  },
  {
    vendor: 'together',
    model: {
      id: 'deepseek-ai/DeepSeek-V3.1',
      match: equalTo('deepseek-ai/deepseek-v3.1'),
      context_window: 131_072,
      prices: { input_mtok: 0.6, output_mtok: 1.7 },
    },
  },
  {
    vendor: 'together',
    model: {
      id: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
      match: equalTo('meta-llama/llama-3.3-70b-instruct-turbo'),
      context_window: 131_072,
      prices: { input_mtok: 1.04, output_mtok: 1.04 },
    },
    wrong: [0.88],
  },
  {
    vendor: 'mistral',
    model: {
      id: 'mistral-large-latest',
      match: equalTo('mistral-large-latest'),
      context_window: 262_144,
      prices: { input_mtok: 0.5, cache_read_mtok: 0.05, output_mtok: 1.5 },
    },
    wrong: [2],
  },
  {
    vendor: 'mistral',
    model: {
      id: 'mistral-small-latest',
      match: equalTo('mistral-small-latest'),
      prices: { input_mtok: 0.15, cache_read_mtok: 0.015, output_mtok: 0.6 },
    },
    wrong: [0.1],
  },
]

/** The corrected price of a model, and how it is named; undefined if the list is right, or nothing is known. `listed`: what the list says. */
export function correctionOf(vendor: string, model: string, listed: Listed | undefined, now: number): Listed | undefined {
  const name = model.toLowerCase().trim()
  const found = CORRECTIONS.find((each) => each.vendor === vendor && matches(each.model.match, name))
  if (found === undefined) return undefined
  const input = listed?.usd?.input
  const isListed = input !== undefined && found.wrong?.includes(input) !== true
  return isListed ? undefined : listedOf(found.model, now)
}

/** The corrected models of a vendor, and the amounts that the list is known to have instead. */
export const correctionsOf = (vendor: string): readonly { readonly id: string; readonly wrong: readonly number[] }[] =>
  CORRECTIONS.filter((each) => each.vendor === vendor).map(({ model, wrong = [] }) => ({ id: model.id, wrong }))

/** What vendors say of many of their models at once, and lists leave out. */
interface Rule {
  readonly vendor: string
  /** Globs of the vendor's names. */
  readonly models: readonly string[]
  /** A class, and by which factor it is dearer than another one. */
  readonly times?: { readonly name: ListedClass; readonly of: ListedClass; readonly factor: number }
  readonly variants?: UsdPrice['variants']
  readonly regional?: number
}

const HOUR = { name: 'cacheWrite1h', of: 'input', factor: 2 } as const
/** As `SERVICES` of litellm.ts, `fast` is `priority`. */
const tiers = (priority: number) => ({ service_tier: { priority, fast: priority, flex: 0.5, batch: 0.5 } })

/** Claude since Opus 4.6. */
const SINCE_4_6 = [
  'claude-*-4-6*',
  'claude-*-4-7*',
  'claude-*-4-8*',
  'claude-opus-5*',
  'claude-sonnet-5*',
  'claude-haiku-5*',
  'claude-fable-5*',
]
/** Claude on Vertex AI, whose names may have their publisher before them. */
const SINCE_4_5 = ['claude-*-4-5*', ...SINCE_4_6].map((glob) => `*${glob}`)
const REGIONAL_GEMINI = ['3.1-flash-image*', '3.1-flash-lite*', '3.5*', '3.6*', '3.7*', '3.8*', '4*'].map(
  (glob) => `*gemini-${glob}`,
)

/**
 * - Claude's writes for an hour cost twice the input, also on Bedrock: docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html, as quoted on
 *   2026-09-28 by github.com/nonbinary-computer/albedo; platform.claude.com/docs/en/about-claude/pricing (read 2026-11-26).
 * - Writes for twelve hours at OpenAI, and `priority` of gpt-5.5: github.com/BerriAI/litellm 1.110.2, model_prices_and_context_window.json; not
 *   confirmed by a page of OpenAI's that could be read.
 * - OpenAI's fast (`priority`), flex and batch services: developers.openai.com/api/docs/pricing, as quoted on 2026-08-27 by
 *   github.com/api-evangelist/openai: twice and half as much. Each model of the list has the same factors in the list of LiteLLM.
 * - Claude: platform.claude.com/docs/en/about-claude/pricing, as of 2026-09-26: 1.1 times for `us`, since Opus 4.6; fast mode of Opus 5.5, 5 and
 *   4.8 twice; batches half; on Vertex AI 1.1 times but for the global endpoint, since Sonnet 4.5. The lists have Bedrock's regional profiles.
 * - Data residency at OpenAI: 1.1 times for models since 2026-03-05, which is gpt-5.4: developers.openai.com/api/docs/guides/data-residency (read
 *   2026-11-26).
 * - Gemini's flex tier, half as much: ai.google.dev/gemini-api/docs/flex-inference, docs.cloud.google.com/vertex-ai/generative-ai/docs/flex-paygo (read
 *   2026-11-26). What its priority tier costs differs by model, and the pages do not say.
 * - Gemini on Vertex AI but for the global endpoint: LiteLLM's list, which names cloud.google.com/gemini-enterprise-agent-platform/generative-ai/
 *   pricing; not confirmed by that page, which could not be read.
 */
const RULES: readonly Rule[] = [
  { vendor: 'anthropic', models: ['claude-*'], times: HOUR, variants: { service_tier: { batch: 0.5 } } },
  { vendor: 'aws', models: ['*claude*'], times: HOUR },
  { vendor: 'google', models: ['*claude*'], times: HOUR },
  { vendor: 'google', models: [...SINCE_4_5, ...REGIONAL_GEMINI], regional: 1.1 },
  { vendor: 'google', models: ['*gemini-*'], variants: { service_tier: { flex: 0.5 } } },
  { vendor: 'openai', models: ['gpt-5.6*', 'gpt-6*'], times: { name: 'cacheWrite12h', of: 'cacheWrite', factor: 2 } },
  { vendor: 'openai', models: ['gpt-5.5', 'gpt-5.5-2*'], variants: tiers(2.5) },
  { vendor: 'openai', models: ['gpt-5.4', 'gpt-5.4-2*', 'gpt-5.4-mini*', 'gpt-5.6*', 'gpt-6*'], variants: tiers(2) },
  { vendor: 'openai', models: ['gpt-5.4*', 'gpt-5.5*', 'gpt-5.6*', 'gpt-6*'], regional: 1.1 },
  { vendor: 'anthropic', models: SINCE_4_6, variants: { inference_geo: { us: 1.1 } } },
  { vendor: 'anthropic', models: ['claude-opus-5*', 'claude-opus-4-8*'], variants: { speed: { fast: 2 } } },
]

/** A price with what the vendor says of many of its models. What the list says itself stays. */
export function withRules(vendor: string, model: string, usd: UsdPrice): UsdPrice {
  let price = usd
  for (const { times, variants, regional, ...rule } of RULES) {
    if (rule.vendor !== vendor || !rule.models.some((glob) => matchesGlob(glob, model))) continue
    if (times !== undefined) {
      const tiers = price.tiers?.map((tier): UsdTier => ({ ...tier, ...multiple(tier, times) }))
      price = { ...price, ...multiple(price, times), tiers }
    }
    if (variants !== undefined) price = { ...price, variants: { ...variants, ...price.variants } }
    if (regional !== undefined) price = { ...price, regional: price.regional ?? regional }
  }
  return price
}

function multiple(usd: UsdPerMillion, { name, of, factor }: NonNullable<Rule['times']>): UsdPerMillion {
  const amount = usd[of]
  return usd[name] !== undefined || amount === undefined ? {} : { [name]: Math.round(amount * factor * 1e6) / 1e6 }
}
