import { MAX_USD, type UsdPerMillion, type UsdPrice } from './price.ts'

/** What a published list says of a model at a time. */
export interface Listed {
  /** The list's name of it. */
  readonly id: string
  /** Undefined for a model that is not sold by the token. */
  readonly usd: UsdPrice | undefined
  /** What distinguishes one of a model's prices: ` since 2026-08-21`, ` from 00:30:00Z to 16:30:00Z`. */
  readonly when: string
  /** Milliseconds since 1970: some vendors' prices change with the date or the time of day. */
  readonly until: number
  /** The context window in tokens. */
  readonly context: number | undefined
}

/** The list prices of vendors, as one source publishes them. Vendors have the names of genai-prices. */
export interface PublishedList {
  /** The source and the version: `genai-prices 0.1.8`, `litellm 3f9a12bc`. */
  readonly name: string
  /** The latest day that the list names, as `2026-08-21`: a list that has none as late is older. Undefined if it names none. */
  readonly latest: string | undefined
  has(vendor: string): boolean
  /** `model`: the vendor's name. `now`: milliseconds since 1970. */
  find(vendor: string, model: string, now: number): Listed | undefined
  /** The models of a vendor, by the names that the list has for them. */
  models(vendor: string): readonly string[]
  /** The prices of a vendor's models, by these names. */
  prices(vendor: string, now: number): ReadonlyMap<string, UsdPrice>
}

/** A list cannot be used. The message names the place, and has no more of the list than a name and a number. */
export class RefusedList extends Error {
  override readonly name = 'RefusedList'
}

/** The classes of tokens whose prices lists have. */
export type ListedClass = keyof UsdPerMillion

/** An amount of a list in US dollars. Throws `RefusedList` for what is not an amount, or is beyond any real price. */
export function expectUsd(value: unknown, place: () => string): number {
  if (typeof value !== 'number' || !(value >= 0)) throw new RefusedList(`${place()} is ${shown(value)}, and no price`)
  if (value > MAX_USD) throw new RefusedList(`${place()} is ${value} USD: no price is above ${MAX_USD} USD`)
  return value
}

/** A text of a list: it is somebody else's, and goes to logs. */
export const named = (text: string): string => (/^[\w.:@/[\]=+-]{1,120}$/.test(text) ? text : JSON.stringify(text.slice(0, 60)))

const shown = (value: unknown): string => {
  if (value === undefined) return 'missing'
  return value === null || typeof value === 'number' ? String(value) : `a ${Array.isArray(value) ? 'list' : typeof value}`
}
