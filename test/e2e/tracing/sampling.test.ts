import { expect } from 'chai'
import type { Sampling } from '../../../core/telemetry/trace-settings.ts'
import { contextOf, type Fixture, newTraceId, startFixture, traceparent } from './fixture.ts'

describe('the sampling of traces', () => {
  let fixture: Fixture | undefined

  afterEach(async () => {
    await fixture?.stop()
    fixture = undefined
  })

  const start = async (sampling: Sampling): Promise<Fixture> => {
    fixture = await startFixture({ sampling })
    return fixture
  }

  /** Sends calls one after the other. Resolves to the trace ids of those that were exported when the last one, which must be, was. */
  async function exported(calls: readonly { readonly traceId: string; readonly flags: string }[]): Promise<readonly string[]> {
    const { call, collector } = fixture!
    for (const { traceId, flags } of calls) await call({}, { headers: { traceparent: traceparent(traceId, flags) } })
    await collector.trace(calls.at(-1)!.traceId, 2)
    return [...new Set(collector.spans.map(({ traceId }) => traceId))]
  }

  it("follows the client's decision", async () => {
    const { upstream } = await start({ ratio: 1, isParentBased: true })
    const [left, traced] = [newTraceId(), newTraceId()]
    const traces = await exported([
      { traceId: left, flags: '00' },
      { traceId: traced, flags: '01' },
    ])
    expect(traces).to.deep.equal([traced])
    const contexts = upstream.requests.map(contextOf)
    expect(contexts.map(({ traceId, flags }) => [traceId, flags])).to.deep.equal([
      [left, '00'],
      [traced, '01'],
    ])
  })

  it('can be its own decision: the same in all processes, by the trace id', async () => {
    const { row, call } = await start({ ratio: 0.5, isParentBased: false })
    const [low, high] = [`${'a'.repeat(18)}${'0'.repeat(14)}`, `${'a'.repeat(18)}${'f'.repeat(14)}`]
    const traces = await exported([
      { traceId: low, flags: '01' },
      { traceId: high, flags: '00' },
    ])
    expect(traces).to.deep.equal([high])
    // The log and the row have the trace nevertheless: other services may have sampled it.
    const { id } = await call({}, { headers: { traceparent: traceparent(low) } })
    expect((await row(id)).trace_id).to.equal(low)
  })

  it('can be off for new traces, while the context is passed on', async () => {
    const { call, collector, upstream } = await start({ ratio: 0, isParentBased: true })
    await call()
    expect(contextOf(upstream.requests[0]!).flags).to.equal('00')
    const traced = newTraceId()
    expect(await exported([{ traceId: traced, flags: '01' }])).to.deep.equal([traced])
    expect(collector.spans).to.have.length(2)
  })
})
