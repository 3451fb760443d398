import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Batch } from '../async/batch.ts'
import { within } from '../async/timeout.ts'
import type { GatewayError } from '../errors.ts'
import { callLine } from '../observe/call-log.ts'
import type { CallMetrics } from '../observe/call-metrics.ts'
import type { PluginMetrics } from '../observe/gateway-metrics.ts'
import type { Logger } from '../observe/log.ts'
import type { Outcome } from '../sdk/api.ts'
import type { CallRecorder } from '../usage/recorder.ts'
import { Exchange } from './exchange.ts'

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

/** A function that wants to hear of the outcome, and whose it is. */
export interface Settler {
  readonly link: string
  readonly fn: (outcome: Outcome) => void | Promise<void>
}

/** Runs settlers. */
export interface Teller {
  /** Undefined where it is done at once. */
  tell(settler: Settler, outcome: Outcome): Promise<void> | undefined
}

/** What is asked of a reply when it is over. */
export type SentReply = Pick<ServerResponse, 'statusCode' | 'writableFinished'>

/** A call that has ended, and how. */
export interface EndedCall {
  readonly exchange: Exchange
  readonly outcome: Outcome
  /** The client's. */
  readonly headers: IncomingHttpHeaders
}

/** Who is told of it. */
export interface ReportReaders {
  readonly calls: CallMetrics
  readonly plugins: PluginMetrics
  readonly recorder: CallRecorder
  readonly log: Logger
}

/** Tells metrics, the recorder and the log of the calls that have ended. */
export class Reports {
  readonly #readers: ReportReaders
  readonly #ended = new Batch<EndedCall>((call) => this.#tell(call))

  constructor(readers: ReportReaders) {
    this.#readers = readers
  }

  add(call: EndedCall): void {
    this.#ended.add(call)
  }

  /** Tells of those that have ended by now. */
  flush(): void {
    this.#ended.flush()
  }

  #tell({ exchange, outcome, headers }: EndedCall): void {
    const { calls, plugins, recorder, log } = this.#readers
    const { id, principal, tags } = exchange
    calls.settled(outcome)
    if (exchange.generation !== undefined) recorder.record(outcome, exchange)
    callLine(log, outcome, { id, principal, tags, headers })
    for (const fault of exchange.pluginFaults) {
      plugins.failed(fault.plugin, fault.phase)
      // The line of the call tells of its own failure only.
      if (outcome.error?.cause !== fault) log.error({ id, err: fault }, 'plugin failed')
    }
  }
}
