import { expect } from 'chai'
import { type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { closedOrigin } from '../../support/closed-port.ts'
import { OtlpCollector } from '../../support/otlp-collector.ts'
import { Home, type Umg } from '../lifecycle/umg.ts'
import { ask, hello } from '../plugins/openai-wire.ts'
import { CLIENT, contextOf, newTraceId, traceparent } from './fixture.ts'

/** OpenTelemetry's variables, as an operator sets them. */
const variables = (endpoint: string, more: Readonly<Record<string, string>> = {}) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_BSP_SCHEDULE_DELAY: '10',
  ...more,
})

describe('a traced gateway that is started by its command', () => {
  let upstream: ScriptedUpstream
  let collector: OtlpCollector
  let home: Home

  beforeEach(async () => {
    upstream = await scriptedUpstream()
    upstream.on(hello)
    collector = await OtlpCollector.start()
    home = await Home.create({
      'routes.yaml': `version: 1
chain: [{ plugin: auth }]
namespaces:
  up: { provider: openai-compatible, testKeys: upstream, config: { baseUrl: "${upstream.origin}/v1" } }
`,
    })
  })

  afterEach(async () => {
    await home?.remove()
    await collector?.close()
    await upstream?.close()
  })

  async function start(env: Readonly<Record<string, string>>, workers = '1') {
    const umg = home.run(['start', '--port', '0', '--drain-delay', '0', '--workers', workers], { env })
    const [, url] = await umg.prints(/^listening on (\S+)$/m)
    const [secret] = await umg.prints(/sk-test-\w+/)
    return {
      umg,
      call: (headers?: Readonly<Record<string, string>>) => call(`${url}/v1/chat/completions`, secret!, headers),
      url: url!,
    }
  }

  async function call(url: string, secret: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
    const reply = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', connection: 'close', ...headers },
      body: JSON.stringify(ask()),
    })
    await reply.text()
    return reply.status
  }

  async function stop(umg: Umg): Promise<void> {
    umg.signal('SIGINT')
    expect((await umg.ended).code).to.equal(0)
  }

  for (const workers of ['1', '2'])
    it(`exports a call with --workers ${workers}, as the variables of OpenTelemetry say`, async () => {
      const env = variables(collector.origin, {
        OTEL_SERVICE_NAME: 'models',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
        OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=red',
      })
      const gateway = await start(env, workers)
      expect(await gateway.call({ traceparent: traceparent() })).to.equal(200)
      const [server, client] = await collector.trace(CLIENT.traceId, 2)
      expect(server!.parentId).to.equal(CLIENT.spanId)
      expect(server!.resource).to.include({ 'service.name': 'models', 'deployment.environment.name': 'test' })
      expect(contextOf(upstream.requests[0]!).spanId).to.equal(client!.spanId)
      expect(collector.headers[0]).to.include({ 'x-tenant': 'red', 'content-type': 'application/x-protobuf' })
      await stop(gateway.umg)
    })

  it('exports what waits when it ends', async () => {
    const gateway = await start(variables(collector.origin, { OTEL_BSP_SCHEDULE_DELAY: '3600000' }), '2')
    const traceIds = Array.from({ length: 8 }, newTraceId)
    for (const traceId of traceIds) await gateway.call({ traceparent: traceparent(traceId) })
    await stop(gateway.umg)
    expect(new Set(collector.spans.map(({ traceId }) => traceId))).to.deep.equal(new Set(traceIds))
    expect(collector.spans).to.have.length(16)
  })

  it('serves calls while the collector is away: the loss is logged once and counted', async () => {
    const gateway = await start(variables(await closedOrigin(), { OTEL_EXPORTER_OTLP_TIMEOUT: '200' }))
    expect(await gateway.call()).to.equal(200)
    await gateway.umg.prints(/"msg":"spans are lost: [^"]*"/)
    expect(await gateway.call()).to.equal(200)
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text()
    expect(metrics).to.match(/^umg_trace_spans_total\{result="failed"\} [24]$/m)
    await stop(gateway.umg)
    expect(gateway.umg.stdout.match(/spans are lost/g)).to.have.length(1)
  })

  it('logs when the collector takes spans again', async () => {
    collector.status = 400
    const gateway = await start(variables(collector.origin))
    await gateway.call()
    await gateway.umg.prints(/"msg":"spans are lost: [^"]*"/)
    collector.status = 200
    await gateway.call()
    await gateway.umg.prints(/"msg":"spans are exported again"/)
    await stop(gateway.umg)
  })

  it('is not traced by default: the upstream gets no context, and the log has no trace', async () => {
    const gateway = await start({})
    await gateway.call({ traceparent: traceparent() })
    const [line] = await gateway.umg.prints(/^.*"msg":"call"}$/m)
    expect(line).to.not.include('trace')
    expect(upstream.requests[0]!.headers).to.not.have.any.keys('traceparent', 'tracestate')
    expect(await (await fetch(`${gateway.url}/metrics`)).text()).to.not.include('umg_trace')
    await stop(gateway.umg)
  })

  it('does not start with a variable that it cannot follow, and says what to write', async () => {
    const env = variables(collector.origin, { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })
    const { code, stderr } = await home.run(['start', '--port', '0'], { env }).ended
    expect(code).to.equal(2)
    expect(stderr).to.include('OTEL_EXPORTER_OTLP_PROTOCOL=grpc is not supported: write http/protobuf.')
  })
})
