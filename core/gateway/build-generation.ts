import type { Config, LinkConfig, NamespaceConfig } from '../config/config.ts'
import { type ChainLink, composeChain, type LinkGuard } from '../http/chain.ts'
import { Generation } from '../http/generation.ts'
import { createHost, type HostServices } from '../plugins/host.ts'
import { type InstanceIdentity, InstanceLeases, type InstancePool } from '../plugins/instances.ts'
import { loadPlugin } from '../plugins/registry.ts'
import { ModelDiscovery } from '../routing/discovery.ts'
import { type NamedProvider, type Namespace, RoutingTable } from '../routing/table.ts'
import type { Protection, UpstreamState, UpstreamStates } from '../routing/upstream-state.ts'
import type { Principal, Provider, ProviderPlugin } from '../sdk/api.ts'
import { ConfigError, type Diagnostic } from '../text/diagnostic.ts'

/** What a generation is built with. */
export interface GenerationServices extends HostServices {
  readonly states: UpstreamStates
  readonly linkGuard: LinkGuard
}

/**
 * Builds what a checked routing table describes; plugins that another generation runs with the same config are taken from the pool.
 * Throws a ConfigError with all that their `create` functions refuse.
 */
export async function buildGeneration(config: Config, services: GenerationServices, pool: InstancePool): Promise<Generation> {
  const instances = new InstanceLeases(pool)
  try {
    const builder = new Builder(services, instances)
    const refused: Diagnostic[] = []
    const links = await makeAll(config.chain, (entry) => builder.link(entry), refused)
    const namespaces = await makeAll([...config.namespaces.values()], (entry) => builder.namespace(entry), refused)
    if (refused.length > 0) throw new ConfigError(refused)
    const table = new RoutingTable({
      namespaces: new Map(namespaces.map((namespace) => [namespace.name, namespace])),
      curated: config.curated,
      aliases: config.aliases,
      sandbox: await builder.sandbox(),
    })
    const chain = composeChain(links, services.linkGuard)
    return new Generation({ config, links, chain, table, instances, states: builder.states })
  } catch (error) {
    await instances.close()
    throw error
  }
}

/** One after the other, in the order written; what is wrong with one does not hide what is wrong with the next. */
async function makeAll<Entry, Made>(
  entries: readonly Entry[],
  make: (entry: Entry) => Promise<Made>,
  refused: Diagnostic[],
): Promise<Made[]> {
  const made: Made[] = []
  for (const entry of entries) {
    try {
      made.push(await make(entry))
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      refused.push(...error.diagnostics)
    }
  }
  return made
}

/** Where the sandbox stands that answers them. */
const TEST_KEYS = 'test keys'

/** Makes the parts of a generation. */
class Builder {
  readonly states = new Map<string, UpstreamState>()
  readonly #services: GenerationServices
  readonly #instances: InstanceLeases

  constructor(services: GenerationServices, instances: InstanceLeases) {
    this.#services = services
    this.#instances = instances
  }

  async link({ plugin, config, when, at }: LinkConfig): Promise<ChainLink> {
    const identity = { plugin, place: `chain plugin ${plugin.name}`, config, at }
    const link = await this.#instances.take(identity, async (context) => {
      const made = await plugin.create(config as never, createHost(this.#services, context))
      if (typeof made?.handle !== 'function') throw new Error('create() must return a link: { handle(ctx, next) { … } }')
      return made
    })
    const explain = link.explain && ((principal: Principal) => link.explain!(principal))
    return { name: plugin.name, handle: link.handle, explain, namespaces: when === undefined ? 'all' : new Set(when.namespaces) }
  }

  async namespace(entry: NamespaceConfig): Promise<Namespace> {
    const { name, plugin, config, models, timeouts, testKeys, dormant, at } = entry
    const common = { name, models, timeouts, testKeys }
    if (dormant !== undefined)
      return { ...common, upstream: undefined, catalogue: new ModelDiscovery(undefined, this.#services.log) }
    const { provider, catalogue } = await this.#provider({ plugin, place: `namespace ${name}`, config, at })
    const state = this.#state(name, provider, entry)
    return { ...common, upstream: { name: plugin.name, provider, state }, catalogue }
  }

  /** Who answers test keys, whatever the table says. */
  async sandbox(): Promise<NamedProvider> {
    const plugin = await loadPlugin('sandbox', 'provider', process.cwd())
    const { provider } = await this.#provider({ plugin, place: TEST_KEYS, config: {} })
    // It fails when it is told to: that is nobody's fault.
    const state = this.#state(TEST_KEYS, provider, { breaker: false })
    return { name: plugin.name, provider, state }
  }

  #state(namespace: string, provider: Provider, protection: Protection): UpstreamState {
    const state = this.#services.states.of(namespace, provider, protection)
    this.states.set(namespace, state)
    return state
  }

  /** A provider, and what is known of its models: both outlast a reload that does not change its config. */
  #provider(identity: InstanceIdentity & { readonly plugin: ProviderPlugin }) {
    const { plugin, config } = identity
    return this.#instances.take(identity, async (context) => {
      const host = createHost(this.#services, context)
      const provider = await plugin.create(config as never, host)
      if (typeof provider?.request !== 'function') throw new Error('create() must return a provider: { request(call) { … } … }')
      return {
        provider,
        catalogue: new ModelDiscovery(provider, host.log),
        close: () => provider.close?.(),
      }
    })
  }
}
