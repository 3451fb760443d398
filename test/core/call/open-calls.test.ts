import { mock } from 'node:test'
import { expect } from 'chai'
import type { Exchange } from '../../../core/call/exchange.ts'
import { journaledCalls } from '../../../core/call/open-calls.ts'

describe('calls under way', () => {
  /** Where the clock stands, in milliseconds. */
  let now: number
  let open: ReturnType<typeof journaledCalls>
  let noted: Record<string, number[]>
  let clock: { callCount(): number }

  beforeEach(() => {
    now = 1000
    open = journaledCalls()
    noted = {}
    mock.timers.enable({ apis: ['setTimeout'] })
    clock = mock.method(performance, 'now', () => now).mock
  })

  afterEach(() => {
    open?.close()
    // Not `restoreAll`: see admission.test.ts.
    mock.reset()
  })

  /** A call that begins now. */
  function begin(name: string): Exchange {
    const times: number[] = []
    noted[name] = times
    const call = { times: { startedAt: now }, noteAttempt: () => times.push(now) } as unknown as Exchange
    open.add(call)
    return call
  }

  function pass(ms: number): void {
    for (const end = now + ms; now < end; ) {
      now += 10
      mock.timers.tick(10)
    }
  }

  it('are noted a twentieth of a second after they began, and the shortest never', () => {
    const short = begin('short')
    begin('first')
    pass(30)
    open.remove(short)
    begin('second')
    pass(70)
    expect(noted).to.deep.equal({ short: [], first: [1050], second: [1100] })
  })

  it('are all looked at four times a second, also those of before', () => {
    begin('first')
    pass(500)
    begin('second')
    pass(100)
    expect(noted).to.deep.equal({ first: [1050, 1300, 1550], second: [1550] })
  })

  it('leave no timer when they have ended', () => {
    const call = begin('only')
    pass(30)
    open.remove(call)
    pass(50)
    const reads = clock.callCount()
    pass(1000)
    expect([noted, clock.callCount()]).to.deep.equal([{ only: [] }, reads])
    begin('later')
    pass(60)
    expect(noted).to.deep.equal({ only: [], later: [2130] })
  })
})
