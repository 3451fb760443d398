import type { ModelCapabilities } from '../sdk/api.ts'
import type { TokenClass } from './usage.ts'

/** What a model costs: of short prompts, where the length of the prompt decides. */
export interface KnownPrice {
  /** Its source and version. */
  readonly name: string
  /** Pico-dollars for a token. */
  readonly rates: { readonly [Class in TokenClass]?: number | undefined }
  /** Nano-dollars for a call. */
  readonly request: number
}

/** What the gateway knows of a model that can be called. What it does not know is absent. */
export interface KnownModel {
  /** `<namespace>/<model>`. */
  readonly id: string
  /** Unix seconds; 0: unknown. Constant for a model. */
  readonly created: number
  readonly owner: string
  /** For readers. */
  readonly name?: string | undefined
  /** The context window, in tokens. */
  readonly context?: number | undefined
  /** The most tokens of an answer. */
  readonly output?: number | undefined
  /** `text`, `image`, `audio` … */
  readonly reads?: readonly string[] | undefined
  readonly writes?: readonly string[] | undefined
  /** The parameters of chat completions that have an effect. */
  readonly parameters?: readonly string[] | undefined
  readonly capabilities?: ModelCapabilities | undefined
  readonly price?: KnownPrice | undefined
}

/** What price lists and routes.yaml say of a model of an upstream, where the upstream does not. */
export type KnownFacts = Pick<KnownModel, 'context' | 'output' | 'price'>

/** OpenRouter's names of prices, and the classes of tokens. */
const PRICES: readonly (readonly [name: string, of: TokenClass, unlike?: TokenClass])[] = [
  ['prompt', 'input'],
  ['completion', 'output'],
  ['input_cache_read', 'cachedInput', 'input'],
  ['input_cache_write', 'cacheWrite', 'input'],
  ['internal_reasoning', 'reasoning', 'output'],
]

/**
 * A model as OpenAI's clients read it (`id`, `object`, `created`, `owned_by`), with what OpenRouter's API adds ("Models API Standard",
 * openrouter.ai/docs/models, read 2026-11-26), which many clients know.
 */
export function toModelObject({ id, created, owner, name, context, output, reads, writes, parameters, price }: KnownModel) {
  return {
    id,
    object: 'model' as const,
    created,
    owned_by: owner,
    name,
    context_length: context,
    architecture: (reads ?? writes) === undefined ? undefined : { input_modalities: reads, output_modalities: writes },
    top_provider: output === undefined ? undefined : { context_length: context, max_completion_tokens: output },
    pricing: price && pricingOf(price),
    supported_parameters: parameters,
  }
}

/** In US dollars for a token, as texts. Of a class that costs what its parent does, none. */
function pricingOf({ rates, request }: KnownPrice): Readonly<Record<string, string>> | undefined {
  const named = PRICES.flatMap(([name, of, unlike]) => {
    const rate = rates[of]
    return rate === undefined || (unlike !== undefined && rate === rates[unlike]) ? [] : [[name, decimal(rate)] as const]
  })
  if (named.length === 0) return undefined
  return Object.fromEntries(request === 0 ? named : [...named, ['request', decimal(request * 1000)]])
}

/** Pico-dollars in dollars, exactly: prices are whole pico-dollars. */
const decimal = (pico: number): string => (pico / 1e12).toFixed(12).replace(/\.?0+$/, '')

/** What holds for each of several models, of which any may serve a call. */
export function whatAllAre(models: readonly KnownModel[]): Omit<KnownModel, 'id' | 'created' | 'owner' | 'name'> {
  return {
    context: least(models.map(({ context }) => context)),
    output: least(models.map(({ output }) => output)),
    reads: common(models.map(({ reads }) => reads)),
    writes: common(models.map(({ writes }) => writes)),
    parameters: common(models.map(({ parameters }) => parameters)),
    capabilities: equal(models.map(({ capabilities }) => capabilities)),
    price: equal(models.map(({ price }) => price)),
  }
}

/** Undefined if one of them is. */
function least(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length < values.length || known.length === 0 ? undefined : known.reduce((a, b) => Math.min(a, b))
}

function common(lists: readonly (readonly string[] | undefined)[]): readonly string[] | undefined {
  const [first, ...others] = lists.filter((list) => list !== undefined)
  if (first === undefined || others.length + 1 < lists.length) return undefined
  const sets = others.map((list) => new Set(list))
  return first.filter((name) => sets.every((set) => set.has(name)))
}

/** The value that all have; undefined if they differ. */
function equal<Value>([first, ...others]: readonly Value[]): Value | undefined {
  const text = JSON.stringify(first)
  return others.every((other) => JSON.stringify(other) === text) ? first : undefined
}
