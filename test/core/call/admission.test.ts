import { mock } from 'node:test'
import { expect } from 'chai'
import { Admission } from '../../../core/call/admission.ts'

describe('the admission of calls', () => {
  // Not `restoreAll`, which keeps what it has restored: the next one, in another file, would put the timers of this test back.
  afterEach(() => mock.reset())

  it('has timers only while calls come', () => {
    mock.timers.enable({ apis: ['setInterval'] })
    const started = mock.method(globalThis, 'setInterval').mock
    const ended = mock.method(globalThis, 'clearInterval').mock
    const timers = (): number => started.callCount() - ended.callCount()

    const admission = new Admission({ shed: { add: () => undefined }, processes: 1, limits: {} })
    expect(timers()).to.equal(0)
    admission.check()
    const busy = timers()
    expect(busy).to.be.above(0)
    mock.timers.tick(4000)
    admission.check()
    mock.timers.tick(4000)
    expect(timers()).to.equal(busy)
    mock.timers.tick(2000)
    expect(timers()).to.equal(0)

    admission.check()
    expect(timers()).to.equal(busy)
    admission.close()
    expect(timers()).to.equal(0)
  })
})
