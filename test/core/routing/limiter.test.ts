import { expect } from 'chai'
import { GatewayError } from '../../../core/errors.ts'
import { ConcurrencyLimiter } from '../../../core/routing/protection.ts'

/** The row of the error that a promise rejects with. */
const refusal = (over: Promise<void>): Promise<string> =>
  over.then(
    () => 'admitted',
    (error: GatewayError) => error.row,
  )

describe('a concurrency limiter', () => {
  it('admits any number of calls without a limit', () => {
    const gate = new ConcurrencyLimiter(undefined)
    for (let i = 0; i < 1000; i++) expect(gate.acquire()).to.equal(undefined)
  })

  it('admits waiting calls in their order', async () => {
    const gate = new ConcurrencyLimiter({ limit: 1, queue: 2, wait: 60_000 })
    expect(gate.acquire()).to.equal(undefined)
    const order: string[] = []
    const first = gate.acquire()!.over.then(() => order.push('first'))
    const second = gate.acquire()!.over.then(() => order.push('second'))
    gate.release()
    await first
    expect([order, gate.waiting]).to.deep.equal([['first'], 1])
    gate.release()
    await second
    expect([order, gate.waiting]).to.deep.equal([['first', 'second'], 0])
  })

  it('refuses a call if its queue is full, with the time to wait', () => {
    const gate = new ConcurrencyLimiter({ limit: 1, queue: 1, wait: 60_000 })
    gate.acquire()
    const waiting = gate.acquire()!
    expect(() => gate.acquire())
      .to.throw(GatewayError)
      .with.property('headers')
      .that.includes({ 'retry-after': '1' })
    waiting.over.catch(() => undefined)
    waiting.end(new GatewayError('service_unavailable'))
  })

  it('refuses a call that has waited too long', async () => {
    const gate = new ConcurrencyLimiter({ limit: 1, queue: 1, wait: 1 })
    gate.acquire()
    expect(await refusal(gate.acquire()!.over)).to.equal('upstream_busy')
    expect(gate.waiting).to.equal(0)
  })

  it('admits the next call if a waiting client disconnects', async () => {
    const gate = new ConcurrencyLimiter({ limit: 1, queue: 2, wait: 60_000 })
    gate.acquire()
    const leaving = gate.acquire()!
    const staying = gate.acquire()!
    const left = refusal(leaving.over)
    leaving.end(new GatewayError('service_unavailable'))
    expect(await left).to.equal('service_unavailable')
    gate.release()
    expect(await refusal(staying.over)).to.equal('admitted')
  })
})
