import { hash } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import type { Static } from 'typebox'
import { parseRate } from '../sdk/api.ts'
import { parseBudget } from '../text/budgets.ts'
import { instant, milliseconds } from '../text/times.ts'
import type { ConfiguredPlugin } from './checks/plugins.ts'
import type {
  Config,
  CuratedNamespace,
  DeclaredAccount,
  DeclaredKey,
  Expectation,
  LimitsConfig,
  ListsConfig,
  NamespaceConfig,
  PricesConfig,
  RouteConfig,
  TargetConfig,
  Timeouts,
} from './config.ts'
import { digestsOf } from './digests.ts'
import type { ConfigFile } from './file/config-file.ts'
import type { Reference } from './file/interpolate.ts'
import type { Path } from './file/path.ts'
import type { RawConfig } from './file/raw-config.ts'
import { noticesOf } from './notices.ts'
import type { CuratedModels } from './schema/curated-models.ts'
import type { SourceName } from './schema/prices.ts'
import { type AssumedCause, RETRY_CAUSES, type RetryCause } from './schema/retry-causes.ts'
import type { routesSchema } from './schema/routes-yaml.ts'

/** What the names and references of a RawConfig refer to. */
export interface Resolution {
  /** By index in the chain. */
  readonly links: ReadonlyMap<string, ConfiguredPlugin<'chain'>>
  /** By namespace. */
  readonly providers: ReadonlyMap<string, ConfiguredPlugin<'provider'>>
  /** By namespace that is left out, its references that are not set. */
  readonly dormant: ReadonlyMap<string, readonly Reference[]>
  /** The values of the file as written. */
  readonly written: unknown
  /** The rate classes that plugins declare. */
  readonly rateClasses: readonly string[]
}

/** The values of a RawConfig without problems. */
type Values = Static<typeof routesSchema>
type NamespaceValues = Values['namespaces'][string]

/** Builds the Config of a RawConfig without problems. */
export function buildConfig(raw: RawConfig, resolution: Resolution): Config {
  const { file } = raw
  const values = raw.values as Values
  const { links, dormant, rateClasses, written } = resolution
  const namespaces = Object.entries(values.namespaces)
  const upstreams = namespaces.filter(([, { provider }]) => provider !== undefined)
  const curated = namespaces.filter(([, { provider }]) => provider === undefined)
  const config = {
    file: resolve(file.name),
    text: file.text,
    written,
    sha256: hash('sha256', file.text),
    chain: values.chain.map(({ when }, index) => ({
      ...links.get(String(index))!,
      ...(when && { when }),
      at: file.position(file.valueSpan(['chain', index])),
    })),
    namespaces: new Map(upstreams.map(([name, entry]) => [name, buildNamespace(name, entry, { file, resolution })])),
    curated: new Map(curated.map(([name, entry]) => [name, buildCurated(name, entry, { file, aliases: values.aliases })])),
    aliases: new Map(Object.entries(values.aliases)),
    accounts: new Map(Object.entries(values.accounts).map(([id, account]) => [id, buildAccount(file, id, account)])),
    keys: values.keys.map((key, index) => buildKey(file, key, index)),
    prices: buildPrices(values, file),
    budgets: values.budgets,
    ...(values.keepResponses && { keepResponses: values.keepResponses }),
    rateClasses,
    expectations: buildExpectations(values, file),
    digests: digestsOf(raw),
  }
  return { ...config, notices: noticesOf(config, dormant) }
}

interface NamespaceContext {
  readonly file: ConfigFile
  readonly resolution: Resolution
}

function buildNamespace(
  name: string,
  { models, timeouts, addresses = [], concurrency, limits, tls, hostedTools, ...values }: NamespaceValues,
  { file, resolution: { providers, dormant } }: NamespaceContext,
): NamespaceConfig {
  const { plugin, config, credentials } = providers.get(name)!
  const missing = dormant.get(name)?.map((reference) => reference.name)
  return {
    name,
    plugin,
    config: missing ? undefined : config,
    ...(credentials && !missing && { credentials }),
    ...(Array.isArray(models) && { models }),
    timeouts: inMilliseconds(timeouts),
    testKeys: values.testKeys,
    addresses,
    keptObjects: values.keptObjects,
    keepReasoning: values.keepReasoning,
    sticky: values.sticky,
    breaker: values.breaker,
    ...(concurrency && {
      concurrency: {
        limit: concurrency.limit,
        queue: concurrency.queue ?? concurrency.limit,
        wait: milliseconds(concurrency.wait),
      },
    }),
    ...(limits && { limits: buildLimits(limits) }),
    ...(tls && { tls }),
    ...(hostedTools && { hostedTools }),
    ...(missing && { dormant: [...new Set(missing)].join(', ') }),
    at: file.position(file.keySpan(['namespaces', name])),
  }
}

/** Vendors begin their months in UTC. */
const TIME_ZONE = 'UTC'

const buildLimits = ({ requests, tokens, concurrent, wait }: NonNullable<NamespaceValues['limits']>): LimitsConfig => ({
  ...(requests !== undefined && { requests: parseRate(requests, TIME_ZONE) }),
  ...(tokens !== undefined && { tokens: parseRate(tokens, TIME_ZONE) }),
  ...(concurrent !== undefined && { concurrent }),
  wait: milliseconds(wait),
})

/** The timeouts of a namespace are complete, those of a curated model may not be. */
function inMilliseconds<Durations extends { readonly [Name in keyof Timeouts]?: string }>(
  durations: Durations,
): { readonly [Name in keyof Durations]: number } {
  const entries = Object.entries(durations).map(([name, duration]) => [name, milliseconds(duration)])
  return Object.fromEntries(entries)
}

interface RouteContext {
  readonly file: ConfigFile
  readonly aliases: Values['aliases']
}

function buildCurated(name: string, { models }: NamespaceValues, context: RouteContext): CuratedNamespace {
  const path = ['namespaces', name]
  const routes = Object.entries(models as CuratedModels).map(
    ([model, route]) => [model, buildRoute([...path, 'models', model], route, context)] as const,
  )
  const { file } = context
  return { name, routes: new Map(routes), at: file.position(file.keySpan(path)) }
}

function buildRoute(path: Path, route: CuratedModels[string], context: RouteContext): RouteConfig {
  const { choose, sticky, retry, defaults, strict } = route
  const { file } = context
  return {
    id: `${path[1]}/${path.at(-1)}`,
    targets: route.targets.map((target, index) => buildTarget([...path, 'targets', index], target, context)),
    fallbacks: route.fallbacks.map((model, index) => buildTarget([...path, 'fallbacks', index], { model, weight: 1 }, context)),
    choose,
    sticky,
    retry: { attempts: retry.attempts, on: new Set(retry.on?.map(toCause<RetryCause>) ?? RETRY_CAUSES) },
    defaults,
    timeouts: inMilliseconds(route.timeouts),
    strict,
    at: file.position(file.keySpan(path)),
  }
}

function buildTarget(path: Path, { model, weight }: Omit<TargetConfig, 'at'>, { file, aliases }: RouteContext): TargetConfig {
  const id = Object.hasOwn(aliases, model) ? aliases[model]! : model
  return { model: id, weight, at: file.position(file.valueSpan(path)) }
}

function buildAccount(
  file: ConfigFile,
  id: string,
  { models, class: rateClass, tags, budget }: Values['accounts'][string],
): DeclaredAccount {
  return {
    id,
    models,
    ...(rateClass !== undefined && { rateClass }),
    tags,
    budgets: buildBudgets(budget),
    at: file.position(file.keySpan(['accounts', id])),
  }
}

function buildKey(
  file: ConfigFile,
  { name, hash: digest, kind, account, models, class: rateClass, tags, expires, budget }: Values['keys'][number],
  index: number,
): DeclaredKey {
  return {
    name,
    digest: digest.slice('sha256:'.length).toLowerCase(),
    kind,
    account,
    models,
    ...(rateClass !== undefined && { rateClass }),
    tags,
    ...(expires !== undefined && { expires: instant(expires) }),
    budgets: buildBudgets(budget),
    at: file.position(file.valueSpan(['keys', index])),
  }
}

const buildBudgets = (budget: string | readonly string[] = []) => [budget].flat().map(parseBudget)

function buildPrices({ prices: { models, unpriced, lists } }: Values, file: ConfigFile): PricesConfig {
  const entries = Object.entries(models).map(([glob, price]) => ({
    glob,
    price,
    at: file.position(file.keySpan(['prices', 'models', glob])),
  }))
  return { models: entries, unpriced, lists: listsOf(lists, file) }
}

function listsOf({ folder, every, sources }: Values['prices']['lists'], file: ConfigFile): ListsConfig {
  const base = dirname(resolve(file.name))
  return {
    folder: resolve(base, folder),
    every: every === undefined ? undefined : milliseconds(every),
    sources: Object.entries(sources).map(([name, { from, sha256 }]) => ({
      name: name as SourceName,
      from: /^https?:/i.test(from) ? from : resolve(base, from),
      sha256,
    })),
    kept: {},
  }
}

function buildExpectations({ expect }: Values, file: ConfigFile): readonly Expectation[] {
  return Object.entries(expect).flatMap(([model, expected]) => {
    const path: Path = ['expect', model]
    if (typeof expected === 'string') return [{ model, failing: new Map(), to: expected, at: file.position(file.keySpan(path)) }]
    return expected.map(({ failing = {}, to }, index) => ({
      model,
      failing: new Map(Object.entries(failing).map(([name, cause]) => [name, toCause<AssumedCause>(cause)])),
      to,
      at: file.position(file.valueSpan([...path, index])),
    }))
  })
}

/** YAML reads `429` as a number. */
const toCause = <Cause extends AssumedCause>(written: string | number): Cause => String(written) as Cause
