import type { Config } from '../config/config.ts'
import { Keeping } from '../kept/keeping.ts'
import type { PriceList } from '../limits/prices/price-list.ts'
import type { InstanceLeases } from '../plugins/instances.ts'
import { ModelListing } from '../routing/listing.ts'
import type { RoutingTable } from '../routing/table.ts'
import type { UpstreamState, UpstreamStates } from '../routing/upstream-state.ts'
import type { Chain, ChainLink } from './chain.ts'

/** The parts of a generation. */
export interface GenerationOptions {
  readonly config: Config
  readonly links: readonly ChainLink[]
  /** The links around the endpoint of a call. */
  readonly chain: Chain
  readonly table: RoutingTable
  readonly prices: PriceList
  readonly instances: InstanceLeases
  /** By namespace. */
  readonly states: ReadonlyMap<string, UpstreamState>
}

/**
 * The objects built from one version of routes.yaml. A call holds one generation from its first byte to its last, so that a
 * reload never changes an open call.
 */
export class Generation {
  readonly config: Config
  readonly links: readonly ChainLink[]
  readonly chain: Chain
  readonly table: RoutingTable
  readonly prices: PriceList
  readonly models: ModelListing
  /** Absent: no response is kept. */
  readonly keeping: Keeping | undefined
  readonly #instances: InstanceLeases
  readonly #states: ReadonlyMap<string, UpstreamState>
  #calls = 0
  #released: PromiseWithResolvers<void> | undefined

  constructor({ config, links, chain, table, prices, instances, states }: GenerationOptions) {
    this.config = config
    this.links = links
    this.chain = chain
    this.table = table
    this.prices = prices
    this.models = new ModelListing(table, (served) => prices.factsOf(served))
    this.keeping = config.keepResponses && new Keeping(config.keepResponses)
    this.#instances = instances
    this.#states = states
  }

  /** Starts serving new calls by this generation. */
  begin(states: UpstreamStates): void {
    this.#instances.moveToOwnPlaces()
    states.use(this.#states)
  }

  /** Keeps the generation for one call, until `release`. */
  hold(): this {
    this.#calls++
    return this
  }

  release(): void {
    this.#calls--
    if (this.#calls === 0) this.#released?.resolve()
  }

  /** Resolves when all calls have released the generation and its plugins that no other generation uses are closed. */
  async retire(): Promise<void> {
    this.#released ??= Promise.withResolvers()
    if (this.#calls === 0) this.#released.resolve()
    await this.#released.promise
    await this.#instances.close()
  }
}
