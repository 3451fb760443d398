import { hash } from 'node:crypto'
import { BoundedMap } from '../../async/bounded-map.ts'
import type { Config, ModelPriceConfig, NamespaceConfig, PricesConfig } from '../../config/config.ts'
import type { KnownFacts } from '../../protocol/known-model.ts'
import type { ServedVariants } from '../../protocol/variants.ts'
import type { Cost, Served, Usage } from '../../sdk/api.ts'
import { ConfigError, type Diagnostic } from '../../text/diagnostic.ts'
import { matchesGlob } from '../../text/glob.ts'
import { type Catalogue, type CataloguePrice, loadCatalogue, type SecondPrice } from './catalogue.ts'
import type { ListReader } from './list-data.ts'
import { knownOutputLimitOf, LARGEST_CONTEXT, outputLimitOf, pictureTokensOf } from './model-limits.ts'
import {
  costOf,
  createPrice,
  freePrice,
  highestCost,
  type Price,
  type PricedCall,
  type TokenEstimate,
  type Unpriced,
  type UsdPrice,
  unpricedService,
  withExtras,
} from './price.ts'
import { isRegional, vendorOf } from './vendors.ts'

/** The most models of a namespace whose prices are kept: clients may name any model of some upstreams. */
const MAX_MODELS = 1000

/** The provider whose calls cost nothing: the sandbox, which also serves test keys. */
const SANDBOX = 'sandbox'

const NO_MODELS: ReadonlySet<string> = new Set()

/** Providers whose upstreams have names of their own for models: deployments, profiles, publishers. */
const RENAMING = ['azure-openai', 'bedrock', 'vertex']

const FOREVER = Number.POSITIVE_INFINITY

/** What is known of a model's price, and until when. */
interface Known {
  readonly price: Price | undefined
  readonly until: number
}

/** What bounds a call to a model, in tokens. */
export interface ModelLimits {
  /** The context window, or `LARGEST_CONTEXT`. */
  readonly context: number
  /** The most that it writes; if that is unknown, a number that it surely can write. */
  readonly output: number
  /** The largest price of one picture in the prompt. */
  readonly picture: number
}

/** The prices of one version of routes.yaml: its own, and those of the catalogue. */
export class PriceList {
  /** What a caller with a budget may do with a model without a price. */
  readonly #unpriced: PricesConfig['unpriced']
  readonly #given: Price | undefined
  readonly #exact: ReadonlyMap<string, ModelPriceConfig>
  readonly #globs: readonly ModelPriceConfig[]
  /** By namespace. */
  readonly #vendors: ReadonlyMap<string, string>
  /** The namespaces whose address keeps calls in a region. */
  readonly #regional: ReadonlySet<string>
  readonly #catalogue: Catalogue | undefined
  readonly #known = new Map<string, BoundedMap<string, Known>>()
  /** By namespace, once it was asked for. */
  readonly #dearest = new Map<string, Price | undefined>()
  /** By namespace, once it was asked for. */
  readonly #listed = new Map<string, ReadonlySet<string>>()
  readonly #sandbox = freePrice('sandbox')

  private constructor(
    { models, unpriced }: PricesConfig,
    vendors: ReadonlyMap<string, string>,
    regional: ReadonlySet<string>,
    catalogue: Catalogue | undefined,
  ) {
    this.#exact = new Map(models.filter(({ glob }) => !glob.includes('*')).map((entry) => [entry.glob, entry]))
    this.#globs = models.filter(({ glob }) => glob.includes('*'))
    this.#vendors = vendors
    this.#regional = regional
    this.#catalogue = catalogue
    this.#unpriced = unpriced
    this.#given = typeof unpriced === 'string' ? undefined : createPrice(`${nameOf(unpriced)} for unpriced models`, unpriced)
  }

  /**
   * Creates the list of a Config. Loads the catalogue only if a namespace may need it; `read`: how texts of lists are read. Throws a ConfigError for
   * an unknown `like`.
   */
  static async create({ prices, namespaces }: Pick<Config, 'prices' | 'namespaces'>, read?: ListReader): Promise<PriceList> {
    const vendors = new Map(
      [...namespaces.values()].flatMap(({ name, plugin, config, dormant }) => {
        const vendor = dormant === undefined ? vendorOf(plugin.name, config) : undefined
        return vendor === undefined ? [] : [[name, vendor] as const]
      }),
    )
    const alike = prices.models.filter(({ price }) => price.like !== undefined)
    const catalogue = vendors.size + alike.length > 0 ? await loadCatalogue(prices.lists.kept, read) : undefined
    const diagnostics = alike.flatMap((entry) =>
      lookUp(catalogue!, entry.price.like!, 0) ? [] : [unknownLike(entry, catalogue!)],
    )
    if (diagnostics.length > 0) throw new ConfigError(diagnostics)
    const regional = [...namespaces.values()].filter(({ plugin, config }) => isRegional(plugin.name, config))
    return new PriceList(prices, vendors, new Set(regional.map(({ name }) => name)), catalogue)
  }

  /** The price of a model at an upstream; undefined if none is known. `now`: milliseconds since 1970. */
  priceOf({ namespace, model, provider }: Served, now = Date.now()): Price | undefined {
    if (provider === SANDBOX) return this.#sandbox
    let models = this.#known.get(namespace)
    if (models === undefined) {
      models = new BoundedMap(MAX_MODELS)
      this.#known.set(namespace, models)
    }
    const known = models.get(model)
    if (known !== undefined && now < known.until) return known.price
    const found = this.#find(namespace, model, now)
    models.set(model, found)
    return found.price
  }

  /** What the second list says of a model; undefined if nothing, or routes.yaml sets its price. */
  secondOf({ namespace, model }: Pick<Served, 'namespace' | 'model'>): SecondPrice | undefined {
    const vendor = this.#vendors.get(namespace)
    const isOwn = vendor === undefined || this.#entryOf(namespace, model) !== undefined
    return isOwn ? undefined : this.#catalogue!.second(vendor, model, Date.now())
  }

  /** The models of a namespace's vendor, by the names that the lists have for them. */
  listedModels(namespace: string): readonly string[] {
    const vendor = this.#vendors.get(namespace)
    return vendor === undefined ? [] : this.#catalogue!.models(vendor)
  }

  /** The same, if the upstream of the namespace has the models by these names, too. */
  callableModels({ name, plugin }: Pick<NamespaceConfig, 'name' | 'plugin'>): ReadonlySet<string> {
    if (RENAMING.includes(plugin.name)) return NO_MODELS
    let listed = this.#listed.get(name)
    if (listed === undefined) {
      listed = new Set(this.listedModels(name))
      this.#listed.set(name, listed)
    }
    return listed
  }

  /** What is wrong with the lists that are kept. */
  get notices(): readonly string[] {
    return this.#catalogue?.notices ?? []
  }

  /** The context window of a model in tokens; undefined if the catalogue does not have it. */
  contextLengthOf({ namespace, model }: Pick<Served, 'namespace' | 'model'>): number | undefined {
    const vendor = this.#vendors.get(namespace)
    return vendor === undefined ? undefined : this.#catalogue!.contextLengthOf(vendor, model)
  }

  /** What is known of a model, without estimates. */
  factsOf(served: Served): KnownFacts {
    const vendor = this.#vendors.get(served.namespace)
    const price = this.priceOf(served)
    return {
      context: this.contextLengthOf(served),
      output: vendor === undefined ? undefined : knownOutputLimitOf(vendor, served.model),
      price: price && { name: price.name, rates: price.tiers.at(-1)!.rates, request: price.request },
    }
  }

  /** What bounds a call to a model, by the model of the vendor that it is or is priced like. */
  limitsOf(served: Pick<Served, 'namespace' | 'model'>): ModelLimits {
    const [vendor, model] = this.#vendorModel(served)
    const context = vendor === undefined ? undefined : this.#catalogue!.contextLengthOf(vendor, model)
    return {
      context: context ?? LARGEST_CONTEXT,
      output: Math.min(outputLimitOf(vendor, model), context ?? Number.POSITIVE_INFINITY),
      picture: pictureTokensOf(vendor, model),
    }
  }

  /** The cost of a model's usage by a call; undefined if no price is known. `variants`: the services that the reply names. */
  costOf(served: Served, usage: Usage, call?: PricedCall, variants?: ServedVariants): Cost | undefined {
    const price = this.priceOf(served)
    return price && costOf(price, usage, call, variants)
  }

  /** What a caller with a budget pays for a model's usage; undefined if no price is known, and none is charged instead. */
  chargeOf(served: Served, usage: Usage, call?: PricedCall, variants?: ServedVariants): Cost | undefined {
    const cost = this.costOf(served, usage, call, variants)
    if (cost !== undefined) return cost
    const price = this.#priceOfUnpriced(served)
    return price && costOf(price, usage, call, variants)
  }

  /** The most nano-dollars that a caller with a budget pays for a call; undefined if no price is known, and none is charged instead. */
  highestCharge(served: Served, estimate: TokenEstimate, call?: PricedCall): number | undefined {
    const price = this.priceOf(served)
    const cost = price && highestCost(price, estimate, call)
    if (cost !== undefined) return cost
    const instead = this.#priceOfUnpriced(served)
    if (instead !== undefined) return highestCost(instead, estimate, call)
    return this.#unpriced === 'serve' ? 0 : undefined
  }

  /** Whether a caller with a budget may call a model: its price is known, or routes.yaml says what happens without one. */
  allowsBudgets(served: Served): boolean {
    return this.#unpriced === 'serve' || (this.priceOf(served) ?? this.#priceOfUnpriced(served)) !== undefined
  }

  /** What a caller with a budget pays for a model without a price; undefined if nothing is charged, or such calls are refused. */
  #priceOfUnpriced({ namespace }: Pick<Served, 'namespace'>): Price | undefined {
    if (this.#unpriced !== 'estimate') return this.#given
    const vendor = this.#vendors.get(namespace)
    if (vendor === undefined) return undefined
    if (!this.#dearest.has(namespace)) {
      const dearest = this.#catalogue!.dearest(vendor, Date.now(), this.#regional.has(namespace))
      this.#dearest.set(namespace, dearest && { ...dearest, name: `estimate by ${dearest.name}` })
    }
    return this.#dearest.get(namespace)
  }

  /** The service that a call asks for, and whose price is unknown: a caller with a budget cannot have it. */
  unpricedService(served: Served, call: PricedCall): Unpriced | undefined {
    if (this.#unpriced === 'serve') return undefined
    const price = this.priceOf(served) ?? this.#priceOfUnpriced(served)
    return price && unpricedService(price, call)
  }

  /** Whether any model of a namespace may have a price. */
  mayPrice({ name, plugin }: NamespaceConfig): boolean {
    const globs = [...this.#exact.keys(), ...this.#globs.map(({ glob }) => glob)].map((glob) => glob.split('/', 1)[0]!)
    return plugin.name === SANDBOX || this.#vendors.has(name) || globs.some((glob) => matchesGlob(glob, name))
  }

  /**
   * Whether a glob of a namespace's models matches one of the catalogue. Undefined where the catalogue cannot tell: it has no such vendor,
   * or models have other names there.
   */
  matchesGlob({ name, plugin }: NamespaceConfig, glob: string): boolean | undefined {
    const vendor = this.#vendors.get(name)
    if (vendor === undefined || RENAMING.includes(plugin.name)) return undefined
    const isBeginning = this.#catalogue!.find(vendor, glob.replaceAll('*', ''), Date.now()) !== undefined
    return isBeginning || this.#catalogue!.models(vendor).some((model) => matchesGlob(glob, model))
  }

  #entryOf(namespace: string, model: string): ModelPriceConfig | undefined {
    const id = `${namespace}/${model}`
    return this.#exact.get(id) ?? this.#globs.find(({ glob }) => matchesGlob(glob, id))
  }

  /** The vendor of a model and the vendor's name of it; the vendor is undefined if it is not known. */
  #vendorModel({ namespace, model }: Pick<Served, 'namespace' | 'model'>): readonly [string | undefined, string] {
    const { like } = this.#entryOf(namespace, model)?.price ?? {}
    return like === undefined ? [this.#vendors.get(namespace), model] : splitLike(like)
  }

  #find(namespace: string, model: string, now: number): Known {
    const entry = this.#entryOf(namespace, model)
    const isInRegion = this.#regional.has(namespace)
    if (entry === undefined) {
      const vendor = this.#vendors.get(namespace)
      return (vendor && this.#catalogue!.find(vendor, model, now, isInRegion)) || { price: undefined, until: FOREVER }
    }
    const { like, free, ...amounts } = entry.price
    if (like === undefined) return { price: free ? freePrice('free') : createPrice(nameOf(amounts), amounts), until: FOREVER }
    const found = lookUp(this.#catalogue!, like, now, isInRegion)
    if (found === undefined) return { price: undefined, until: FOREVER }
    const text = textOf(amounts)
    return text === '' ? found : { ...found, price: withExtras(found.price, amounts, text) }
  }
}

/** The vendor and the model of `<vendor>/<model>`. */
function splitLike(like: string): readonly [vendor: string, model: string] {
  const slash = like.indexOf('/')
  return [like.slice(0, slash), like.slice(slash + 1)]
}

/** Finds a price by `<vendor>/<model>`. */
function lookUp(catalogue: Catalogue, like: string, now: number, isInRegion = false): CataloguePrice | undefined {
  const [vendor, model] = splitLike(like)
  return catalogue.has(vendor) ? catalogue.find(vendor, model, now, isInRegion) : undefined
}

function unknownLike({ glob, price: { like = '' }, at }: ModelPriceConfig, catalogue: Catalogue): Diagnostic {
  const [vendor] = splitLike(like)
  const why = catalogue.has(vendor) ? `has no price for such a model of "${vendor}"` : `has no vendor "${vendor}"`
  return {
    ...at,
    message: `prices.models.${glob}.like: no list in use ${why}; give the price in numbers, or run umg prices update if a newer list has it`,
    frame: '',
  }
}

/** Characters of a name that are shown. */
const MAX_NAME = 120

/** Names a price of routes.yaml by its content, so that old rows say what they were charged by. */
function nameOf(amounts: UsdPrice): string {
  const text = textOf(amounts)
  const name = `routes.yaml ${text}`
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME)}… ${hash('sha256', text).slice(0, 8)}`
}

/** `input=2.5 output=10 above 200000: input=5`; `picture=0.08 (size=1024x1024 quality=hd)`; `service_tier=priority ×2`. */
function textOf({ tiers = [], pictures = [], variants = {}, ...amounts }: UsdPrice): string {
  const listed = (members: object) => Object.entries(members).map(([name, value]) => `${name}=${value}`)
  return [
    ...listed(amounts),
    ...pictures.map(({ usd, ...asked }) => [`picture=${usd}`, ...listed(asked).map((each) => `(${each})`)].join(' ')),
    ...Object.entries(variants).flatMap(([name, factors]) => listed(factors).map((each) => `${name}=${each.replace('=', ' ×')}`)),
    ...tiers.map(({ above, ...own }) => `above ${above}: ${listed(own).join(' ')}`),
  ].join(' ')
}
