import { type ClassCounts, TOKEN_CLASSES, type TokenClass, tokenClasses } from '../../protocol/usage.ts'
import { leavesOpen, type ServedVariants, type VariantName, variantsIn } from '../../protocol/variants.ts'
import { type Call, type Cost, documentsOf, picturesAsked, type Usage } from '../../sdk/api.ts'

/** US dollars per million tokens of each class. A class without a price costs as its parent does. */
export type UsdPerMillion = { readonly [Class in TokenClass]?: number | undefined }

/** Prices of prompts with more than so many tokens; those of other classes are the price's own. */
export interface UsdTier extends UsdPerMillion {
  readonly above: number
}

/** The price of a picture of this size and quality, as the call names them; absent: of any. */
export interface PicturePrice {
  readonly usd: number
  readonly size?: string | undefined
  readonly quality?: string | undefined
}

/** What a model costs beside its tokens. */
export interface UsdExtras {
  /** For each picture that a call asks for: the first that fits. */
  readonly pictures?: readonly PicturePrice[] | undefined
  /** For each search of a rerank. */
  readonly search?: number | undefined
  /** The factor of the price of all tokens of a call that asks for another service than the usual one, by member and value. */
  readonly variants?: { readonly [Name in VariantName]?: Readonly<Record<string, number>> | undefined } | undefined
}

/** A price in US dollars, as routes.yaml and price lists have it. */
export interface UsdPrice extends UsdPerMillion, UsdExtras {
  /** For each call. */
  readonly request?: number | undefined
  readonly tiers?: readonly UsdTier[] | undefined
  /** Of list prices: what all tokens cost at an address that keeps calls in a region, so many times their price. */
  readonly regional?: number | undefined
}

/** A list price at an address that keeps calls in a region. */
export function inRegion(usd: UsdPrice): UsdPrice {
  const { regional = 1, tiers } = usd
  const times = <Amounts extends UsdPerMillion>(amounts: Amounts): Amounts => ({
    ...amounts,
    ...Object.fromEntries(CLASSES.flatMap((name) => (amounts[name] === undefined ? [] : [[name, amounts[name] * regional]]))),
  })
  return { ...times(usd), tiers: tiers?.map(times) }
}

/** The price of a model. */
export interface Price {
  /** Its source and version: calls with different prices have different names. */
  readonly name: string
  /** Nano-dollars for each call. */
  readonly request: number
  /** By the length of the prompt, the longest first; the last one is for all others. */
  readonly tiers: readonly Tier[]
  readonly extras: UsdExtras
}

/** The rates of prompts with more than `above` tokens. All tokens of such a call cost these. */
interface Tier {
  readonly above: number
  /** Pico-dollars per token, the same number as micro-dollars per million; undefined: unknown. */
  readonly rates: { readonly [Class in TokenClass]: number | undefined }
  /** The most that a token of the prompt, of an answer without sound, and of any answer may cost; NaN: unknown. */
  readonly highest: { readonly input: number; readonly silent: number; readonly output: number }
}

const CLASSES = Object.keys(TOKEN_CLASSES) as TokenClass[]

/** The classes of a prompt, and of an answer: each token costs at most the highest of their rates. */
const INPUT = CLASSES.filter((name) => rootOf(name) === 'input')
const OUTPUT = CLASSES.filter((name) => rootOf(name) === 'output')
const SILENT = OUTPUT.filter((name) => name !== 'outputAudio')

function rootOf(name: TokenClass): TokenClass {
  const parent = TOKEN_CLASSES[name]
  return parent === undefined ? name : rootOf(parent)
}

/** The most US dollars per million tokens, and per call: with more, the cost of a call would not be exact. */
export const MAX_USD = 1000

/** Makes a price of its amounts in US dollars. Amounts are rounded to the millionth of a dollar. Throws a RangeError beyond `MAX_USD`. */
export function createPrice(name: string, price: UsdPrice): Price {
  const { request = 0, tiers = [], pictures, search, variants, regional: _, ...base } = price
  const longestFirst = tiers.toSorted((a, b) => b.above - a.above)
  return {
    name,
    request: nanos(request),
    extras: { pictures, search, variants },
    tiers: [...longestFirst, { above: -1 }].map(({ above, ...own }) => createTier(above, { ...base, ...defined(own) })),
  }
}

function createTier(above: number, usd: UsdPerMillion): Tier {
  const rates = ratesOf(usd)
  const highest = (classes: readonly TokenClass[]) => Math.max(...classes.map((name) => rates[name] ?? Number.NaN))
  return { above, rates, highest: { input: highest(INPUT), silent: highest(SILENT), output: highest(OUTPUT) } }
}

/** The price of what costs nothing. */
export const freePrice = (name: string): Price => createPrice(name, { input: 0, output: 0 })

function ratesOf(usd: UsdPerMillion): Tier['rates'] {
  const rateOf = (name: TokenClass): number | undefined => {
    const parent = TOKEN_CLASSES[name]
    if (usd[name] !== undefined) return micros(usd[name])
    return parent && rateOf(parent)
  }
  return Object.fromEntries(CLASSES.map((name) => [name, rateOf(name)])) as Tier['rates']
}

const defined = (usd: UsdPerMillion): UsdPerMillion =>
  Object.fromEntries(Object.entries(usd).filter(([, amount]) => amount !== undefined))

function micros(usd: number): number {
  if (!(usd >= 0 && usd <= MAX_USD)) throw new RangeError(`a price must be from 0 to ${MAX_USD} USD, but is ${usd}`)
  return Math.round(usd * 1e6)
}

const nanos = (usd: number): number => micros(usd) * 1000

/** A price with what a model costs beside its tokens. `text`: of the extras, for its name. */
export const withExtras = (price: Price, extras: UsdExtras, text: string): Price => ({
  ...price,
  name: `${price.name} ${text}`,
  extras,
})

/** A call whose cost is computed, in its client's own protocol, or as its upstream got it. */
export type PricedCall = Pick<Call, 'endpoint' | 'member' | 'size' | 'large'>

/**
 * The cost of a call; undefined if it has tokens of a class whose price is unknown. Exact, and rounded once, to the nano-dollar. A service
 * without a price of its own costs as the usual one. `served`: the services that the reply names.
 */
export function costOf(price: Price, usage: Usage, call?: PricedCall, served?: ServedVariants): Cost | undefined {
  const counts = tokenClasses(usage)
  const { rates } = tierOf(price, promptOf(counts))
  const sum = new Sum()
  for (const name of CLASSES) {
    const tokens = counts[name]
    if (tokens === 0) continue
    const rate = rates[name]
    if (rate === undefined) return undefined
    sum.add(tokens, rate)
  }
  const { factor, text } = call === undefined ? USUAL : serviceOf(price, call, served)
  const beside = besideTokens(price, call)
  if (beside === undefined) return undefined
  const saved = Math.round(savedBy(counts, rates) * factor)
  return {
    nanoUsd: beside + Math.round(sum.nanoUsd * factor),
    ...(saved > 0 && { savedNanoUsd: saved }),
    price: price.name + text,
  }
}

/** The classes of tokens that are read from a cache, and those that they are of without one. */
const UNCACHED = [
  ['cachedInput', 'input'],
  ['cachedInputAudio', 'inputAudio'],
] as const

/** Nano-dollars that tokens from a cache would have cost more without it. */
function savedBy(counts: ClassCounts, rates: Tier['rates']): number {
  const sum = new Sum()
  for (const [cached, uncached] of UNCACHED)
    if (counts[cached] > 0) sum.add(counts[cached], Math.max(0, (rates[uncached] ?? 0) - rates[cached]!))
  return sum.nanoUsd
}

/** What two attempts of a call cost together, by the prices of both; undefined if either is unknown. */
export function sumOfCosts(first: Cost | undefined, second: Cost | undefined): Cost | undefined {
  if (first === undefined || second === undefined) return undefined
  const isNamed = first.price.split(AND).includes(second.price)
  const saved = (first.savedNanoUsd ?? 0) + (second.savedNanoUsd ?? 0)
  return {
    nanoUsd: first.nanoUsd + second.nanoUsd,
    ...(saved > 0 && { savedNanoUsd: saved }),
    price: isNamed ? first.price : first.price + AND + second.price,
  }
}

/** Between the names of prices. */
const AND = ' + '

/** What a call asks for that has no price: the member and its value. */
export interface Unpriced {
  readonly member: string
  readonly value: string
}

/** The first service that a call asks for, and that has no price of its own. A model whose tokens cost nothing needs none. */
export function unpricedService({ tiers, extras: { variants } }: Price, call: PricedCall): Unpriced | undefined {
  if (tiers.every(({ highest }) => highest.input === 0 && highest.output === 0)) return undefined
  const unpriced = variantsIn(call).find(({ name, value }) => !hasOwn(variants?.[name], value))
  return unpriced && { member: unpriced.name, value: unpriced.value }
}

interface Service {
  /** The factor of the price of tokens. */
  readonly factor: number
  /** For the name of the price. */
  readonly text: string
}

const USUAL: Service = { factor: 1, text: '' }

function serviceOf({ extras: { variants } }: Price, call: PricedCall, served?: ServedVariants): Service {
  if (variants === undefined) return USUAL
  const priced = variantsIn(call, served).filter(({ name, value }) => hasOwn(variants[name], value))
  const factor = priced.reduce((product, { name, value }) => product * variants[name]![value]!, 1)
  return { factor, text: priced.map(({ name, value }) => ` ${name}=${value}`).join('') }
}

/** The most by which the price may be multiplied: an upstream may serve a call by the usual service, and by any if the call leaves that open. */
function highestFactor(price: Price, call: PricedCall): number {
  const { variants } = price.extras
  if (variants === undefined) return 1
  const open = Object.entries(variants).filter(([name]) => leavesOpen(name as VariantName, call))
  const dearest = open.reduce((product, [, factors = {}]) => product * Math.max(1, ...Object.values(factors)), 1)
  return dearest * Math.max(1, serviceOf(price, call).factor)
}

const hasOwn = (object: object | undefined, key: string): boolean => object !== undefined && Object.hasOwn(object, key)

/** Nano-dollars for the call, its pictures and its searches; undefined if no price of its pictures fits. */
function besideTokens({ request, extras }: Price, call: PricedCall | undefined): number | undefined {
  const { pictures, search } = extras
  if (call === undefined || (pictures === undefined && search === undefined)) return request
  const searches = search === undefined ? 0 : nanos(search) * searchesOf(call)
  const asked = pictures === undefined ? 0 : picturesAsked(call)
  if (asked === 0) return request + searches
  const usd = dearestPicture(pictures!, call)
  return usd === undefined ? undefined : request + searches + asked * nanos(usd)
}

/**
 * The price of the first picture that surely fits. Before it, one that fits if the upstream's own choice is as it says counts too: of these,
 * the dearest.
 */
function dearestPicture(prices: readonly PicturePrice[], call: PricedCall): number | undefined {
  let dearest: number | undefined
  for (const { usd, ...asked } of prices) {
    const fits = Object.entries(asked).map(([name, value]) =>
      fitOf(
        call.member(name),
        value,
        prices.map((each) => each[name as 'size']),
      ),
    )
    if (fits.includes('no')) continue
    dearest = Math.max(dearest ?? 0, usd)
    if (!fits.includes('maybe')) break
  }
  return dearest
}

/** A value that no price names may mean any of them to the upstream, as `auto` and an absent one do. */
function fitOf(sent: unknown, value: string | undefined, known: readonly (string | undefined)[]): 'yes' | 'maybe' | 'no' {
  if (value === undefined || sent === value) return 'yes'
  return typeof sent === 'string' && known.includes(sent) ? 'no' : 'maybe'
}

/**
 * Cohere bills a search for each 100 documents (cohere.com/pricing as quoted on 2026-10-18 by developersdigest.tech), and a document for each
 * 500 tokens of it. The latter is not confirmed, and the higher price: docs.cohere.com/docs/reranking-best-practices, read 2026-11-26, splits
 * documents for newer models from 32,764 tokens only, and says nothing of bills.
 */
const SEARCH = { documents: 100, bytes: 2000 } as const

const searchesOf = (call: PricedCall): number =>
  call.endpoint === 'rerank' ? Math.ceil((documentsOf(call) + call.size / SEARCH.bytes) / SEARCH.documents) : 0

/** The most that a call can use. */
export interface TokenEstimate {
  readonly input: number
  /** The most tokens of the answer. */
  readonly output: number
  /** Whether the answer has no sound. */
  readonly silent?: boolean
}

/**
 * The most nano-dollars that a call can cost whose prompt and answer have at most so many tokens, whatever their classes are; undefined
 * if a price is unknown.
 */
export function highestCost(price: Price, { input, output, silent }: TokenEstimate, call?: PricedCall): number | undefined {
  const most = { input: 0, output: 0 }
  for (const { above, highest } of price.tiers) {
    if (above >= input) continue
    most.input = Math.max(most.input, highest.input)
    most.output = Math.max(most.output, silent ? highest.silent : highest.output)
  }
  const sum = new Sum()
  if (input > 0) sum.add(input, most.input)
  if (output > 0) sum.add(output, most.output)
  const beside = besideTokens(price, call)
  const nanoUsd = sum.nanoUsd * (call === undefined ? 1 : highestFactor(price, call))
  return beside === undefined || Number.isNaN(nanoUsd) ? undefined : beside + Math.ceil(nanoUsd)
}

function promptOf(counts: ClassCounts): number {
  let tokens = 0
  for (const name of INPUT) tokens += counts[name]
  return tokens
}

/** The last tier is above −1: every prompt has one. */
const tierOf = ({ tiers }: Price, prompt: number): Tier =>
  tiers.length === 1 ? tiers[0]! : tiers.find(({ above }) => prompt > above)!

/**
 * A sum of tokens by rates in pico-dollars. Whole nano-dollars and the rest are added separately: both stay below 2^53, where their
 * product would not.
 */
class Sum {
  #whole = 0
  #rest = 0

  add(tokens: number, rate: number): void {
    const rest = rate % 1000
    this.#whole += tokens * ((rate - rest) / 1000)
    this.#rest += tokens * rest
  }

  get nanoUsd(): number {
    return this.#whole + Math.round(this.#rest / 1000)
  }
}
