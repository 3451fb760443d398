import { yieldIfLong } from '../async/long-work.ts'
import { Chain, type ChainLink, type LinkGuard } from '../call/chain.ts'
import { Generation } from '../call/generation.ts'
import type { Config, LinkConfig, NamespaceConfig } from '../config/config.ts'
import { NamespaceSecrets } from '../config/digests.ts'
import { ConfigFile } from '../config/file/config-file.ts'
import { readerBy } from '../limits/prices/list-data.ts'
import { PriceList } from '../limits/prices/price-list.ts'
import type { InstanceLeases } from '../plugins/instances.ts'
import { loadPlugin } from '../plugins/registry.ts'
import { ModelDiscovery } from '../routing/discovery.ts'
import { type NamedProvider, type Namespace, RoutingTable } from '../routing/table.ts'
import type { CreatedProvider, Protection, UpstreamState, UpstreamStates } from '../routing/upstream-state.ts'
import type { Principal } from '../sdk/api.ts'
import { ConfigError } from '../text/diagnostic.ts'
import { CreateErrors, type CreatorServices, PluginCreator, placeOfLink, placeOfNamespace } from './create-plugins.ts'

/** The services that a Generation is built with. */
export interface GenerationServices extends CreatorServices {
  readonly states: UpstreamStates
  readonly linkGuard: LinkGuard
}

/**
 * Builds the Generation of a Config with plugins of `instances`, which it closes if it fails. Throws a ConfigError with all errors of
 * plugins' `create` functions.
 */
export async function buildGeneration(
  config: Config,
  services: GenerationServices,
  instances: InstanceLeases,
): Promise<Generation> {
  try {
    const builder = new GenerationBuilder(services, instances)
    const errors = new CreateErrors(() => ConfigFile.read(config.file, config.text))
    const links = await errors.collect(config.chain.entries(), ([index, entry]) => builder.createLink(entry, index))
    const secrets = new NamespaceSecrets(config.digests)
    const namespaces = await errors.collect(config.namespaces.values(), (entry) => builder.createNamespace(entry, secrets))
    const [prices] = await errors.collect([config], (each) => PriceList.create(each, readerBy(services.workers)))
    await yieldIfLong()
    if (prices === undefined || errors.diagnostics.length > 0) throw new ConfigError(errors.diagnostics)
    const table = new RoutingTable({
      namespaces: new Map(namespaces.map((namespace) => [namespace.name, namespace])),
      curated: config.curated,
      aliases: config.aliases,
      sandbox: await builder.createSandbox(),
      pricedModels: (namespace) => prices.callableModels(config.namespaces.get(namespace)!),
    })
    const chain = new Chain(links, services.linkGuard)
    return new Generation({ config, links, chain, table, prices, instances, states: builder.states })
  } catch (error) {
    await instances.close()
    throw error
  }
}

/** The namespace of the sandbox that serves test keys. */
const TEST_KEYS = 'test keys'

/** Creates the links and namespaces of a Generation. */
class GenerationBuilder {
  /** By namespace. */
  readonly states = new Map<string, UpstreamState>()
  readonly #services: GenerationServices
  readonly #creator: PluginCreator

  constructor(services: GenerationServices, instances: InstanceLeases) {
    this.#services = services
    this.#creator = new PluginCreator(services, instances)
  }

  async createLink({ plugin, isBuiltIn, config, when, at }: LinkConfig, index: number): Promise<ChainLink> {
    const identity = { plugin, isBuiltIn, place: placeOfLink(plugin), config, at, path: ['chain', index] }
    const link = await this.#creator.createLink(identity)
    const explain = link.explain && ((principal: Principal) => link.explain!(principal))
    return { name: plugin.name, handle: link.handle, explain, isBuiltIn, when }
  }

  async createNamespace(entry: NamespaceConfig, all: NamespaceSecrets): Promise<Namespace> {
    const { name, plugin, config, models, timeouts, addresses, hostedTools, dormant, at } = entry
    const { testKeys, keptObjects, keepReasoning, sticky } = entry
    const common = { name, models, timeouts, testKeys, keptObjects, keepReasoning, sticky, hostedTools }
    if (dormant !== undefined) return { ...common, upstream: undefined, catalogue: new ModelDiscovery([], this.#services.log) }
    const identity = { plugin, place: placeOfNamespace(name), config, at, path: ['namespaces', name] }
    const { catalogue, client, handlers, ...created } = await this.#creator.createProvider(identity, entry)
    const state = this.#stateOf(name, created, entry)
    const { provider, credentials } = created
    const names = credentials?.all.map((each) => each.name) ?? [undefined]
    const secrets = new Map(names.map((each) => [each, all.of(name, each)]))
    const { addresses: own = [], ownHosts = [] } = provider
    const fetches = { allowed: [...addresses, ...own], own: ownHosts }
    return { ...common, upstream: { name: plugin.name, provider, handlers, state, client, secrets, fetches }, catalogue }
  }

  /** Creates the sandbox that serves test keys, whether or not routes.yaml has one. */
  async createSandbox(): Promise<NamedProvider> {
    const plugin = await loadPlugin('sandbox', 'provider', process.cwd())
    const { provider, handlers } = await this.#creator.createProvider({ plugin, place: TEST_KEYS, config: {} })
    // Its failures are requested by clients, so that they must not open a breaker.
    const state = this.#stateOf(TEST_KEYS, { provider }, { breaker: false })
    return { name: plugin.name, provider, handlers, state, fetches: NOTHING_FETCHED }
  }

  #stateOf(namespace: string, created: CreatedProvider, protection: Protection): UpstreamState {
    const state = this.#services.states.of(namespace, created, protection)
    this.states.set(namespace, state)
    return state
  }
}

/** The sandbox fetches no address. */
const NOTHING_FETCHED = { allowed: ['*'], own: [] } as const
