import type { ChainPlugin, ProviderPlugin, RateLimits } from '../sdk/api.ts'
import type { Budget } from '../text/budgets.ts'
import type { Position } from '../text/diagnostic.ts'
import type { Digests } from './digests.ts'
import type { BudgetsValues } from './schema/budgets.ts'
import type { KeepResponsesValues } from './schema/keep-responses.ts'
import type { TlsValues } from './schema/namespace.ts'
import type { PricesValues, SourceName } from './schema/prices.ts'
import type { AssumedCause, RetryCause } from './schema/retry-causes.ts'
import type { Sticky } from './schema/sticky.ts'
import type { When } from './schema/when.ts'

/** One version of routes.yaml, checked: every value has its type, and every name refers to something that exists. */
export interface Config {
  /** Absolute path of the file. */
  readonly file: string
  /** The file's text. It holds references and no secrets. */
  readonly text: string
  /** The values of the text. */
  readonly written: unknown
  /** Hex SHA-256 of the text. The values of references are not part of it. */
  readonly sha256: string
  /** In the order of the file, in which calls pass them. */
  readonly chain: readonly LinkConfig[]
  /** The namespaces with an upstream. */
  readonly namespaces: ReadonlyMap<string, NamespaceConfig>
  /** The namespaces without an upstream: curated models over the others. No name is in both maps. */
  readonly curated: ReadonlyMap<string, CuratedNamespace>
  /** From a bare name to its model id. */
  readonly aliases: ReadonlyMap<string, string>
  /** By id. */
  readonly accounts: ReadonlyMap<string, DeclaredAccount>
  readonly keys: readonly DeclaredKey[]
  readonly prices: PricesConfig
  readonly budgets: BudgetsConfig
  /** Absent: no response is kept. */
  readonly keepResponses?: KeepResponsesValues
  /** The names that plugins declare as rate classes: keys and accounts may have one. */
  readonly rateClasses: readonly string[]
  /** The expectations that `umg routes test` checks, in the order of the file. */
  readonly expectations: readonly Expectation[]
  /** What the author should know although nothing is wrong. */
  readonly notices: readonly string[]
  /** Digests of what its references and plugin names refer to. */
  readonly digests: Digests
}

/** One link of the chain. */
export interface LinkConfig {
  readonly plugin: ChainPlugin
  /** Whether it comes with the gateway. */
  readonly isBuiltIn: boolean
  /** Validated by the plugin's schema, defaults filled in, secrets sealed. */
  readonly config: unknown
  /** Absent: every call passes the link. */
  readonly when?: When
  readonly at: Position
}

/** One namespace with an upstream. */
export interface NamespaceConfig {
  readonly name: string
  readonly plugin: ProviderPlugin
  /** As for a link; undefined if the namespace is dormant. */
  readonly config: unknown
  /** The configs of several credentials, by their names: `config` is the first of them. Absent: there is one, or none. */
  readonly credentials?: ReadonlyMap<string, unknown>
  /** Names and globs of the models that clients may call. Absent: any model. */
  readonly models?: readonly string[]
  readonly timeouts: Timeouts
  /** What answers a call with a test key. */
  readonly testKeys: 'sandbox' | 'upstream'
  /** Globs of the addresses that its upstream may fetch for clients, in addition to those of public web servers. */
  readonly addresses: readonly string[]
  /** Whether calls may refer to what the upstream keeps for all who use its credential. */
  readonly keptObjects: 'refuse' | 'allow'
  /** Whether reasoning is kept for clients that do not send it back. */
  readonly keepReasoning: boolean
  /** By what calls keep to one of several credentials. */
  readonly sticky: Sticky
  /** Whether its models have a circuit breaker. */
  readonly breaker: boolean
  /** Absent: no limit. */
  readonly concurrency?: ConcurrencyConfig
  /** Those that all processes and gateways share. Absent: no limit. */
  readonly limits?: LimitsConfig
  /** The tools that calls may let the vendor run. Absent: callers without a budget may use any, others none. */
  readonly hostedTools?: readonly string[]
  /** Absent: it is connected to as Node does by default. */
  readonly tls?: TlsValues
  /** Why an `optional: true` namespace is left out: the names of the variables and files that are not set. Absent: it is not. */
  readonly dormant?: string
  readonly at: Position
}

/** The limits of a namespace. */
export interface LimitsConfig extends Pick<RateLimits, 'requests' | 'tokens' | 'concurrent'> {
  /** How long a call waits, in milliseconds. */
  readonly wait: number
}

/** The limit of concurrent calls of a process to an upstream. */
export interface ConcurrencyConfig {
  readonly limit: number
  /** The most calls that wait for a place. */
  readonly queue: number
  /** How long a call waits, in milliseconds. */
  readonly wait: number
}

/** A namespace without an upstream: its models are curated. */
export interface CuratedNamespace {
  readonly name: string
  /** By the part of the model id after the namespace. */
  readonly routes: ReadonlyMap<string, RouteConfig>
  readonly at: Position
}

/** A curated model: the models that serve its calls, and the rules. */
export interface RouteConfig {
  /** `acme/smart` */
  readonly id: string
  /** The models that share the calls; at least one. */
  readonly targets: readonly TargetConfig[]
  /** The models to try in this order when the targets fail; their weights are ignored. */
  readonly fallbacks: readonly TargetConfig[]
  /** How a target is chosen: by weight, by the time to its first byte, or by the number of its calls under way. */
  readonly choose: 'weight' | 'latency' | 'busy'
  /** By what calls keep to one of several targets, so that prompt caches of upstreams hit. */
  readonly sticky: Sticky
  readonly retry: {
    /** The most attempts, the first one included. */
    readonly attempts: number
    /** The failures after which another target is tried. */
    readonly on: ReadonlySet<RetryCause>
  }
  /** Parameters that are filled in if the client does not send them; never `model`, `messages`, `stream`, `stream_options`. */
  readonly defaults: Readonly<Record<string, unknown>>
  /** These replace the timeouts of the targets' namespaces; `total` is for all attempts together. */
  readonly timeouts: Partial<Timeouts>
  /** Whether calls with a parameter that a provider would drop are refused. */
  readonly strict: boolean
  readonly at: Position
}

/** A target or a fallback of a curated model. */
export interface TargetConfig {
  /** The id of an upstream model, whose namespace may be dormant, or of another curated model. Aliases are resolved. */
  readonly model: string
  readonly weight: number
  readonly at: Position
}

/** A test in routes.yaml: which model, or which error, a call should end with. */
export interface Expectation {
  /** The model that the client names: an id or an alias. */
  readonly model: string
  /** The namespaces, or ids of upstream models, that fail or are at their limits, each with its cause. */
  readonly failing: ReadonlyMap<string, AssumedCause>
  /** The id of the upstream model that then serves the call, or the name of an error. */
  readonly to: string
  readonly at: Position
}

/** Timeouts of one call to an upstream, in milliseconds. */
export interface Timeouts {
  readonly connect: number
  /** From the request sent to the first byte of the reply. */
  readonly firstByte: number
  /** Between two chunks of the reply. */
  readonly idle: number
  readonly total: number
}

/** An account that routes.yaml declares. It takes the place of one in the database with the same id. */
export interface DeclaredAccount {
  readonly id: string
  /** Globs of the model ids that its keys may call. */
  readonly models: readonly string[]
  /** The class of its keys that have none of their own. */
  readonly rateClass?: string
  readonly tags: Readonly<Record<string, string>>
  readonly budgets: readonly Budget[]
  readonly at: Position
}

/** A key that routes.yaml declares by its digest. */
export interface DeclaredKey {
  readonly name: string
  /** Hex SHA-256 of the whole secret. */
  readonly digest: string
  readonly kind: 'live' | 'test'
  /** The id of a declared account, or `default`. */
  readonly account: string
  /** Globs of the model ids that it may call, of those that its account may call. */
  readonly models: readonly string[]
  readonly rateClass?: string
  readonly tags: Readonly<Record<string, string>>
  /** Milliseconds since the epoch. */
  readonly expires?: number
  readonly budgets: readonly Budget[]
  readonly at: Position
}

/** The prices that routes.yaml sets. */
export interface PricesConfig {
  /** In the order of the file. A model id that is written out precedes every glob; else the first that matches applies. */
  readonly models: readonly ModelPriceConfig[]
  /** What a caller with a budget is charged for a model without a price, and whether it is served. */
  readonly unpriced: PricesValues['unpriced']
  readonly lists: ListsConfig
}

/** The list prices of vendors that are newer than those in the package. */
export interface ListsConfig {
  /** Absolute path of the folder in which they are kept. */
  readonly folder: string
  /** How often they are fetched, in milliseconds; undefined: never. */
  readonly every: number | undefined
  readonly sources: readonly ListSource[]
  /** The texts that are kept, as their sources publish them. */
  readonly kept: { readonly [Name in SourceName]?: string | undefined }
}

/** Where a list is read. */
export interface ListSource {
  readonly name: SourceName
  /** An address, or the absolute path of a file. */
  readonly from: string
  /** Of the only text that is taken, in hexadecimal digits; undefined: any. */
  readonly sha256: string | undefined
}

/** The price of the models that a glob of model ids matches. */
export interface ModelPriceConfig {
  readonly glob: string
  /** US dollars, or `like`, or `free`. */
  readonly price: PricesValues['models'][string]
  readonly at: Position
}

/** What holds for all budgets: the time zone of their windows, the thresholds to tell of, and whom to tell. */
export type BudgetsConfig = BudgetsValues
