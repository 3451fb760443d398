import type { IncomingMessage } from 'node:http'
import type { GatewayError } from '../errors.ts'
import type { Logger } from '../observe/log.ts'
import type { PluginMetrics } from '../observe/plugin-metrics.ts'
import type { Outcome } from '../plugin/api.ts'
import { within } from '../plugin/within.ts'
import { Exchange } from './exchange.ts'
import type { Reports } from './reports.ts'
import type { SentReply, Settler, Teller } from './settler.ts'

/** What becomes of a call after its last byte: what links asked to do then, its report, and the end of its generation. */
export class Settlement implements Teller {
  readonly #reports: Reports
  readonly #plugins: PluginMetrics
  readonly #log: Logger
  readonly #linkTimeout: number

  /** `linkTimeout`: milliseconds that each of a link's functions may take. */
  constructor(parts: {
    readonly reports: Reports
    readonly plugins: PluginMetrics
    readonly log: Logger
    readonly linkTimeout: number
  }) {
    this.#reports = parts.reports
    this.#plugins = parts.plugins
    this.#log = parts.log
    this.#linkTimeout = parts.linkTimeout
  }

  /** Called once per request, when its connection is done with it. */
  settle(exchange: Exchange, { headers }: Pick<IncomingMessage, 'headers'>, response: SentReply): void {
    const outcome = exchange.close(response)
    // Probes and scrapes are nobody's calls.
    if (exchange.generation === undefined && outcome.error === undefined) return
    this.#reports.add({ exchange, outcome, headers })
    exchange.settled(this, outcome)
    const working = exchange.settlers.map((settler) => this.tell(settler, outcome)).filter((work) => work !== undefined)
    if (working.length === 0) exchange.generation?.release()
    else void Promise.all(working).then(() => exchange.generation?.release())
  }

  /** Called for what was refused before it became a request. */
  refused(id: string, error: GatewayError): void {
    const exchange = new Exchange(id)
    exchange.fail(error)
    this.settle(exchange, { headers: {} }, { statusCode: error.status, writableFinished: true })
  }

  /** Runs what a link asked to be run, and answers for it. */
  tell({ link, fn }: Settler, outcome: Outcome): Promise<void> | undefined {
    const startedAt = performance.now()
    const failed = (err: unknown): void => {
      this.#plugins.failed(link, 'settled')
      this.#log.error({ plugin: link, err }, 'onSettled failed')
    }
    const ran = (): void => this.#plugins.ran(link, 'settled', performance.now() - startedAt)
    try {
      const working = fn(outcome)
      // Most are done at once: they cost a call no promise.
      if (working !== undefined) return within(this.#linkTimeout, Promise.resolve(working)).catch(failed).finally(ran)
    } catch (err) {
      failed(err)
    }
    ran()
    return undefined
  }
}
