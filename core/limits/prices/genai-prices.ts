import type { ConditionalPrice, MatchLogic, ModelPrice } from '@pydantic/genai-prices'
import { isRecord } from '../../sdk/json.ts'
import type { UsdPerMillion, UsdPrice, UsdTier } from './price.ts'
import { expectUsd, type Listed, type ListedClass, named, type PublishedList, RefusedList } from './published-list.ts'

/** A model of genai-prices, as far as the gateway reads it. */
export interface GenaiModel {
  readonly id: string
  readonly match: MatchLogic
  readonly context_window?: number
  readonly prices: ModelPrice | readonly ConditionalPrice[]
}

/** A vendor of genai-prices. */
export interface Vendor {
  readonly id: string
  readonly models: readonly GenaiModel[]
  /** Vendors whose models it sells too. */
  readonly fallback_model_providers?: readonly string[]
}

/**
 * The list of what `expectVendors` has read. Its rules are those of the package's `calcPrice`, which computes in binary fractions and has one
 * list for the whole process.
 */
export function genaiList(read: readonly Vendor[], version: string): PublishedList {
  const vendors = new Map(read.map((vendor) => [vendor.id, vendor]))
  const dates = [...vendors.values()].flatMap(({ models }) => models.flatMap(datesOf))
  return {
    name: `genai-prices ${version}`,
    latest: dates.toSorted().at(-1),
    has: (vendor) => vendors.has(vendor),
    models: (vendor) => vendors.get(vendor)?.models.map(({ id }) => id) ?? [],
    find(vendor, model, now) {
      const name = model.toLowerCase().trim()
      const found = findModel(vendors, vendor, name) ?? findModel(vendors, vendor, withDashes(name))
      return found && listedOf(found, now)
    },
    prices(vendor, now) {
      const listed = (vendors.get(vendor)?.models ?? []).map((model) => [model.id, listedOf(model, now).usd] as const)
      return new Map(listed.filter((each): each is [string, UsdPrice] => each[1] !== undefined))
    },
  }
}

function findModel(vendors: ReadonlyMap<string, Vendor>, id: string, model: string): GenaiModel | undefined {
  const vendor = vendors.get(id)
  const places = [vendor, ...(vendor?.fallback_model_providers ?? []).map((other) => vendors.get(other))]
  for (const place of places) {
    const found = place?.models.find(({ match }) => matches(match, model))
    if (found !== undefined) return found
  }
  return undefined
}

/** Whether a rule matches a vendor's name of a model. */
export function matches(rule: MatchLogic, model: string): boolean {
  if ('or' in rule) return rule.or.some((each) => matches(each, model))
  if ('and' in rule) return rule.and.every((each) => matches(each, model))
  if ('equals' in rule) return model === rule.equals.toLowerCase()
  if ('starts_with' in rule) return model.startsWith(rule.starts_with.toLowerCase())
  if ('ends_with' in rule) return model.endsWith(rule.ends_with.toLowerCase())
  if ('contains' in rule) return model.includes(rule.contains.toLowerCase())
  return new RegExp(rule.regex).test(model)
}

/** `-20250929` as `-2025-09-29`: vendors write the day of a model in both ways. */
const withDashes = (model: string): string => model.replace(/-(20\d\d)(0[1-9]|1[0-2])([0-2]\d|3[01])(?=-|:|$)/g, '-$1-$2-$3')

/** How long a price that depends on the time is used before it is looked up again. The times of lists are multiples of a minute. */
const RECHECK_MS = 1000

/** What a model of the list costs at a time. */
export function listedOf({ id, prices, context_window: context }: GenaiModel, now: number): Listed {
  if (!Array.isArray(prices)) {
    return { id, usd: toUsd(prices as ModelPrice), when: '', until: Number.POSITIVE_INFINITY, context }
  }
  const conditional = prices as readonly ConditionalPrice[]
  const applied = conditional.findLast(({ constraint }) => applies(constraint, now)) ?? conditional[0]!
  return { id, usd: toUsd(applied.prices), when: describeWhen(applied.constraint), until: now + RECHECK_MS, context }
}

function applies(constraint: ConditionalPrice['constraint'], now: number): boolean {
  if (constraint === undefined) return true
  if ('start_date' in constraint) return now >= Date.parse(constraint.start_date)
  const [time, start, end] = [now % DAY_MS, timeOfDay(constraint.start_time), timeOfDay(constraint.end_time)]
  return end < start ? time >= start || time < end : time >= start && time < end
}

const DAY_MS = 86_400_000

/** Milliseconds since midnight in UTC of a time such as `16:30:00Z`. */
const timeOfDay = (text: string): number => (Date.parse(`1970-01-02T${text}`) + DAY_MS) % DAY_MS

function describeWhen(constraint: ConditionalPrice['constraint']): string {
  if (constraint === undefined) return ''
  return 'start_date' in constraint
    ? ` since ${constraint.start_date}`
    : ` from ${constraint.start_time} to ${constraint.end_time}`
}

const datesOf = ({ prices }: GenaiModel): readonly string[] =>
  Array.isArray(prices)
    ? (prices as readonly ConditionalPrice[]).flatMap(({ constraint }) =>
        constraint !== undefined && 'start_date' in constraint ? [constraint.start_date] : [],
      )
    : []

/** The list's names of our classes. Its other prices, such as those of searches and of hours of audio, are not of tokens. */
const AMOUNTS: { readonly [Class in ListedClass]?: string } = {
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

/** For a thousand calls. */
const REQUESTS = 'requests_kcount'

/** Undefined for a model that is not sold by the token. */
function toUsd(amounts: ModelPrice): UsdPrice | undefined {
  if (amounts.input_mtok === undefined && amounts.output_mtok === undefined) return undefined
  const starts = new Set(Object.values(AMOUNTS).flatMap((key) => tiersOf(amounts[key]).map(({ start }) => start)))
  const tiers = [...starts].map((above): UsdTier => ({ above, ...amountsAt(amounts, above) }))
  const perThousand = amounts[REQUESTS]
  const request = typeof perThousand === 'number' ? perThousand / 1000 : 0
  return { ...amountsAt(amounts, 0), tiers, request }
}

/** The amounts for prompts with more than `start` tokens. */
function amountsAt(amounts: ModelPrice, start: number): UsdPerMillion {
  const amountOf = (key: string): number | undefined => {
    const amount = amounts[key]
    if (typeof amount !== 'object') return amount
    return amount.tiers.filter((tier) => tier.start <= start).at(-1)?.price ?? amount.base
  }
  return Object.fromEntries(Object.entries(AMOUNTS).map(([name, key]) => [name, amountOf(key)]))
}

const tiersOf = (amount: ModelPrice[string]) => (typeof amount === 'object' ? amount.tiers : [])

/**
 * Reads the list of github.com/pydantic/genai-prices: the array of providers in prices/new_data/v2/data.json, which is also the data of its
 * package (read 2026-11-26). Throws `RefusedList`.
 */
export function expectVendors(json: unknown): readonly Vendor[] {
  if (!Array.isArray(json)) throw new RefusedList('it is no list of providers')
  for (const vendor of json) {
    if (!isRecord(vendor) || typeof vendor.id !== 'string' || !Array.isArray(vendor.models))
      throw new RefusedList('a provider has no "id" or no "models"')
    for (const model of vendor.models) expectModel(model, vendor.id)
  }
  return json as readonly Vendor[]
}

function expectModel(model: unknown, vendor: string): void {
  if (!isRecord(model) || typeof model.id !== 'string') throw new RefusedList(`a model of ${named(vendor)} has no "id"`)
  const place = named(`${vendor}/${model.id}`)
  expectRule(model.match, place)
  const { prices } = model
  if (!Array.isArray(prices)) {
    expectAmounts(prices, place)
    return
  }
  if (prices.length === 0) throw new RefusedList(`${place} has no prices`)
  for (const each of prices) {
    if (!isRecord(each)) throw new RefusedList(`${place} has a price that is no object`)
    expectAmounts(each.prices, place)
    if (each.constraint !== undefined && !isConstraint(each.constraint))
      throw new RefusedList(`${place} has a price whose time cannot be read`)
  }
}

function isConstraint(value: unknown): boolean {
  if (!isRecord(value)) return false
  const isTime = (text: unknown) => typeof text === 'string' && !Number.isNaN(timeOfDay(text))
  const isDay = /^\d{4}-\d\d-\d\d$/.test(String(value.start_date)) && !Number.isNaN(Date.parse(String(value.start_date)))
  return isDay || (isTime(value.start_time) && isTime(value.end_time))
}

function expectAmounts(prices: unknown, place: string): void {
  if (!isRecord(prices)) throw new RefusedList(`${place} has no prices`)
  for (const key of Object.values(AMOUNTS)) expectAmount(prices[key], () => `${place}: ${key}`)
  const perThousand = prices[REQUESTS]
  if (perThousand !== undefined) expectUsd(perThousand, () => `${place}: ${REQUESTS}`)
}

function expectAmount(amount: unknown, place: () => string): void {
  if (amount === undefined) return
  if (!isRecord(amount)) {
    expectUsd(amount, place)
    return
  }
  expectUsd(amount.base, place)
  if (!Array.isArray(amount.tiers)) throw new RefusedList(`${place()} has no tiers`)
  for (const tier of amount.tiers) {
    if (!isRecord(tier) || !Number.isSafeInteger(tier.start)) throw new RefusedList(`${place()} has a tier without a "start"`)
    expectUsd(tier.price, place)
  }
}

/** The longest expression, in characters. */
const MAX_REGEX = 200

function expectRule(rule: unknown, place: string): void {
  const bad = () => new RefusedList(`${place} has a rule for names that cannot be used`)
  const [entry, ...others] = isRecord(rule) ? Object.entries(rule) : []
  if (entry === undefined || others.length > 0) throw bad()
  const [kind, value] = entry
  if (kind === 'or' || kind === 'and') {
    if (!Array.isArray(value)) throw bad()
    for (const each of value) expectRule(each, place)
  } else if (typeof value !== 'string' || !KINDS.has(kind) || (kind === 'regex' && !isSafe(value))) throw bad()
}

const KINDS: ReadonlySet<string> = new Set(['equals', 'starts_with', 'ends_with', 'contains', 'regex'])

/** An expression with a repeated group, or one that refers to a group, may never end for a name that a client has made for it. */
function isSafe(regex: string): boolean {
  if (regex.length > MAX_REGEX || /\)[*+{]|\\[1-9k]/.test(regex)) return false
  try {
    new RegExp(regex)
    return true
  } catch {
    return false
  }
}
