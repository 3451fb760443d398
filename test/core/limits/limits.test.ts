import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import fc from 'fast-check'
import { memoryLimits } from '../../../core/limits/limits.ts'
import type { RateLimits, Reservation } from '../../../core/sdk/api.ts'

const MINUTE = 60_000
const perMinute = (amount: number) => ({ amount, window: { kind: 'fixed', ms: MINUTE } as const })

describe('limits in memory', () => {
  let now: number
  let limits: ReturnType<typeof memoryLimits>

  beforeEach(() => {
    now = 5_000
    limits = memoryLimits(() => now)
  })

  const reserve = async (rates: RateLimits, tokens = 0, subject = 'key'): Promise<Reservation> =>
    limits.reserve([{ subject, limits: rates }], tokens)

  /** Reads the states by a refused reservation. */
  const peek = (rates: RateLimits): Promise<Reservation> => reserve({ ...rates, concurrent: 0 })

  it('grant as many calls as a class allows, and return the time until the next', async () => {
    const rates = { requests: perMinute(2) }
    expect((await reserve(rates)).requests).to.deep.equal({ limit: 2, remaining: 1, resetMs: MINUTE })
    now += 1000
    expect((await reserve(rates)).requests).to.deep.equal({ limit: 2, remaining: 0, resetMs: 59_000 })
    const third = await reserve(rates)
    expect(third).to.include({ refusedBy: 'requests', retryAfterMs: 59_000 })
    expect(third.requests).to.deep.equal({ limit: 2, remaining: 0, resetMs: 59_000 })
    now += 59_000
    expect(await reserve(rates)).to.not.have.property('refusedBy')
  })

  it('are separate for two keys', async () => {
    const rates = { requests: perMinute(1) }
    await reserve(rates, 0, 'one')
    expect(await reserve(rates, 0, 'two')).to.not.have.property('refusedBy')
    expect(await reserve(rates, 0, 'one')).to.include({ refusedBy: 'requests' })
  })

  it('return no state of what a class does not limit', async () => {
    const reservation = await reserve({ requests: perMinute(1) }, 1e9)
    expect([reservation.refusedBy, reservation.tokens]).to.deep.equal([undefined, undefined])
    const { refusedBy, requests, tokens } = await reserve({})
    expect([refusedBy, requests, tokens]).to.deep.equal([undefined, undefined, undefined])
  })

  it('take nothing from any if one refuses', async () => {
    const rates = { requests: perMinute(10), tokens: perMinute(100), concurrent: 1 }
    expect(await reserve(rates, 101)).to.include({ refusedBy: 'tokens' })
    const first = await reserve(rates, 40)
    expect(await reserve(rates, 40)).to.include({ refusedBy: 'concurrent', retryAfterMs: 0 })
    await first.settle(40)
    const { requests, tokens } = await peek(rates)
    expect([requests?.remaining, tokens?.remaining]).to.deep.equal([9, 60])
  })

  it('refuse more than the whole limit in every window', async () => {
    const rates = { tokens: perMinute(100) }
    expect(await reserve(rates, 101)).to.include({ refusedBy: 'tokens' })
    now += MINUTE
    expect(await reserve(rates, 101)).to.include({ refusedBy: 'tokens' })
    expect(await reserve(rates, 100)).to.not.have.property('refusedBy')
  })

  it('keep the usage of a key when a reload changes the amount', async () => {
    await reserve({ requests: perMinute(2) })
    await reserve({ requests: perMinute(2) })
    expect((await reserve({ requests: perMinute(3) })).requests).to.include({ limit: 3, remaining: 0 })
    expect(await reserve({ requests: perMinute(1) })).to.deep.include({ refusedBy: 'requests' })
  })

  it('throw for an invalid number of tokens', async () => {
    for (const tokens of [Number.NaN, -1]) {
      const error = await reserve({ tokens: perMinute(100) }, tokens).catch((thrown: Error) => thrown)
      expect(error).to.be.an.instanceOf(RangeError)
    }
    expect((await peek({ tokens: perMinute(100) })).tokens?.remaining).to.equal(100)
  })

  describe('settling', () => {
    const rates = { tokens: perMinute(100) }

    it('returns unused tokens', async () => {
      await (await reserve(rates, 100)).settle(30)
      expect((await peek(rates)).tokens?.remaining).to.equal(70)
    })

    it('takes tokens beyond the estimate, and never leaves less than 0', async () => {
      await (await reserve(rates, 10)).settle(250)
      expect((await peek(rates)).tokens?.remaining).to.equal(0)
    })

    it('counts once', async () => {
      const first = await reserve({ ...rates, concurrent: 1 }, 100)
      await Promise.all([first.settle(30), first.settle(0), first.settle(0)])
      await first.settle(0)
      expect((await peek(rates)).tokens?.remaining).to.equal(70)
      await reserve({ ...rates, concurrent: 1 }, 10)
      expect(await reserve({ ...rates, concurrent: 1 }, 10)).to.include({ refusedBy: 'concurrent' })
    })

    it('of a refused call changes nothing', async () => {
      const refused = await reserve(rates, 101)
      await refused.settle(0)
      await refused.settle(50)
      expect((await peek(rates)).tokens?.remaining).to.equal(100)
    })

    it('returns no tokens to a later window', async () => {
      const late = await reserve(rates, 100)
      now += MINUTE
      await reserve(rates, 60)
      await late.settle(0)
      expect((await peek(rates)).tokens?.remaining).to.equal(40)
      now += MINUTE
      expect((await peek(rates)).tokens?.remaining).to.equal(100)
    })

    it('keeps the estimate if the usage is not a count', async () => {
      for (const nonsense of [Number.NaN, -5, Number.POSITIVE_INFINITY, 1e308]) await (await reserve(rates, 10)).settle(nonsense)
      expect((await peek(rates)).tokens?.remaining).to.equal(60)
    })
  })

  it('give everything back for a call that is cancelled, once', async () => {
    const rates = { requests: perMinute(2), tokens: perMinute(100), concurrent: 1 }
    const cancelled = await reserve(rates, 40)
    await cancelled.cancel()
    await cancelled.cancel()
    await cancelled.settle(40)
    const { refusedBy, requests, tokens } = await reserve(rates, 100)
    expect([refusedBy, requests?.remaining, tokens?.remaining]).to.deep.equal([undefined, 1, 0])
    expect((await peek(rates)).requests).to.include({ remaining: 1 })
  })

  it('admit no more than they allow under 1,000 concurrent calls, and account for every token', async () => {
    const call = fc.record({ estimate: fc.nat(50), used: fc.nat(50), turns: fc.nat(5) })
    const scenario = fc.record({
      calls: fc.array(call, { minLength: 1000, maxLength: 1000, size: 'max' }),
      tokens: fc.integer({ min: 50, max: 8000 }),
      requests: fc.integer({ min: 1, max: 1000 }),
      concurrent: fc.integer({ min: 1, max: 300 }),
    })
    await fc.assert(fc.asyncProperty(scenario, checkHistory), { numRuns: 15, endOnFailure: true })
  })
})

interface Scenario {
  readonly calls: readonly { readonly estimate: number; readonly used: number; readonly turns: number }[]
  readonly tokens: number
  readonly requests: number
  readonly concurrent: number
}

/** Runs all calls concurrently with one key, and checks the states after every grant. */
async function checkHistory({ calls, tokens, requests, concurrent }: Scenario): Promise<void> {
  const limits = memoryLimits()
  const rates = { tokens: perMinute(tokens), requests: perMinute(requests), concurrent }
  let admitted = 0
  let inFlight = 0
  let taken = 0

  async function run({ estimate, used, turns }: Scenario['calls'][number]): Promise<void> {
    for (let turn = 0; turn < turns; turn++) await setImmediate()
    const reservation = await limits.reserve([{ subject: 'key', limits: rates }], estimate)
    for (const state of [reservation.tokens, reservation.requests]) {
      expect(state?.remaining).to.be.within(0, state?.limit ?? 0)
    }
    if (reservation.refusedBy !== undefined) return
    admitted++
    inFlight++
    taken += estimate
    expect(taken, 'tokens').to.be.at.most(tokens)
    expect(admitted, 'requests').to.be.at.most(requests)
    expect(inFlight, 'in flight').to.be.at.most(concurrent)
    for (let turn = 0; turn < turns; turn++) await setImmediate()
    const spent = Math.min(used, estimate)
    taken -= estimate - spent
    inFlight--
    await reservation.settle(spent)
  }

  await Promise.all(calls.map(run))
  const after = await limits.reserve([{ subject: 'key', limits: { ...rates, concurrent: 0 } }], 0)
  expect(after.tokens?.remaining).to.equal(tokens - taken)
  expect(after.requests?.remaining).to.equal(requests - admitted)
}
