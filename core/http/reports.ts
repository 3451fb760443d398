import type { IncomingHttpHeaders } from 'node:http'
import { Batch } from '../batch.ts'
import { callLine } from '../observe/call-line.ts'
import type { CallMetrics } from '../observe/call-metrics.ts'
import type { Logger } from '../observe/log.ts'
import type { PluginMetrics } from '../observe/plugin-metrics.ts'
import type { Outcome } from '../plugin/api.ts'
import type { CallRecorder } from '../usage/recorder.ts'
import type { Exchange } from './exchange.ts'

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
