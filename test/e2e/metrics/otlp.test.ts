import { isDeepStrictEqual } from 'node:util'
import { expect } from 'chai'
import { CONVENTION_NAMES } from '../../../core/observe/metric-definitions.ts'
import { closedOrigin } from '../../support/closed-port.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { OtlpCollector, type ReceivedMetrics } from '../../support/otlp-collector.ts'
import type { ReceivedMetric } from '../../support/otlp-metrics.ts'
import { until } from '../../support/poll.ts'
import { Cluster } from '../processes/cluster.ts'

const ROUTES = {
  chain: [{ plugin: 'auth' }],
  namespaces: { sandbox: { provider: 'sandbox' } },
}
const MESSAGES = [{ role: 'user', content: 'Hi' }]
const CALLS = 'umg_requests_total{code="200",model="other",namespace="sandbox",outcome="ok"}'

/** OpenTelemetry's variables, as an operator sets them. */
const variables = (collector: OtlpCollector, intervalMs: number) => ({
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${collector.origin}/v1/metrics`,
  OTEL_METRIC_EXPORT_INTERVAL: String(intervalMs),
})

describe('metrics that are exported by OTLP', () => {
  let collector: OtlpCollector
  let gateway: TestGateway | undefined
  let cluster: Cluster | undefined

  beforeEach(async () => {
    collector = await OtlpCollector.start()
  })

  afterEach(async () => {
    await gateway?.stop()
    await cluster?.stop()
    gateway = cluster = undefined
    await collector?.close()
  })

  /** Resolves to an export that began after this was called. */
  async function next(): Promise<ReceivedMetrics> {
    const before = collector.metrics.length
    await collector.measured(() => collector.metrics.length >= before + 2)
    return collector.metrics.at(-1)!
  }

  const start = async (intervalMs = 20): Promise<TestGateway> => {
    gateway = await startTestGateway({
      routes: ROUTES,
      metricsExport: { url: `${collector.origin}/v1/metrics`, intervalMs },
    })
    return gateway
  }

  async function call(stream: boolean, model = 'sandbox/hello'): Promise<void> {
    const reply = await gateway!.fetch('/v1/chat/completions', { json: { model, messages: MESSAGES, stream } })
    await reply.text()
    await gateway!.logged((line) => line.id === reply.headers.get('x-request-id'))
  }

  it('are counters, gauges and histograms with the values of /metrics', async () => {
    const { metrics } = await start()
    for (const stream of [false, true]) await call(stream)
    await call(false, 'nowhere/m')
    const text = await metrics()
    const scraped = linesOf(text)
    const exported = (await next()).metrics.flatMap(toLines)
    expect(exported.filter(isOwn).sort()).to.deep.equal(scraped.filter(isOwn))
    expect(scraped).to.include(`${CALLS} 2`)
    const names = (lines: readonly string[]) => new Set(lines.map((line) => line.split(/[ {]/)[0]))
    // This gauge has a value for each kind of request that is under way: perhaps none at the time of the scrape.
    expect(text).to.include('# TYPE nodejs_active_requests gauge')
    // Some of Node's values have changed since, and one is the mean of nothing until there is a value.
    expect(names(scraped).add('nodejs_active_requests')).to.include.all.keys([...names(exported)])
  })

  it("have the names and units of OpenTelemetry's conventions for generative AI", async () => {
    await start()
    for (const stream of [false, true]) await call(stream)
    const { metrics, resource } = await next()
    const conventions = metrics.filter(({ name }) => name.startsWith('gen_ai'))
    expect(conventions.map(({ name, unit, type }) => [name, unit, type])).to.have.deep.members([
      ['gen_ai.server.request.duration', 's', 'histogram'],
      ['gen_ai.server.time_to_first_token', 's', 'histogram'],
      ['gen_ai.server.time_per_output_token', 's', 'histogram'],
      ['gen_ai.client.operation.duration', 's', 'histogram'],
      ['gen_ai.client.token.usage', '{token}', 'histogram'],
    ])
    const [point] = conventions.find(({ name }) => name === 'gen_ai.server.request.duration')!.points
    expect(point!.attributes).to.deep.equal({ 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'sandbox/other' })
    expect(metrics.find(({ name }) => name === 'process_resident_memory_bytes')!.unit).to.equal('By')
    expect(resource).to.include({ 'service.name': 'unified-model-gateway', 'service.version': 'test' })
  })

  it('are exported a last time when the gateway ends', async () => {
    await start(3_600_000)
    await call(false)
    await gateway!.stop()
    gateway = undefined
    expect(collector.metrics).to.have.length(1)
    expect(collector.metrics[0]!.metrics.flatMap(toLines)).to.include(`${CALLS} 1`)
  })

  it('are sums over all processes, which go on when a process is replaced', async () => {
    cluster = await Cluster.start({}, variables(collector, 50))
    const { pids } = cluster
    await cluster.statuses(10)
    const exported = (count: number) => until(async () => callsOf(await next()) === count)
    await exported(10)
    // A process that is killed takes with it what it has counted since the last export.
    await cluster.crash('proxy-1')
    await cluster.statuses(2)
    await exported(12)
    await cluster.crash('control')
    await cluster.statuses(2)
    await exported(14)
    expect(cluster.pids.get('control')).to.not.equal(pids.get('control'))

    const values = collector.metrics.map(callsOf)
    expect(values).to.deep.equal(values.toSorted((one, other) => one - other))
    // One stream of values for the collector: the same instance, since the same time.
    const streams = collector.metrics.map(({ resource, metrics }) =>
      [resource['service.instance.id'], ...metrics.flatMap(({ points }) => points.map(({ start }) => start))].join(),
    )
    expect(new Set(streams.flatMap((stream) => stream.split(','))).size).to.equal(2)
    const scrape = async () => linesOf(await (await fetch(`${cluster!.url}/metrics`)).text()).filter(isOwn)
    // A process that has just been replaced may still join between the two.
    await until(async () => isDeepStrictEqual(await scrape(), (await next()).metrics.flatMap(toLines).filter(isOwn).sort()))
  })

  it('are complete in the last export of several processes', async () => {
    cluster = await Cluster.start({}, variables(collector, 3_600_000))
    await cluster.statuses(8)
    cluster.umg.signal('SIGINT')
    expect((await cluster.umg.ended).code).to.equal(0)
    expect(collector.metrics.map(callsOf)).to.deep.equal([8])
  })

  it('are missed while the collector is away, with one line of the log, and are then as they would have been', async () => {
    collector.status = 400
    await start()
    await call(false)
    await gateway!.logged(({ msg }) => msg === 'metrics cannot be exported to their collector')
    await call(false)
    collector.status = 200
    await gateway!.logged(({ msg }) => msg === 'metrics are exported again')
    expect(callsOf(collector.metrics[0]!)).to.equal(2)
    expect(gateway!.log.filter(({ msg }) => String(msg).startsWith('metrics cannot'))).to.have.length(1)
  })

  it('do not keep a gateway from serving, or from ending, while the collector cannot be reached', async () => {
    cluster = await Cluster.start({}, { OTEL_EXPORTER_OTLP_ENDPOINT: await closedOrigin(), OTEL_METRIC_EXPORT_INTERVAL: '1' })
    expect(await cluster.statuses(2)).to.deep.equal([200, 200])
    cluster.umg.signal('SIGINT')
    expect((await cluster.umg.ended).code).to.equal(0)
  })

  it('are not exported by default', async () => {
    cluster = await Cluster.start()
    await cluster.statuses(2)
    cluster.umg.signal('SIGINT')
    await cluster.umg.ended
    expect(collector.headers).to.deep.equal([])
  })
})

const callsOf = ({ metrics }: ReceivedMetrics): number => {
  const line = metrics.flatMap(toLines).find((each) => each.startsWith(`${CALLS} `))
  return line === undefined ? 0 : Number(line.slice(CALLS.length + 1))
}

/** The gateway's own metrics: those of the Node process change from one look to the next. */
const isOwn = (line: string): boolean => /^(?:umg|gen_ai)_/.test(line)

/** The lines of a scrape that have a value, sorted; their labels sorted, without those that are empty. */
const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line)!
      const pairs = Array.from(labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g), ([, key, text]) => [key!, text!] as const)
      return lineOf(name!, pairs, Number(value))
    })
    .sort()

/** The lines of `/metrics` that have the values of an exported metric. */
function toLines({ name, points, type }: ReceivedMetric): string[] {
  const plain = PLAIN_NAMES.get(name) ?? name
  return points.flatMap(({ attributes, value, buckets }) => {
    const labels = Object.entries(attributes).map(([key, text]) => [PLAIN_NAMES.get(key) ?? key, String(text)] as const)
    if (type !== 'histogram') return [lineOf(plain, labels, value)]
    const { bounds, counts } = buckets!
    const upTo = counts.map((_, index) => counts.slice(0, index + 1).reduce((one, other) => one + other))
    return [
      ...upTo.map((count, index) => lineOf(`${plain}_bucket`, [...labels, ['le', String(bounds[index] ?? '+Inf')]], count)),
      lineOf(`${plain}_sum`, labels, value),
      lineOf(`${plain}_count`, labels, upTo.at(-1)!),
    ]
  })
}

function lineOf(name: string, labels: readonly (readonly [string, string])[], value: number): string {
  const text = labels
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .filter(([, each]) => each !== '')
    .map(([key, each]) => `${key}="${each}"`)
    .join()
  return `${name}${text === '' ? '' : `{${text}}`} ${value}`
}

/** Prometheus' spelling of the names of the conventions. */
const PLAIN_NAMES = new Map([
  ...Object.entries(CONVENTION_NAMES.metrics).map(([plain, convention]) => [convention!.name, plain] as const),
  ...Object.entries(CONVENTION_NAMES.labels).map(([plain, name]) => [name, plain] as const),
])
