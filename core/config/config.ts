import type { ChainPlugin, ProviderPlugin } from '../sdk/api.ts'
import type { Position } from '../text/diagnostic.ts'
import type { RetryCause } from './schema/retry-causes.ts'

/** One version of routes.yaml, read and checked: every name in it leads somewhere, every value has its type. */
export interface Config {
  /** Absolute path of the file. */
  readonly file: string
  /** Hex digest of the file's text; what the environment adds is not part of it. */
  readonly sha256: string
  /** In the order written, which is the order calls pass them. */
  readonly chain: readonly LinkConfig[]
  /** Those with an upstream. */
  readonly namespaces: ReadonlyMap<string, NamespaceConfig>
  /** Those without: names over models of the others. A name is in one of the two maps. */
  readonly curated: ReadonlyMap<string, CuratedNamespace>
  /** From a bare name to the model id it stands for. */
  readonly aliases: ReadonlyMap<string, string>
  readonly keys: readonly DeclaredKey[]
  /** The classes that a key or an account can be given: the names that plugins declare as such. */
  readonly rateClasses: readonly string[]
  /** What `umg routes test` holds the table against, in the order written. */
  readonly expectations: readonly Expectation[]
}

/** One link of the chain. */
export interface LinkConfig {
  readonly plugin: ChainPlugin
  /** Checked against the plugin's schema, its defaults filled in, its secrets sealed. */
  readonly config: unknown
  /** Absent: the link sees every call. */
  readonly when?: { readonly namespaces: readonly string[] }
  readonly at: Position
}

/** One namespace with an upstream. */
export interface NamespaceConfig {
  readonly name: string
  readonly plugin: ProviderPlugin
  /** As a link's; undefined where the namespace is dormant. */
  readonly config: unknown
  /** Names and globs of the models that may be asked for; absent: any. */
  readonly models?: readonly string[]
  readonly timeouts: Timeouts
  /** Who answers a call with a test key. */
  readonly testKeys: 'sandbox' | 'upstream'
  /** Whether a model of it that fails again and again is set aside for a while. */
  readonly breaker: boolean
  /** Absent: any number of calls at once. */
  readonly concurrency?: ConcurrencyConfig
  /** Why an `optional: true` namespace is left out: the names of what is not set. */
  readonly dormant?: string
  readonly at: Position
}

/** How many calls an upstream gets at once. */
export interface ConcurrencyConfig {
  readonly limit: number
  /** How many more may wait for a place. */
  readonly queue: number
  /** How long one may wait, in milliseconds. */
  readonly wait: number
}

/** A namespace without an upstream: its models stand for models of other namespaces. */
export interface CuratedNamespace {
  readonly name: string
  /** By the part of the model id behind the namespace. */
  readonly routes: ReadonlyMap<string, RouteConfig>
  readonly at: Position
}

/** A curated model: what its name stands for. */
export interface RouteConfig {
  /** `acme/smart` */
  readonly id: string
  /** Who shares the calls; at least one. */
  readonly targets: readonly TargetConfig[]
  /** Who is tried in this order when the targets fail; their weights mean nothing. */
  readonly fallbacks: readonly TargetConfig[]
  /** How one of the targets is chosen: by weight, the fastest to its first byte, the one with the fewest calls under way. */
  readonly choose: 'weight' | 'latency' | 'busy'
  /** The same target for the same key, or `user` field, so that upstream prompt caches hit. */
  readonly sticky?: 'key' | 'user'
  readonly retry: {
    /** The most tries in all, the first included. */
    readonly attempts: number
    /** After which failures another target is tried. */
    readonly on: ReadonlySet<RetryCause>
  }
  /** Parameters that are filled in where the client sends none; never `model`, `messages`, `stream`, `stream_options`. */
  readonly defaults: Readonly<Record<string, unknown>>
  /** In the place of those of the targets' namespaces; `total` is for all tries together. */
  readonly timeouts: Partial<Timeouts>
  /** Whether a parameter that a provider would drop is refused. */
  readonly strict: boolean
  readonly at: Position
}

/** One model that a curated model may be served by. */
export interface TargetConfig {
  /** A model id, aliases resolved: of a namespace with an upstream (it may be dormant), or of another curated model. */
  readonly model: string
  readonly weight: number
  readonly at: Position
}

/** What the table's author expects of it. */
export interface Expectation {
  /** A model as a client names it: an id or an alias. */
  readonly model: string
  /** Which namespaces, or model ids of upstreams, fail and how; empty where nothing does. */
  readonly failing: ReadonlyMap<string, RetryCause>
  /** Where the call then ends: the model id of an upstream, or the name of an error. */
  readonly to: string
  readonly at: Position
}

/** Deadlines of one call to an upstream, in milliseconds. */
export interface Timeouts {
  readonly connect: number
  /** From the request sent to the first byte of the reply. */
  readonly firstByte: number
  /** Between two pieces of the reply. */
  readonly idle: number
  readonly total: number
}

/** A key that routes.yaml declares by its digest. */
export interface DeclaredKey {
  readonly name: string
  /** Hex SHA-256 of the whole secret. */
  readonly digest: string
  readonly kind: 'live' | 'test'
  /** Globs of the model ids it may ask for. */
  readonly models: readonly string[]
  readonly rateClass?: string
  /** Milliseconds since the epoch. */
  readonly expires?: number
  readonly at: Position
}
