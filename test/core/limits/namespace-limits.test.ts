import { expect } from 'chai'
import type { LimitsConfig } from '../../../core/config/config.ts'
import { GatewayError } from '../../../core/errors.ts'
import { Leases } from '../../../core/limits/leases.ts'
import { LeasedLimits, memoryLimits } from '../../../core/limits/limits.ts'
import { type LimitReached, LimitShare, NamespaceLimits } from '../../../core/limits/namespace-limits.ts'
import type { Limits, Reservation } from '../../../core/sdk/api.ts'
import { testHost } from '../../../core/testing/kit.ts'
import { fakeCall } from '../../support/fake-call.ts'

const call = fakeCall({ model: 'a/1' })
const LEFT = new GatewayError('service_unavailable')

function limitsOf(config: Partial<LimitsConfig>, limits: Pick<Limits, 'reserve'> = memoryLimits()): NamespaceLimits {
  const services = { limits, counting: testHost(), onLimited: () => undefined }
  return new NamespaceLimits('a', { wait: 60_000, ...config }, services)
}

const STAYING = new AbortController().signal

async function share(limits: NamespaceLimits): Promise<LimitShare> {
  const answer = await limits.take(call, STAYING)
  return answer instanceof LimitShare ? answer : expect.fail('there is no room')
}

async function refusal(limits: NamespaceLimits): Promise<LimitReached> {
  const answer = await limits.take(call, STAYING)
  return answer instanceof LimitShare ? expect.fail('there is room') : answer
}

describe('limits of a namespace', () => {
  it('are asked without waiting while this process has a lease', async () => {
    const limits = limitsOf({ concurrent: 100 })
    const first = await share(limits)
    expect(limits.take(call, STAYING)).to.be.an.instanceOf(LimitShare)
    first[Symbol.dispose]()
  })

  it('take back a share that comes after its call has left', async () => {
    const answer = Promise.withResolvers<Reservation>()
    const end = Promise.withResolvers<string>()
    const leaving = new AbortController()
    const pending = limitsOf({ concurrent: 1 }, { reserve: () => answer.promise }).take(call, leaving.signal)
    leaving.abort(LEFT)
    expect(await Promise.resolve(pending).catch((error: unknown) => error)).to.equal(LEFT)
    answer.resolve({ retryAfterMs: 0, settle: () => end.resolve('settled'), cancel: () => end.resolve('cancelled') })
    expect(await end.promise).to.equal('cancelled')
  })

  it('give room to calls that wait before new ones', async () => {
    const limits = limitsOf({ concurrent: 1 })
    const held = await share(limits)
    const waiting = limits.wait(call, await refusal(limits), 60_000, STAYING)
    held[Symbol.dispose]()
    expect(await waiting).to.be.an.instanceOf(LimitShare)
    expect(await refusal(limits)).to.include({ refusedBy: 'concurrent' })
  })

  it('go on with the next call when the first leaves', async () => {
    const limits = limitsOf({ concurrent: 1 })
    const held = await share(limits)
    const leaving = new AbortController()
    const first = limits.wait(call, await refusal(limits), 60_000, leaving.signal)
    const second = limits.wait(call, await refusal(limits), 60_000, STAYING)
    leaving.abort(LEFT)
    expect(await first.catch((error: unknown) => error)).to.equal(LEFT)
    held[Symbol.dispose]()
    expect(await second).to.be.an.instanceOf(LimitShare)
  })

  it('let at most 1000 calls wait', async () => {
    const limits = limitsOf({ concurrent: 1 })
    await share(limits)
    const reached = await refusal(limits)
    const leaving = new AbortController()
    const waiting = Array.from({ length: 1000 }, () => limits.wait(call, reached, 60_000, leaving.signal))
    expect(await limits.wait(call, reached, 60_000, STAYING)).to.equal(reached)
    leaving.abort(LEFT)
    await Promise.allSettled(waiting)
    const again = new AbortController()
    const later = limits.wait(call, reached, 60_000, again.signal)
    again.abort(LEFT)
    expect(await later.catch((error: unknown) => error)).to.equal(LEFT)
  })

  it('let no call wait for a window that ends later than calls may wait', async () => {
    const limits = limitsOf({ requests: { amount: 1, window: { kind: 'fixed', ms: 60_000 } }, wait: 5000 })
    await share(limits)
    expect(await refusal(limits)).to.include({ refusedBy: 'requests', waitMs: 0 })
  })

  it('refuse a call with 503 if nobody can tell whether they have room', async () => {
    const silent = new Leases({ renew: () => Promise.reject(new Error('away')), onAsked: () => undefined })
    const limits = limitsOf({ requests: { amount: 5, window: { kind: 'fixed', ms: 60_000 } } }, new LeasedLimits(silent))
    const error = await Promise.resolve(limits.take(call, STAYING)).catch((thrown: unknown) => thrown)
    expect(error).to.be.an.instanceOf(GatewayError).and.include({ row: 'limits_unavailable', status: 503 })
    await silent.close()
  })
})
