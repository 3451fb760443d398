import type * as GenaiPrices from '@pydantic/genai-prices'
import type { SourceName } from '../../config/schema/prices.ts'
import { correctionOf, correctionsOf, withRules } from './corrections.ts'
import { expectVendors, genaiList } from './genai-prices.ts'
import { type ListReader, type Refused, readHere } from './list-data.ts'
import { createPrice, inRegion, type Price, type UsdPrice } from './price.ts'
import type { Listed, ListedClass, PublishedList } from './published-list.ts'

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
  /**
   * The price of a model at a time; undefined if the vendor has no such model, or no price for its tokens. `model`: the vendor's name.
   * `isRegional`: whether the model is called at an address that keeps calls in a region.
   */
  find(vendor: string, model: string, now: number, isRegional?: boolean): CataloguePrice | undefined
  /** What the second list says of a model; undefined without a second list, or without a price in it. */
  second(vendor: string, model: string, now: number): SecondPrice | undefined
  /** The price of the dearest model of a vendor, by its input and output together. */
  dearest(vendor: string, now: number, isRegional?: boolean): Price | undefined
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
  packaged ??= genaiList(expectVendors(await library.waitForUpdate()), VERSION)
  return packaged
}

let packaged: PublishedList | undefined

/** A text that was read. */
interface ReadText {
  readonly text: string
  readonly list: PublishedList | Refused
}

/** The texts read last: most versions of routes.yaml have the same. */
const readLast = new Map<SourceName, ReadText>()

/**
 * Loads the catalogue: only where a namespace needs it. A list that cannot be read, or is older than the package's, is left out. `read`: how a
 * text is read.
 */
export async function loadCatalogue(texts: ListTexts = {}, read: ListReader = readHere): Promise<Catalogue> {
  const own = await packagedList()
  const notices: string[] = []
  const listOf = async (source: SourceName): Promise<PublishedList | undefined> => {
    const text = texts[source]
    if (text === undefined) return undefined
    const known = readLast.get(source)
    const list = known?.text === text ? known.list : await read({ source, text })
    readLast.set(source, { text, list })
    if (!('refused' in list)) return list
    notices.push(`the list of ${source} that is kept is not used: ${list.refused}; run umg prices update`)
    return undefined
  }
  const newer = await listOf('genai-prices')
  const isOlder = newer !== undefined && isBefore(newer, own)
  if (isOlder) notices.push(`the list of genai-prices that is kept is older than the one in the package; run umg prices update`)
  return new TwoLists(newer === undefined || isOlder ? own : newer, await listOf('litellm'), notices)
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

  find(vendor: string, model: string, now: number, isRegional = false): CataloguePrice | undefined {
    const listed = this.#first.find(vendor, model, now)
    const other = this.#second?.find(vendor, model, now)
    const corrected = correctionOf(vendor, model, listed, now)
    const asked = { vendor, model, isRegional }
    if (corrected !== undefined) return priced(asked, `${this.#first.name} corrected`, corrected, other?.usd)
    if (listed?.usd !== undefined) return priced(asked, this.#first.name, listed, other?.usd)
    return other && priced(asked, this.#second!.name, other)
  }

  second(vendor: string, model: string, now: number): SecondPrice | undefined {
    const usd = this.#second?.find(vendor, model, now)?.usd
    if (usd === undefined) return undefined
    const listed = this.#first.find(vendor, model, now)
    const own = (correctionOf(vendor, model, listed, now) ?? listed)?.usd
    return { name: this.#second!.name, usd, differs: own === undefined ? [] : classesThatDiffer(own, usd) }
  }

  dearest(vendor: string, now: number, isRegional = false): Price | undefined {
    const all = this.lists.flatMap((list) => [...list.prices(vendor, now)].map(([id, usd]) => ({ list, id, usd })))
    const sumOf = ({ usd }: { readonly usd: UsdPrice }) => (usd.input ?? 0) + (usd.output ?? 0)
    const [dearest] = all
      .filter(({ usd }) => usd.input !== undefined && usd.output !== undefined)
      .sort((a, b) => sumOf(b) - sumOf(a))
    if (dearest === undefined) return undefined
    const { list, id, usd } = dearest
    return priced({ vendor, model: id, isRegional }, list.name, { id, usd, when: '', until: now, context: undefined })?.price
  }
}

/** A model that is called. */
interface Asked {
  readonly vendor: string
  /** The vendor's name. */
  readonly model: string
  readonly isRegional: boolean
}

/** A listed price with what else is known of the model: the rules of its vendor, and the second list where both agree on the input. */
function priced(
  { vendor, model, isRegional }: Asked,
  name: string,
  { id, usd, when, until }: Listed,
  other?: UsdPrice,
): CataloguePrice | undefined {
  if (usd === undefined) return undefined
  // Of long prompts, a class that is filled in would cost as of short ones.
  const isAgreed = other !== undefined && other.input === usd.input && usd.tiers?.length === 0
  const filled = isAgreed ? { ...other, ...definedOf(usd), tiers: usd.tiers } : usd
  const { variants = filled.variants, regional = filled.regional } = other ?? {}
  const full = withRules(vendor, model, { ...filled, variants, regional })
  const isDearer = isRegional && full.regional !== undefined
  const text = `${name} ${vendor}/${id}${when}${isDearer ? ` regional ×${full.regional}` : ''}`
  return { price: createPrice(text, isDearer ? inRegion(full) : full), until }
}

const definedOf = (usd: UsdPrice): UsdPrice =>
  Object.fromEntries(Object.entries(usd).filter(([, amount]) => amount !== undefined))

/** The classes that reports compare. */
const COMPARED = ['input', 'cachedInput', 'cacheWrite', 'cacheWrite1h', 'output'] as const

/** The classes that both have, at different prices. */
const classesThatDiffer = (one: UsdPrice, other: UsdPrice): readonly ListedClass[] =>
  COMPARED.filter((name) => one[name] !== undefined && other[name] !== undefined && Math.abs(one[name]! - other[name]!) > 1e-9)
