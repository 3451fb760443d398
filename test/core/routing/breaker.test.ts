import { expect } from 'chai'
import { type BreakerState, CircuitBreaker } from '../../../core/routing/circuit-breaker.ts'
import { TargetHealth } from '../../../core/routing/health.ts'

/** A target's health, and the changes of its breaker so far. */
function target(breaks = true): { health: TargetHealth; changes: BreakerState[] } {
  const changes: BreakerState[] = []
  const breaker = new CircuitBreaker((state) => changes.push(state))
  return { health: new TargetHealth(breaks ? breaker : undefined), changes }
}

function fail(health: TargetHealth, times: number, now: number, account?: string): void {
  for (let i = 0; i < times; i++) health.failed(now, 'reply', [], account)
}

describe('the health of a target', () => {
  it('opens the breaker after five failed attempts within ten seconds', () => {
    const { health, changes } = target()
    fail(health, 4, 1000)
    expect(health.availability(1000)).to.equal('available')
    fail(health, 1, 9000)
    expect([health.availability(9000), health.state(9000)]).to.deep.equal(['open', 'open'])
    expect(changes).to.deep.equal(['open'])
  })

  it('keeps the breaker closed while less than half of the attempts fail', () => {
    const { health } = target()
    for (let i = 0; i < 20; i++) {
      health.succeeded(1000, 10)
      if (i % 2 === 1) health.failed(1000, 'reply')
    }
    expect(health.availability(1000)).to.equal('available')
  })

  it('ignores attempts of more than ten seconds ago', () => {
    const { health } = target()
    fail(health, 4, 1000)
    fail(health, 4, 11_500)
    expect(health.availability(11_500)).to.equal('available')
    fail(health, 1, 200_000)
    expect(health.availability(200_000)).to.equal('available')
  })

  it('allows one probe after a second, and closes the breaker when it succeeds', () => {
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

  it('doubles the time after each failed probe, up to half a minute', () => {
    const { health } = target()
    fail(health, 5, 0)
    let now = 0
    const waits: number[] = []
    for (let probe = 0; probe < 7; probe++) {
      waits.push(health.availableAt - now)
      now = health.availableAt
      const probes = health.begin()
      health.failed(now, 'reply', probes)
      health.end(probes)
    }
    expect(waits).to.deep.equal([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
  })

  it('ignores attempts that were in progress when the breaker opened', () => {
    const { health, changes } = target()
    const early = Array.from({ length: 20 }, () => health.begin())
    for (const probes of early.slice(0, 10)) {
      health.end(probes)
      health.failed(1000, 'reply', probes)
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

  it('allows another probe if the client of the first disconnects', () => {
    const { health } = target()
    fail(health, 5, 0)
    health.end(health.begin())
    expect(health.availability(1000)).to.equal('available')
  })

  it('opens the breaker for one account alone whose calls alone fail, also if nobody else calls', () => {
    const { health, changes } = target()
    fail(health, 9, 1000, 'mallory')
    expect(health.availability(1500, 'mallory')).to.equal('open')
    expect(health.availability(1500, 'ann')).to.equal('available')
    expect(health.begin('ann'), 'no probe').to.deep.equal([])
    health.succeeded(1600, 5, [], 'ann')
    expect(health.availability(1700, 'mallory')).to.equal('open')
    const probe = health.begin('mallory')
    health.end(probe)
    health.succeeded(2000, 5, probe, 'mallory')
    expect(health.availability(2000, 'mallory')).to.equal('available')
    expect(changes).to.deep.equal(['open', 'half_open', 'closed'])
  })

  it('opens the breaker for all once the calls of others fail too', () => {
    const { health } = target()
    fail(health, 9, 1000, 'mallory')
    fail(health, 1, 1500, 'ann')
    expect(health.availability(1500, 'bob')).to.equal('open')
    expect(health.availability(1500, 'mallory')).to.equal('open')
  })

  it('stays closed for others while most of their calls succeed', () => {
    const { health } = target()
    for (let i = 0; i < 6; i++) health.succeeded(1000, 5, [], 'ann')
    fail(health, 40, 1000, 'mallory')
    fail(health, 1, 1000, 'bob')
    expect(health.availability(1000, 'bob')).to.equal('available')
    expect(health.availability(1000, 'mallory')).to.equal('open')
  })

  it('never opens a breaker that is switched off', () => {
    const { health, changes } = target(false)
    fail(health, 100, 1000)
    expect(health.availability(1000)).to.equal('available')
    expect(changes).to.deep.equal([])
  })

  it('cools down for the time that its upstream requests, the longer of two', () => {
    const { health } = target()
    health.coolDown(1000, 5000)
    health.coolDown(1000, 1000)
    expect([health.availability(5999), health.availability(6000)]).to.deep.equal(['coolingDown', 'available'])
  })

  it('counts attempts in progress, and measures the last ones', () => {
    const { health } = target()
    health.begin()
    health.end(health.begin())
    expect(health.busy).to.equal(1)
    health.succeeded(1000, 100)
    health.succeeded(1000, 200)
    expect(health.latency).to.equal(120)
  })
})
