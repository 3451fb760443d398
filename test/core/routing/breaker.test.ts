import { expect } from 'chai'
import { type BreakerState, TargetHealth } from '../../../core/routing/protection.ts'

/** A target's health, and the changes of its breaker so far. */
function target(breaks = true): { health: TargetHealth; changes: BreakerState[] } {
  const changes: BreakerState[] = []
  return { health: new TargetHealth(breaks, (state) => changes.push(state)), changes }
}

function fail(health: TargetHealth, times: number, now: number): void {
  for (let i = 0; i < times; i++) health.failed(now, false)
}

describe('the health of a target', () => {
  it('is not asked any more once five tries have failed within ten seconds', () => {
    const { health, changes } = target()
    fail(health, 4, 1000)
    expect(health.availability(1000)).to.equal('available')
    fail(health, 1, 9000)
    expect([health.availability(9000), health.state(9000)]).to.deep.equal(['open', 'open'])
    expect(changes).to.deep.equal(['open'])
  })

  it('is asked on while less than half of the tries fail', () => {
    const { health } = target()
    for (let i = 0; i < 20; i++) {
      health.succeeded(1000, 10, false)
      if (i % 2 === 1) health.failed(1000, false)
    }
    expect(health.availability(1000)).to.equal('available')
  })

  it('forgets what was more than ten seconds ago', () => {
    const { health } = target()
    fail(health, 4, 1000)
    fail(health, 4, 11_500)
    expect(health.availability(11_500)).to.equal('available')
    fail(health, 1, 200_000)
    expect(health.availability(200_000)).to.equal('available')
  })

  it('lets one probe through after a second, and serves again once that succeeds', () => {
    const { health, changes } = target()
    fail(health, 5, 1000)
    expect(health.availability(1999)).to.equal('open')
    expect([health.availability(2000), health.state(2000)]).to.deep.equal(['available', 'half_open'])
    const probe = health.begin()
    expect(health.availability(2001)).to.equal('open')
    health.end(probe)
    health.succeeded(2100, 5, probe)
    expect([health.availability(2100), health.state(2100)]).to.deep.equal(['available', 'closed'])
    expect(changes).to.deep.equal(['open', 'half_open', 'closed'])
  })

  it('waits twice as long after each probe that fails, and never longer than half a minute', () => {
    const { health } = target()
    fail(health, 5, 0)
    let now = 0
    const waits: number[] = []
    for (let probe = 0; probe < 7; probe++) {
      waits.push(health.availableAt - now)
      now = health.availableAt
      const isProbe = health.begin()
      health.failed(now, isProbe)
      health.end(isProbe)
    }
    expect(waits).to.deep.equal([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
  })

  it('is not judged again by tries that were under way when its breaker opened', () => {
    const { health, changes } = target()
    const early = Array.from({ length: 20 }, () => health.begin())
    for (const isProbe of early.slice(0, 10)) {
      health.end(isProbe)
      health.failed(1000, isProbe)
    }
    expect(health.availableAt, 'as after one failure').to.equal(2000)
    const probe = health.begin()
    health.end(early[10]!)
    expect(health.availability(2000), 'while the probe is out').to.equal('open')
    health.succeeded(2000, 5, early[11]!)
    expect(health.state(2000)).to.equal('half_open')
    health.end(probe)
    health.succeeded(2000, 5, probe)
    expect(health.state(2000)).to.equal('closed')
    expect(changes).to.deep.equal(['open', 'half_open', 'closed'])
  })

  it('lets another probe through when the client of the first has left', () => {
    const { health } = target()
    fail(health, 5, 0)
    health.end(health.begin())
    expect(health.availability(1000)).to.equal('available')
  })

  it('is asked however often it fails where the operator has switched the breaker off', () => {
    const { health, changes } = target(false)
    fail(health, 100, 1000)
    expect(health.availability(1000)).to.equal('available')
    expect(changes).to.deep.equal([])
  })

  it('rests for as long as its upstream has asked, and the longer of two rests counts', () => {
    const { health } = target()
    health.coolDown(1000, 5000)
    health.coolDown(1000, 1000)
    expect([health.availability(5999), health.availability(6000)]).to.deep.equal(['coolingDown', 'available'])
  })

  it('knows how many tries are under way and how fast the last ones were', () => {
    const { health } = target()
    health.begin()
    health.end(health.begin())
    expect(health.busy).to.equal(1)
    health.succeeded(1000, 100, false)
    health.succeeded(1000, 200, false)
    expect(health.latency).to.equal(120)
  })
})
