import { expect } from 'chai'
import { CallAttempts, CallCharge } from '../../../core/call/attempts.ts'
import { Exchange } from '../../../core/call/exchange.ts'
import type { Relay } from '../../../core/dispatch/relay.ts'

/** Holds the event loop until the clock has gone on by so many milliseconds. */
function pass(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** The attempts of a call that costs nothing. */
function attemptsOf(exchange: Exchange): CallAttempts {
  const prices = { costOf: () => undefined, chargeOf: () => undefined }
  const charge = new CallCharge(exchange, { prices, journal: undefined })
  return new CallAttempts(exchange, { charge, trace: undefined, hasForeignBetas: false })
}

const SERVED = { namespace: 'open', model: 'm', provider: 'openai-compatible' }

describe('the time of a call', () => {
  it('is the gateway’s own except while it waits for an upstream', () => {
    const exchange = new Exchange()
    const attempts = attemptsOf(exchange)
    attempts.beginAttempt()
    pass(2)
    attempts.servedBy(SERVED, [], undefined)
    const { total, overhead } = exchange.times.elapsed()
    expect(total - overhead).to.be.at.least(2)
  })

  it('is the upstream’s also while an attempt waits in vain that another one follows', () => {
    const exchange = new Exchange()
    const attempts = attemptsOf(exchange)
    attempts.beginAttempt()
    pass(5)
    attempts.beginAttempt()
    const { total, overhead } = exchange.times.elapsed()
    expect(total - overhead).to.be.at.least(5)
  })

  it('is the upstream’s from the head of a stream on', () => {
    const exchange = new Exchange()
    exchange.answer({ kind: 'stream', stream: {} as Relay })
    attemptsOf(exchange).servedBy(SERVED, [], undefined)
    const { overhead } = exchange.times.elapsed()
    pass(2)
    expect(exchange.times.elapsed().overhead).to.equal(overhead)
    expect(exchange.times.elapsed().total).to.be.above(2)
  })
})
