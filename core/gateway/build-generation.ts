import type { SecureContext } from 'node:tls'
import type { Config, LinkConfig, NamespaceConfig } from '../config/config.ts'
import { type ChainLink, composeChain, type LinkGuard } from '../http/chain.ts'
import { Generation } from '../http/generation.ts'
import { createHost, type HostServices } from '../plugins/host.ts'
import { type InstanceIdentity, InstanceLeases, type InstancePool } from '../plugins/instances.ts'
import { loadPlugin } from '../plugins/registry.ts'
import { PriceList } from '../prices/price-list.ts'
import { ModelDiscovery } from '../routing/discovery.ts'
import { type NamedProvider, type Namespace, RoutingTable } from '../routing/table.ts'
import type { Protection, UpstreamState, UpstreamStates } from '../routing/upstream-state.ts'
import type { Principal, Provider, ProviderPlugin } from '../sdk/api.ts'
import { ConfigError, type Diagnostic } from '../text/diagnostic.ts'
import { type Connector, UpstreamClient } from '../upstream/client.ts'
import { getJsonBy } from '../upstream/get-json.ts'
import { secureContextOf, type UpstreamTls } from '../upstream/tls.ts'

/** The services that a Generation is built with. */
export interface GenerationServices extends HostServices {
  /** Opens connections to an upstream. `context`: by its own settings of TLS. */
  connector(context?: SecureContext): Connector
  readonly states: UpstreamStates
  readonly linkGuard: LinkGuard
}

/**
 * Builds the Generation of a Config. Plugins that another Generation runs with the same config are taken from the pool. Throws a
 * ConfigError with all errors of plugins' `create` functions.
 */
export async function buildGeneration(config: Config, services: GenerationServices, pool: InstancePool): Promise<Generation> {
  const instances = new InstanceLeases(pool)
  try {
    const builder = new GenerationBuilder(services, instances)
    const errors: Diagnostic[] = []
    const links = await createAll(config.chain, (entry) => builder.createLink(entry), errors)
    const namespaces = await createAll([...config.namespaces.values()], (entry) => builder.createNamespace(entry), errors)
    const [prices] = await createAll([config], (each) => PriceList.create(each), errors)
    if (prices === undefined || errors.length > 0) throw new ConfigError(errors)
    const table = new RoutingTable({
      namespaces: new Map(namespaces.map((namespace) => [namespace.name, namespace])),
      curated: config.curated,
      aliases: config.aliases,
      sandbox: await builder.createSandbox(),
    })
    const chain = composeChain(links, services.linkGuard)
    return new Generation({ config, links, chain, table, prices, instances, states: builder.states })
  } catch (error) {
    await instances.close()
    throw error
  }
}

/** Creates one after the other, in the order of routes.yaml. Adds the diagnostics of a ConfigError to `errors`, and goes on. */
async function createAll<Entry, Created>(
  entries: readonly Entry[],
  create: (entry: Entry) => Promise<Created>,
  errors: Diagnostic[],
): Promise<Created[]> {
  const created: Created[] = []
  for (const entry of entries) {
    try {
      created.push(await create(entry))
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      errors.push(...error.diagnostics)
    }
  }
  return created
}

/** The namespace of the sandbox that serves test keys. */
const TEST_KEYS = 'test keys'

/** Creates the links and namespaces of a Generation. */
class GenerationBuilder {
  /** By namespace. */
  readonly states = new Map<string, UpstreamState>()
  readonly #services: GenerationServices
  readonly #instances: InstanceLeases

  constructor(services: GenerationServices, instances: InstanceLeases) {
    this.#services = services
    this.#instances = instances
  }

  async createLink({ plugin, config, when, at }: LinkConfig): Promise<ChainLink> {
    const identity = { plugin, place: `chain plugin ${plugin.name}`, config, at }
    const link = await this.#instances.take(identity, async (context) => {
      const created = await plugin.create(config as never, createHost(this.#services, context))
      if (typeof created?.handle !== 'function') throw new Error('create() must return a link: { handle(ctx, next) { … } }')
      return created
    })
    const explain = link.explain && ((principal: Principal) => link.explain!(principal))
    return { name: plugin.name, handle: link.handle, explain, namespaces: when === undefined ? 'all' : new Set(when.namespaces) }
  }

  async createNamespace(entry: NamespaceConfig): Promise<Namespace> {
    const { name, plugin, config, models, timeouts, testKeys, tls, dormant, at } = entry
    const common = { name, models, timeouts, testKeys }
    if (dormant !== undefined)
      return { ...common, upstream: undefined, catalogue: new ModelDiscovery(undefined, this.#services.log) }
    const created = await this.#createProvider({ plugin, place: `namespace ${name}`, config, at }, tls)
    const { provider, catalogue, client } = created
    const state = this.#stateOf(name, provider, entry)
    return { ...common, upstream: { name: plugin.name, provider, state, client }, catalogue }
  }

  /** Creates the sandbox that serves test keys, whether or not routes.yaml has one. */
  async createSandbox(): Promise<NamedProvider> {
    const plugin = await loadPlugin('sandbox', 'provider', process.cwd())
    const { provider } = await this.#createProvider({ plugin, place: TEST_KEYS, config: {} })
    // Its failures are requested by clients, so that they must not open a breaker.
    const state = this.#stateOf(TEST_KEYS, provider, { breaker: false })
    return { name: plugin.name, provider, state }
  }

  #stateOf(namespace: string, provider: Provider, protection: Protection): UpstreamState {
    const state = this.#services.states.of(namespace, provider, protection)
    this.states.set(namespace, state)
    return state
  }

  /** Creates a provider, the discovery of its models, and its own client if it has `tls`. They outlive a reload that does not change them. */
  #createProvider(identity: InstanceIdentity & { readonly plugin: ProviderPlugin }, tls?: UpstreamTls) {
    const { plugin, config } = identity
    return this.#instances.take(tls === undefined ? identity : { ...identity, config: { config, tls } }, async (context) => {
      const connector = tls && this.#services.connector(secureContextOf(tls))
      const services = connector === undefined ? this.#services : { ...this.#services, getJson: getJsonBy(connector) }
      const client = connector && new UpstreamClient(connector)
      const host = createHost(services, context)
      const provider = await plugin.create(config as never, host)
      if (typeof provider?.request !== 'function') throw new Error('create() must return a provider: { request(call) { … } … }')
      return {
        provider,
        catalogue: new ModelDiscovery(provider, host.log),
        client,
        async close() {
          await provider.close?.()
          await client?.close()
        },
      }
    })
  }
}
