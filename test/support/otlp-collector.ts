import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { metricFields, metricOf, type ReceivedMetric } from './otlp-metrics.ts'
import { decodeMessage, type Message, type MessageFields } from './protobuf.ts'

// The messages of https://github.com/open-telemetry/opentelemetry-proto, with the numbers of their fields.

const VALUE: MessageFields = {
  1: ['text', 'text'],
  2: ['boolean', 'uint'],
  3: ['integer', 'uint'],
  4: ['double', 'double'],
}
const ATTRIBUTE: MessageFields = { 1: ['key', 'text'], 2: ['value', () => VALUE] }
const RESOURCE: MessageFields = { 1: ['attributes', [() => ATTRIBUTE]], 2: ['dropped', 'uint'] }
const SCOPE: MessageFields = { 1: ['name', 'text'], 2: ['version', 'text'] }
const EVENT: MessageFields = {
  1: ['time', 'fixed64'],
  2: ['name', 'text'],
  3: ['attributes', [() => ATTRIBUTE]],
  4: ['dropped', 'uint'],
}
const STATUS: MessageFields = { 2: ['message', 'text'], 3: ['code', 'uint'] }
const SPAN: MessageFields = {
  1: ['traceId', 'hex'],
  2: ['spanId', 'hex'],
  3: ['state', 'text'],
  4: ['parentId', 'hex'],
  5: ['name', 'text'],
  6: ['kind', 'uint'],
  7: ['start', 'fixed64'],
  8: ['end', 'fixed64'],
  9: ['attributes', [() => ATTRIBUTE]],
  10: ['droppedAttributes', 'uint'],
  11: ['events', [() => EVENT]],
  12: ['droppedEvents', 'uint'],
  14: ['droppedLinks', 'uint'],
  15: ['status', () => STATUS],
  16: ['flags', 'fixed32'],
}
const SCOPE_SPANS: MessageFields = { 1: ['scope', () => SCOPE], 2: ['spans', [() => SPAN]] }
const RESOURCE_SPANS: MessageFields = { 1: ['resource', () => RESOURCE], 2: ['scopes', [() => SCOPE_SPANS]] }
const TRACES: MessageFields = { 1: ['resources', [() => RESOURCE_SPANS]] }
const SCOPE_METRICS: MessageFields = { 1: ['scope', () => SCOPE], 2: ['metrics', [() => metricFields(ATTRIBUTE)]] }
const RESOURCE_METRICS: MessageFields = { 1: ['resource', () => RESOURCE], 2: ['scopes', [() => SCOPE_METRICS]] }
const METRICS: MessageFields = { 1: ['resources', [() => RESOURCE_METRICS]] }

type Attributes = Readonly<Record<string, string | number | boolean>>

/** A span that a collector has received. */
export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | undefined
  readonly state: string | undefined
  readonly name: string
  readonly kind: 'server' | 'client' | 'other'
  /** Nanoseconds since 1970. */
  readonly start: bigint
  readonly end: bigint
  readonly isError: boolean
  readonly attributes: Attributes
  readonly events: readonly { readonly name: string; readonly time: bigint; readonly attributes: Attributes }[]
  readonly resource: Attributes
}

/** The metrics of one request to a collector. */
export interface ReceivedMetrics {
  readonly resource: Attributes
  readonly metrics: readonly ReceivedMetric[]
}

/** A collector of spans and metrics by OTLP over HTTP, in Protocol Buffers' encoding. */
export class OtlpCollector {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  readonly spans: readonly ReceivedSpan[]
  /** By request. */
  readonly metrics: readonly ReceivedMetrics[]
  /** The headers of the requests. */
  readonly headers: readonly IncomingHttpHeaders[]
  /** The status that it answers with. */
  status = 200
  readonly #server: Server
  readonly #spans: ReceivedSpan[] = []
  readonly #metrics: ReceivedMetrics[] = []
  readonly #headers: IncomingHttpHeaders[] = []
  readonly #waiting = new Set<() => void>()

  private constructor(server: Server) {
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    this.spans = this.#spans
    this.metrics = this.#metrics
    this.headers = this.#headers
    this.#server = server
    server.on('request', async (request, response) => {
      const body = await buffer(request)
      this.#headers.push(request.headers)
      const receive = {
        '/v1/traces': () => this.#spans.push(...spansIn(body)),
        '/v1/metrics': () => this.#metrics.push(metricsIn(body)),
      }[request.url!]
      response.statusCode = receive === undefined ? 404 : this.status
      if (response.statusCode === 200) receive!()
      response.end()
      for (const check of this.#waiting) check()
    })
  }

  static async start(): Promise<OtlpCollector> {
    const server = createServer()
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return new OtlpCollector(server)
  }

  /** Resolves to the spans of a trace when there are so many, the server's first and then in the order of their start. */
  trace(traceId: string, count: number): Promise<readonly ReceivedSpan[]> {
    const { promise, resolve } = Promise.withResolvers<readonly ReceivedSpan[]>()
    const check = (): void => {
      const found = this.#spans.filter((span) => span.traceId === traceId)
      if (found.length < count) return
      this.#waiting.delete(check)
      resolve(found.toSorted((a, b) => b.kind.localeCompare(a.kind) || Number(a.start - b.start)))
    }
    this.#waiting.add(check)
    check()
    return promise
  }

  /** Resolves to the first request with metrics, past or future, that fits. */
  measured(fits: (received: ReceivedMetrics) => boolean): Promise<ReceivedMetrics> {
    const { promise, resolve } = Promise.withResolvers<ReceivedMetrics>()
    const check = (): void => {
      const found = this.#metrics.find(fits)
      if (found === undefined) return
      this.#waiting.delete(check)
      resolve(found)
    }
    this.#waiting.add(check)
    check()
    return promise
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

function spansIn(body: Buffer): ReceivedSpan[] {
  const resources = listOf(decodeMessage(body, TRACES).resources)
  return resources.flatMap(({ resource, scopes }) =>
    listOf(scopes).flatMap(({ spans }) => listOf(spans).map((span) => spanOf(span, attributesOf(resource as Message)))),
  )
}

function metricsIn(body: Buffer): ReceivedMetrics {
  const [{ resource, scopes } = {}] = listOf(decodeMessage(body, METRICS).resources)
  return {
    resource: attributesOf(resource as Message),
    metrics: listOf(scopes).flatMap(({ metrics }) => listOf(metrics).map((metric) => metricOf(metric, attributesOf))),
  }
}

const KINDS: Readonly<Record<number, ReceivedSpan['kind']>> = { 2: 'server', 3: 'client' }
const ERROR = 2

function spanOf(span: Message, resource: Attributes): ReceivedSpan {
  const { traceId, spanId, parentId, state, name, kind, start, end, status, events } = span
  return {
    ...({ traceId, spanId, name, start, end } as Pick<ReceivedSpan, 'traceId' | 'spanId' | 'name' | 'start' | 'end'>),
    parentId: parentId === '' ? undefined : (parentId as string | undefined),
    state: state === '' ? undefined : (state as string | undefined),
    kind: KINDS[kind as number] ?? 'other',
    isError: (status as Message | undefined)?.code === ERROR,
    attributes: attributesOf(span),
    events: listOf(events).map((event) => ({
      ...(event as { readonly name: string; readonly time: bigint }),
      attributes: attributesOf(event),
    })),
    resource,
  }
}

const listOf = (value: unknown): readonly Message[] => (value as readonly Message[] | undefined) ?? []

function attributesOf({ attributes }: Message): Attributes {
  const entries = listOf(attributes).map(({ key, value }) => {
    const { text, boolean, integer, double } = value as Message
    return [key, text ?? (boolean === undefined ? undefined : boolean === 1) ?? integer ?? double]
  })
  return Object.fromEntries(entries)
}
