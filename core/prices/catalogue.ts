import type * as GenaiPrices from '@pydantic/genai-prices'
import { versionOf } from '../config/kept-lists.ts'
import type { SourceName } from '../config/schema/prices.ts'
import { parseWithin } from '../protocol/upstream-json.ts'
import { correctionOf, correctionsOf, withRules } from './corrections.ts'
import { readGenaiPrices } from './genai-prices.ts'
import { readLitellm } from './litellm.ts'
import { createPrice, type Price, type UsdPrice } from './price.ts'
import { type Listed, type ListedClass, type PublishedList, RefusedList } from './published-list.ts'

/** A price of the catalogue, and until when it may be used: some vendors' prices change with the date or the time of day. */
export interface CataloguePrice {
  readonly price: Price
  /** Milliseconds since 1970. */
  readonly until: number
}

/** What a second list says of a model. */
export interface SecondPrice {
  /** Of the list. */
  readonly name: string
  readonly usd: UsdPrice
  /** The classes of tokens whose price is another one there. */
  readonly differs: readonly ListedClass[]
}

/** The list prices of vendors: of genai-prices, and where it has none, of LiteLLM. Nothing is read from the network. */
export interface Catalogue {
  /** The lists that are in use, the first one first. */
  readonly lists: readonly PublishedList[]
  /** What is wrong with the texts that are not used. */
  readonly notices: readonly string[]
  /** The price of a model at a time; undefined if the vendor has no such model, or no price for its tokens. `model`: the vendor's name. */
  find(vendor: string, model: string, now: number): CataloguePrice | undefined
  /** What the second list says of a model; undefined without a second list, or without a price in it. */
  second(vendor: string, model: string, now: number): SecondPrice | undefined
  /** The price of the dearest model of a vendor, by its input and output together. */
  dearest(vendor: string, now: number): Price | undefined
  /** The context window of a model in tokens; undefined if it is not known. `model`: the vendor's name. */
  contextLengthOf(vendor: string, model: string): number | undefined
  /** Whether the catalogue has a vendor. */
  has(vendor: string): boolean
  /** The models of a vendor, by the names that the catalogue has for them. */
  models(vendor: string): readonly string[]
}

/** Texts of lists that are used instead of the one in the package, as their sources publish them. */
export type ListTexts = { readonly [Name in SourceName]?: string | undefined }

/** The version of `@pydantic/genai-prices`: its package does not export it. A test compares it with package.json. */
const VERSION = '0.1.8'

/** The list in the package, of some 0.8 MB of source. */
export async function packagedList(): Promise<PublishedList> {
  const library: typeof GenaiPrices = await import('@pydantic/genai-prices')
  packaged ??= readGenaiPrices(await library.waitForUpdate(), VERSION)
  return packaged
}

let packaged: PublishedList | undefined

/** Reads a list as its source publishes it. Throws `RefusedList`. */
export function readList(source: SourceName, text: string): PublishedList {
  const version = versionOf(text)
  return source === 'litellm' ? readLitellm(parse(text), version) : readGenaiPrices(parse(text), version)
}

function parse(text: string): unknown {
  try {
    return parseWithin(text, MAX_VALUES)
  } catch {
    throw new RefusedList('it is no JSON, or has far too many values')
  }
}

/** Three times as many as LiteLLM's list of 2026-11 has. */
const MAX_VALUES = 500_000

/** A text that was read. */
interface ReadText {
  readonly text: string
  readonly list?: PublishedList
  /** Why there is no list. */
  readonly why?: string
}

/** The texts read last: most versions of routes.yaml have the same. */
const read = new Map<SourceName, ReadText>()

function readOnce(source: SourceName, text: string): ReadText {
  const known = read.get(source)
  if (known?.text === text) return known
  const result = { text, ...tryRead(source, text) }
  read.set(source, result)
  return result
}

function tryRead(source: SourceName, text: string): Omit<ReadText, 'text'> {
  try {
    return { list: readList(source, text) }
  } catch (error) {
    if (error instanceof RefusedList) return { why: error.message }
    throw error
  }
}

/** Loads the catalogue: only where a namespace needs it. A list that cannot be read, or is older than the package's, is left out. */
export async function loadCatalogue(texts: ListTexts = {}): Promise<Catalogue> {
  const own = await packagedList()
  const notices: string[] = []
  const listOf = (source: SourceName): PublishedList | undefined => {
    const text = texts[source]
    if (text === undefined) return undefined
    const { list, why } = readOnce(source, text)
    if (why !== undefined) notices.push(`the list of ${source} that is kept is not used: ${why}; run umg prices update`)
    return list
  }
  const newer = listOf('genai-prices')
  const isOlder = newer !== undefined && isBefore(newer, own)
  if (isOlder) notices.push(`the list of genai-prices that is kept is older than the one in the package; run umg prices update`)
  return new TwoLists(newer === undefined || isOlder ? own : newer, listOf('litellm'), notices)
}

/** Whether a list is older than another one, as far as the days tell that they name. */
export const isBefore = (list: PublishedList, other: PublishedList): boolean => (list.latest ?? '') < (other.latest ?? '')

class TwoLists implements Catalogue {
  readonly #first: PublishedList
  readonly #second: PublishedList | undefined
  readonly notices: readonly string[]

  constructor(first: PublishedList, second: PublishedList | undefined, notices: readonly string[]) {
    this.#first = first
    this.#second = second
    this.notices = notices
  }

  get lists(): readonly PublishedList[] {
    return this.#second === undefined ? [this.#first] : [this.#first, this.#second]
  }

  has(vendor: string): boolean {
    return this.lists.some((list) => list.has(vendor))
  }

  models(vendor: string): readonly string[] {
    return [...new Set([...this.lists.flatMap((list) => list.models(vendor)), ...correctionsOf(vendor).map(({ id }) => id)])]
  }

  contextLengthOf(vendor: string, model: string): number | undefined {
    const now = Date.now()
    const listed = this.#first.find(vendor, model, now)
    const corrected = correctionOf(vendor, model, listed, now)
    return corrected?.context ?? listed?.context ?? this.#second?.find(vendor, model, now)?.context
  }

  find(vendor: string, model: string, now: number): CataloguePrice | undefined {
    const listed = this.#first.find(vendor, model, now)
    const other = this.#second?.find(vendor, model, now)
    const corrected = correctionOf(vendor, model, listed, now)
    if (corrected !== undefined) return priced(vendor, model, `${this.#first.name} corrected`, corrected, other?.usd)
    if (listed?.usd !== undefined) return priced(vendor, model, this.#first.name, listed, other?.usd)
    return other && priced(vendor, model, this.#second!.name, other, undefined)
  }

  second(vendor: string, model: string, now: number): SecondPrice | undefined {
    const usd = this.#second?.find(vendor, model, now)?.usd
    if (usd === undefined) return undefined
    const listed = this.#first.find(vendor, model, now)
    const own = (correctionOf(vendor, model, listed, now) ?? listed)?.usd
    return { name: this.#second!.name, usd, differs: own === undefined ? [] : classesThatDiffer(own, usd) }
  }

  dearest(vendor: string, now: number): Price | undefined {
    const all = this.lists.flatMap((list) => [...list.prices(vendor, now)].map(([id, usd]) => ({ list, id, usd })))
    const sumOf = ({ usd }: { readonly usd: UsdPrice }) => (usd.input ?? 0) + (usd.output ?? 0)
    const [dearest] = all
      .filter(({ usd }) => usd.input !== undefined && usd.output !== undefined)
      .sort((a, b) => sumOf(b) - sumOf(a))
    return dearest && createPrice(`${dearest.list.name} ${vendor}/${dearest.id}`, dearest.usd)
  }
}

/** A listed price with what else is known of the model: the rules of its vendor, and the second list where both agree on the input. */
function priced(
  vendor: string,
  model: string,
  name: string,
  { id, usd, when, until }: Listed,
  other?: UsdPrice,
): CataloguePrice | undefined {
  if (usd === undefined) return undefined
  // Of long prompts, a class that is filled in would cost as of short ones.
  const isAgreed = other !== undefined && other.input === usd.input && usd.tiers?.length === 0
  const filled = isAgreed ? { ...other, ...definedOf(usd), tiers: usd.tiers, variants: other.variants } : usd
  const full = withRules(vendor, model, { ...filled, variants: other?.variants ?? filled.variants })
  return { price: createPrice(`${name} ${vendor}/${id}${when}`, full), until }
}

const definedOf = (usd: UsdPrice): UsdPrice =>
  Object.fromEntries(Object.entries(usd).filter(([, amount]) => amount !== undefined))

/** The classes that reports compare. */
const COMPARED = ['input', 'cachedInput', 'cacheWrite', 'cacheWrite1h', 'output'] as const

/** The classes that both have, at different prices. */
const classesThatDiffer = (one: UsdPrice, other: UsdPrice): readonly ListedClass[] =>
  COMPARED.filter((name) => one[name] !== undefined && other[name] !== undefined && Math.abs(one[name]! - other[name]!) > 1e-9)
