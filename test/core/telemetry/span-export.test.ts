import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mock } from 'node:test'
import { expect } from 'chai'
import type { Metrics } from '../../../core/observe/metrics.ts'
import { originOf } from '../../../core/telemetry/origin.ts'
import { SpanExport } from '../../../core/telemetry/span-export.ts'
import { callRowOf } from '../usage/outcome.ts'

describe('the export of spans', () => {
  let collector: Server
  let spans: SpanExport
  let counts: Record<string, number>
  let counted: PromiseWithResolvers<void>
  let warnings: number

  beforeEach(async () => {
    collector = createServer().listen(0, '127.0.0.1')
    await once(collector, 'listening')
    counts = {}
    counted = Promise.withResolvers()
    warnings = 0
    const add = (count: number, result: string) => {
      counts[result] = (counts[result] ?? 0) + count
      if (count > 0) counted.resolve()
    }
    const { port } = collector.address() as AddressInfo
    spans = new SpanExport({
      settings: { url: `http://127.0.0.1:${port}/v1/traces`, sampling: { ratio: 1, isParentBased: true }, delayMs: 0 },
      origin: originOf({ id: 'ins_1' } as Parameters<typeof originOf>[0], 'test'),
      metrics: { declare: () => ({ add }) } as unknown as Metrics,
      log: {
        info: () => undefined,
        warn() {
          warnings += 1
        },
      },
    })
  })

  afterEach(() => {
    mock.timers.reset()
    collector?.closeAllConnections()
    collector?.close()
  })

  const trace = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', attempts: ['00f067aa0ba902b8'] }

  it('loses calls whose spans cannot be made, once', async () => {
    spans.add({ row: { ...callRowOf({}), attempts: 'no JSON' }, trace })
    await counted.promise
    await spans.close()
    expect([counts, warnings]).to.deep.equal([{ exported: 0, failed: 2, dropped: 0 }, 1])
  })

  it('counts calls once that the collector takes after the gateway has given them up', async () => {
    const asked = once(collector, 'request')
    spans.add({ row: callRowOf({}), trace })
    const [, response] = (await asked) as [unknown, ServerResponse]
    mock.timers.enable({ apis: ['setTimeout'] })
    const closed = spans.close()
    mock.timers.tick(5000)
    await counted.promise
    response.writeHead(200).end()
    await closed
    expect(counts).to.deep.equal({ exported: 0, failed: 0, dropped: 2 })
  })
})
