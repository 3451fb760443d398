import { expect } from 'chai'
import { Exchange } from '../../../core/call/exchange.ts'
import type { Relay } from '../../../core/dispatch/relay.ts'

/** Holds the event loop until the clock has gone on by so many milliseconds. */
function pass(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

const SERVED = { namespace: 'open', model: 'm', provider: 'openai-compatible' }

describe('the time of a call', () => {
  it('is the gateway’s own except while it waits for an upstream', () => {
    const exchange = new Exchange()
    exchange.waits()
    pass(2)
    exchange.servedBy(SERVED, [], undefined)
    const { total, overhead } = exchange.times.elapsed()
    expect(total - overhead).to.be.at.least(2)
  })

  it('is the upstream’s from the head of a stream on', () => {
    const exchange = new Exchange()
    exchange.reply = { kind: 'stream', stream: {} as Relay }
    exchange.servedBy(SERVED, [], undefined)
    const { overhead } = exchange.times.elapsed()
    pass(2)
    expect(exchange.times.elapsed().overhead).to.equal(overhead)
    expect(exchange.times.elapsed().total).to.be.above(2)
  })
})
