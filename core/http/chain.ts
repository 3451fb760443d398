import type { ChainLink } from '../generation.ts'
import type { PluginMetrics } from '../observe/plugin-metrics.ts'
import { Watch } from '../watch.ts'
import type { Passage } from './passage.ts'
import { Turn, type TurnOwner } from './turn.ts'

/** How often links are looked at that may hang, in milliseconds. */
const TICK_MS = 250

/** Runs links around an endpoint, so that whatever a link does costs its own call only. */
export class Chain implements TurnOwner {
  readonly #metrics: PluginMetrics
  readonly #limit: number
  readonly #watch: Watch<Turn>

  /** `limit`: milliseconds of its own, `next` excluded, that a link may take before its call fails. */
  constructor(metrics: PluginMetrics, limit: number) {
    this.#metrics = metrics
    this.#limit = limit
    this.#watch = new Watch(Math.min(TICK_MS, limit))
  }

  /** Top to bottom, then the endpoint, then bottom to top. Failures end up in `exchange.failure`; it rejects only for the outermost. */
  run(links: readonly ChainLink[], passage: Passage, index = 0): Promise<void> {
    // Whoever left needs no further link.
    if (passage.exchange.closed) return Promise.resolve()
    const link = links[index]
    if (link === undefined) return passage.endpoint()
    const rest = () => this.run(links, passage, index + 1)
    if (link.namespaces !== undefined) return this.#takeIfConcerned(link, passage, rest)
    return this.#take(link, passage, rest)
  }

  #take(link: ChainLink, passage: Passage, rest: () => Promise<void>): Promise<void> {
    const turn = new Turn({ link, passage, rest, limit: this.#limit, chain: this })
    this.#watch.add(turn)
    return turn.run()
  }

  onOver(turn: Turn, link: ChainLink, ms: number): void {
    this.#watch.remove(turn)
    this.#metrics.ran(link.name, 'handle', ms)
  }

  /** `when` looks at the namespace asked for; a request that names no model concerns no such link. */
  async #takeIfConcerned(link: ChainLink, passage: Passage, rest: () => Promise<void>): Promise<void> {
    const { exchange } = passage
    const concerned = exchange.endpoint !== 'models' && link.namespaces!.has((await exchange.call()).model.namespace)
    return concerned ? this.#take(link, passage, rest) : rest()
  }
}
