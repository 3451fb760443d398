import { type ClassCounts, TOKEN_CLASSES, type TokenClass, tokenClasses } from '../protocol/usage.ts'
import type { Cost, Usage } from '../sdk/api.ts'

/** US dollars per million tokens of each class. A class without a price costs as its parent does. */
export type UsdPerMillion = { readonly [Class in TokenClass]?: number | undefined }

/** Prices of prompts with more than so many tokens; those of other classes are the price's own. */
export interface UsdTier extends UsdPerMillion {
  readonly above: number
}

/** A price in US dollars, as routes.yaml and price lists have it. */
export interface UsdPrice extends UsdPerMillion {
  /** For each call. */
  readonly request?: number | undefined
  readonly tiers?: readonly UsdTier[] | undefined
}

/** The price of a model. */
export interface Price {
  /** Its source and version: calls with different prices have different names. */
  readonly name: string
  /** Nano-dollars for each call. */
  readonly request: number
  /** By the length of the prompt, the longest first; the last one is for all others. */
  readonly tiers: readonly Tier[]
}

/** The rates of prompts with more than `above` tokens. All tokens of such a call cost these. */
interface Tier {
  readonly above: number
  /** Pico-dollars per token, the same number as micro-dollars per million; undefined: unknown. */
  readonly rates: { readonly [Class in TokenClass]: number | undefined }
  /** The most that a token of the prompt, and of the answer, may cost; NaN: unknown. */
  readonly highest: { readonly input: number; readonly output: number }
}

const CLASSES = Object.keys(TOKEN_CLASSES) as TokenClass[]

/** The classes of a prompt, and of an answer: each token costs at most the highest of their rates. */
const INPUT = CLASSES.filter((name) => rootOf(name) === 'input')
const OUTPUT = CLASSES.filter((name) => rootOf(name) === 'output')

function rootOf(name: TokenClass): TokenClass {
  const parent = TOKEN_CLASSES[name]
  return parent === undefined ? name : rootOf(parent)
}

/** The most US dollars per million tokens, and per call: with more, the cost of a call would not be exact. */
export const MAX_USD = 1000

/** Makes a price of its amounts in US dollars. Amounts are rounded to the millionth of a dollar. Throws a RangeError beyond `MAX_USD`. */
export function createPrice(name: string, { request = 0, tiers = [], ...base }: UsdPrice): Price {
  const longestFirst = tiers.toSorted((a, b) => b.above - a.above)
  return {
    name,
    request: micros(request) * 1000,
    tiers: [...longestFirst, { above: -1 }].map(({ above, ...own }) => createTier(above, { ...base, ...defined(own) })),
  }
}

function createTier(above: number, usd: UsdPerMillion): Tier {
  const rates = ratesOf(usd)
  const highest = (classes: readonly TokenClass[]) => Math.max(...classes.map((name) => rates[name] ?? Number.NaN))
  return { above, rates, highest: { input: highest(INPUT), output: highest(OUTPUT) } }
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

/** The cost of a call; undefined if it has tokens of a class whose price is unknown. Exact, and rounded once, to the nano-dollar. */
export function costOf(price: Price, usage: Usage): Cost | undefined {
  const counts = tokenClasses(usage)
  const { rates } = tierOf(price, promptOf(counts))
  const sum = new Sum(price.request)
  for (const name of CLASSES) {
    const tokens = counts[name]
    if (tokens === 0) continue
    const rate = rates[name]
    if (rate === undefined) return undefined
    sum.add(tokens, rate)
  }
  return { nanoUsd: sum.nanoUsd, price: price.name }
}

/** The length of a prompt, before it is known. */
export interface TokenEstimate {
  readonly input: number
  /** The most tokens of the answer. */
  readonly output: number
}

/**
 * The most nano-dollars that a call can cost whose prompt and answer have at most so many tokens, whatever their classes are; undefined
 * if a price is unknown.
 */
export function highestCost({ request, tiers }: Price, { input, output }: TokenEstimate): number | undefined {
  const most = { input: 0, output: 0 }
  for (const { above, highest } of tiers) {
    if (above >= input) continue
    most.input = Math.max(most.input, highest.input)
    most.output = Math.max(most.output, highest.output)
  }
  const sum = new Sum(request)
  if (input > 0) sum.add(input, most.input)
  if (output > 0) sum.add(output, most.output)
  return Number.isNaN(sum.nanoUsd) ? undefined : sum.nanoUsd
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
  #whole: number
  #rest = 0

  constructor(nanoUsd: number) {
    this.#whole = nanoUsd
  }

  add(tokens: number, rate: number): void {
    const rest = rate % 1000
    this.#whole += tokens * ((rate - rest) / 1000)
    this.#rest += tokens * rest
  }

  get nanoUsd(): number {
    return this.#whole + Math.round(this.#rest / 1000)
  }
}
