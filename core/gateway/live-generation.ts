import type { Generation } from '../call/generation.ts'
import type { Config } from '../config/config.ts'
import type { KeyDirectory } from '../keys/directory.ts'
import type { CallMetrics } from '../observe/call-metrics.ts'
import type { GatewayMetrics } from '../observe/gateway-metrics.ts'
import type { GenerationServices } from './build-generation.ts'

/** The services that a change of Generation concerns. */
export interface LiveServices extends GenerationServices {
  readonly calls: CallMetrics
  readonly gateway: GatewayMetrics
  readonly keys: KeyDirectory
}

/** The Generation that serves new calls. Those before it are closed when their last call ends. */
export class LiveGeneration {
  readonly #services: LiveServices
  readonly #retiring = new Set<Promise<void>>()
  #generation: Generation

  constructor(services: LiveServices, first: Generation) {
    this.#services = services
    this.#generation = first
    this.#activate(first)
  }

  get generation(): Generation {
    return this.#generation
  }

  /** Serves new calls by another Generation. */
  replace(generation: Generation): void {
    const previous = this.#generation
    this.#generation = generation
    this.#activate(generation)
    this.#retire(previous)
  }

  /** Closes all plugins. No call may be open. */
  async close(): Promise<void> {
    this.#retire(this.#generation)
    await Promise.all(this.#retiring)
  }

  #activate(generation: Generation): void {
    const { states, keys, calls, gateway } = this.#services
    const { config } = generation
    generation.begin(states)
    keys.declare(config)
    calls.declare(modelsByNamespace(config))
    gateway.configLoaded(config)
  }

  #retire(generation: Generation): void {
    const retiring = generation.retire().finally(() => {
      this.#services.gateway.configRetired()
      this.#retiring.delete(retiring)
    })
    this.#retiring.add(retiring)
  }
}

/** The models that routes.yaml names, by namespace. */
function modelsByNamespace({ namespaces, curated }: Config): ReadonlyMap<string, readonly string[]> {
  const routes = [...curated.values()].flatMap((namespace) => [...namespace.routes.values()])
  const targets = routes.flatMap((route) => [...route.targets, ...route.fallbacks]).map(({ model }) => model.split(/\/(.*)/s))
  const byNamespace = Map.groupBy(targets, ([namespace]) => namespace)
  const targetsIn = (name: string) => byNamespace.get(name)?.map(([, model]) => model!) ?? []
  return new Map([
    ...[...namespaces.values()].map(({ name, models = [] }) => [name, [...models, ...targetsIn(name)]] as const),
    ...[...curated.values()].map(({ name, routes: own }) => [name, [...own.keys()]] as const),
  ])
}
