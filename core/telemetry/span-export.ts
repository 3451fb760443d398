import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { Flusher } from '../async/flusher.ts'
import { withTimeout } from '../async/timeout.ts'
import { CodedError } from '../errors.ts'
import type { Log } from '../observe/log.ts'
import { METRICS } from '../observe/metric-definitions.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { HostCounter } from '../sdk/api.ts'
import { waitingTrace } from './call-trace.ts'
import type { Origin } from './origin.ts'
import { countSpans, spansOf, type TracedCall } from './spans.ts'
import type { TracingSettings } from './trace-settings.ts'

/** Calls in one export. Making and encoding their spans takes a millisecond or two of the event loop. */
const MAX_BATCH = 128
/** Calls in memory, some 4 MB without content. The spans of further calls are dropped. */
const MAX_WAITING = 4096
/** Deadline of the last exports, when the gateway ends. */
const LAST_EXPORT_MS = 5000

/** The options of a `SpanExport`. */
export interface SpanExportOptions {
  readonly settings: TracingSettings
  readonly origin: Origin
  readonly log: Pick<Log, 'info' | 'warn'>
  readonly metrics: Metrics
}

/** Sends the spans of calls to a collector by OTLP, in batches: no call waits for the collector or fails with it. */
export class SpanExport {
  readonly #exporter: OTLPTraceExporter
  readonly #origin: Origin
  readonly #log: SpanExportOptions['log']
  readonly #spans: HostCounter
  readonly #calls: Flusher<TracedCall>
  #isLosing = false
  /** What was not exported by then is counted as dropped, also if the collector takes it after that. */
  #hasClosed = false

  constructor({ settings, origin, log, metrics }: SpanExportOptions) {
    this.#exporter = new OTLPTraceExporter({ url: settings.url })
    this.#origin = origin
    this.#log = log
    this.#spans = metrics.declare(METRICS.traceSpans)
    for (const result of ['exported', 'failed', 'dropped']) this.#spans.add(0, result)
    this.#calls = new Flusher({
      maxBatch: MAX_BATCH,
      maxWaiting: MAX_WAITING,
      delayMs: settings.delayMs,
      retryMs: settings.delayMs,
      // One export at a time: a slow collector is not flooded.
      write: (batch) => this.#export(batch),
      onFull: (call) => this.#lose([call], 'dropped', new CodedError('COLLECTOR_TOO_SLOW', 'the collector is too slow')),
    })
  }

  /** Exports the spans of a call that has ended, a moment later. */
  add({ row, trace }: TracedCall): void {
    this.#calls.add({ row, trace: waitingTrace(trace, this.#calls.waiting.length) })
  }

  /** Exports what waits, if the collector answers in time. No call may be added after this. */
  async close(): Promise<void> {
    const left = await this.#calls.close(LAST_EXPORT_MS)
    this.#hasClosed = true
    if (left.length > 0) this.#lose(left, 'dropped', new CodedError('GATEWAY_ENDED', 'the gateway has ended'))
    await withTimeout(LAST_EXPORT_MS, this.#exporter.shutdown()).catch(() => undefined)
  }

  /** Never rejects. Spans that cannot be exported are lost: a collector that is away for long would fill the memory. */
  async #export(batch: readonly TracedCall[]): Promise<void> {
    const error = await this.#send(batch).catch((thrown: Error) => thrown)
    if (this.#hasClosed) return
    if (error !== undefined) {
      this.#lose(batch, 'failed', error)
      return
    }
    this.#spans.add(spansIn(batch), 'exported')
    if (this.#isLosing) this.#log.info({}, 'spans are exported again')
    this.#isLosing = false
  }

  /** Resolves to why the collector has not taken the spans. Rejects if they cannot be made. */
  async #send(batch: readonly TracedCall[]): Promise<Error | undefined> {
    const spans = batch.flatMap((call) => spansOf(call, this.#origin))
    return await new Promise((resolve) =>
      this.#exporter.export(spans, ({ code, error }) =>
        resolve(code === SUCCESS ? undefined : (error ?? new CodedError('EXPORT_FAILED', 'the export failed'))),
      ),
    )
  }

  #lose(calls: readonly TracedCall[], result: 'failed' | 'dropped', err: Error): void {
    this.#spans.add(spansIn(calls), result)
    if (!this.#isLosing) this.#log.warn({ err }, 'spans are lost: they cannot be exported to the collector of traces')
    this.#isLosing = true
  }
}

const spansIn = (calls: readonly TracedCall[]): number => calls.reduce((sum, call) => sum + countSpans(call), 0)

/** `ExportResultCode.SUCCESS`. */
const SUCCESS = 0
