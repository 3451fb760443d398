import { expect } from 'chai'
import type { LimitsConfig } from '../../../core/config/config.ts'
import { GatewayError } from '../../../core/errors.ts'
import { type LimitAnswer, type LimitReached, LimitShare } from '../../../core/limits/limit-share.ts'
import { memoryLimits } from '../../../core/limits/limits.ts'
import { NamespaceLimits } from '../../../core/limits/namespace-limits.ts'
import type { Limits, Reservation } from '../../../core/sdk/api.ts'
import { fakeCall } from '../../support/fake-call.ts'

const call = fakeCall({ model: 'a/1' })
const LEFT = new GatewayError('service_unavailable')

function limitsOf(config: Partial<LimitsConfig>, limits: Limits = memoryLimits()): NamespaceLimits {
  const services = { limits, countTokens: async () => 10, onLimited: () => undefined }
  return new NamespaceLimits('a', { wait: 60_000, ...config }, services)
}

const settled = async (answer: ReturnType<NamespaceLimits['take']>): Promise<LimitAnswer> =>
  'over' in answer ? answer.over : answer

async function share(limits: NamespaceLimits): Promise<LimitShare> {
  const answer = await settled(limits.take(call))
  return answer instanceof LimitShare ? answer : expect.fail('there is no room')
}

async function refusal(limits: NamespaceLimits): Promise<LimitReached> {
  const answer = await settled(limits.take(call))
  return answer instanceof LimitShare ? expect.fail('there is room') : answer
}

describe('limits of a namespace', () => {
  it('are asked without waiting while this process has a lease', async () => {
    const limits = limitsOf({ concurrent: 100 })
    const first = await share(limits)
    expect(limits.take(call)).to.be.an.instanceOf(LimitShare)
    first.cancel()
  })

  it('take back a share that comes after its call has left', async () => {
    const answer = Promise.withResolvers<Reservation>()
    const end = Promise.withResolvers<string>()
    const pending = limitsOf({ concurrent: 1 }, { reserve: () => answer.promise }).take(call)
    if (!('over' in pending)) return expect.fail('the answer is there')
    pending.end(LEFT)
    expect(await pending.over.catch((error: unknown) => error)).to.equal(LEFT)
    answer.resolve({ retryAfterMs: 0, settle: () => end.resolve('settled'), cancel: () => end.resolve('cancelled') })
    expect(await end.promise).to.equal('cancelled')
  })

  it('give room to calls that wait before new ones', async () => {
    const limits = limitsOf({ concurrent: 1 })
    const held = await share(limits)
    const waiting = limits.wait(await refusal(limits), 60_000)
    held.settle(0)
    expect(await settled(waiting)).to.be.an.instanceOf(LimitShare)
    expect(await refusal(limits)).to.include({ refusedBy: 'concurrent' })
  })

  it('go on with the next call when the first leaves', async () => {
    const limits = limitsOf({ concurrent: 1 })
    const held = await share(limits)
    const [first, second] = [limits.wait(await refusal(limits), 60_000), limits.wait(await refusal(limits), 60_000)]
    if (!('over' in first)) return expect.fail('the call does not wait')
    first.end(LEFT)
    expect(await first.over.catch((error: unknown) => error)).to.equal(LEFT)
    held.settle(0)
    expect(await settled(second)).to.be.an.instanceOf(LimitShare)
  })

  it('let at most 1000 calls wait', async () => {
    const limits = limitsOf({ concurrent: 1 })
    await share(limits)
    const reached = await refusal(limits)
    const waiting = Array.from({ length: 1000 }, () => limits.wait(reached, 60_000))
    expect(limits.wait(reached, 60_000)).to.equal(reached)
    for (const each of waiting) if ('over' in each) each.over.catch(() => each)
    for (const each of waiting) if ('over' in each) each.end(LEFT)
    expect(limits.wait(reached, 1)).to.have.property('over')
  })

  it('let no call wait for a window that ends later than calls may wait', async () => {
    const limits = limitsOf({ requests: { amount: 1, window: { kind: 'fixed', ms: 60_000 } }, wait: 5000 })
    await share(limits)
    expect(await refusal(limits)).to.include({ refusedBy: 'requests', waitMs: 0 })
  })
})
