import { expect } from 'chai'
import { Stopwatch } from '../../../core/http/stopwatch.ts'

/** Lets the clock go on. */
function pass(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

describe('the time of a call', () => {
  it('is the gateway’s own but for what it waits for upstreams', () => {
    const watch = new Stopwatch()
    watch.wait()
    pass(2)
    watch.stopWaiting()
    const { total, overhead } = watch.elapsed()
    expect(total - overhead).to.be.at.least(2)
  })

  it('is the upstream’s and the client’s from the head of a stream on', () => {
    const watch = new Stopwatch()
    watch.head()
    const { overhead } = watch.elapsed()
    pass(2)
    expect(watch.elapsed().overhead).to.equal(overhead)
    expect(watch.elapsed().total).to.be.above(2)
  })
})
