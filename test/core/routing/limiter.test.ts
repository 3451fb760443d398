import { expect } from 'chai'
import { GatewayError } from '../../../core/errors.ts'
import { Gate } from '../../../core/routing/limiter.ts'

/** The row of the error that a promise rejects with. */
const refusal = (over: Promise<void>): Promise<string> =>
  over.then(
    () => 'admitted',
    (error: GatewayError) => error.row,
  )

describe('the places at an upstream', () => {
  it('are as many as there are calls where no limit is set', () => {
    const gate = new Gate(undefined)
    for (let i = 0; i < 1000; i++) expect(gate.enter()).to.equal(undefined)
  })

  it('are given to those who wait in the order in which they came', async () => {
    const gate = new Gate({ limit: 1, queue: 2, wait: 60_000 })
    expect(gate.enter()).to.equal(undefined)
    const order: string[] = []
    const first = gate.enter()!.over.then(() => order.push('first'))
    const second = gate.enter()!.over.then(() => order.push('second'))
    gate.leave()
    await first
    expect([order, gate.waiting]).to.deep.equal([['first'], 1])
    gate.leave()
    await second
    expect([order, gate.waiting]).to.deep.equal([['first', 'second'], 0])
  })

  it('refuse at once whoever finds the queue full, and tell when to come again', () => {
    const gate = new Gate({ limit: 1, queue: 1, wait: 60_000 })
    gate.enter()
    const waiting = gate.enter()!
    expect(() => gate.enter())
      .to.throw(GatewayError)
      .with.property('headers')
      .that.includes({ 'retry-after': '1' })
    waiting.over.catch(() => undefined)
    waiting.end(new GatewayError('service_unavailable'))
  })

  it('refuse whoever has waited too long', async () => {
    const gate = new Gate({ limit: 1, queue: 1, wait: 1 })
    gate.enter()
    expect(await refusal(gate.enter()!.over)).to.equal('upstream_busy')
    expect(gate.waiting).to.equal(0)
  })

  it('go to the next one when a waiting client leaves', async () => {
    const gate = new Gate({ limit: 1, queue: 2, wait: 60_000 })
    gate.enter()
    const leaving = gate.enter()!
    const staying = gate.enter()!
    const left = refusal(leaving.over)
    leaving.end(new GatewayError('service_unavailable'))
    expect(await left).to.equal('service_unavailable')
    gate.leave()
    expect(await refusal(staying.over)).to.equal('admitted')
  })
})
