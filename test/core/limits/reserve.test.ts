import { expect } from 'chai'
import type { LimitsConfig } from '../../../core/config/config.ts'
import { memoryLimits } from '../../../core/limits/limits.ts'
import { LimitShare, NamespaceLimits } from '../../../core/limits/namespace-limits.ts'
import { CallReservation, HostLimits, type Part, reserve } from '../../../core/limits/reserve.ts'
import type { CallLimits, LimitedContext, Limits, Outcome, Rate, Reservation } from '../../../core/sdk/api.ts'
import { testHost } from '../../../core/testing/kit.ts'
import { fakeCall } from '../../support/fake-call.ts'

/** A part that notes how it ends. */
function noting(): { readonly part: Part; readonly ends: unknown[] } {
  const ends: unknown[] = []
  const part: Part = {
    settle: (used) => void ends.push(used),
    cancel: () => void ends.push('cancelled'),
  }
  return { part, ends }
}

describe('a reservation', () => {
  const demand = (answers: readonly string[], asked: (number | undefined)[]) => ({
    take(prompt?: number) {
      asked.push(prompt)
      return answers[asked.length - 1]!
    },
    mayCountAdmit: (answer: string) => answer === 'too many',
    count: async () => 7,
  })

  it('is made by the estimate, at once and without a count, if that has room', () => {
    const asked: (number | undefined)[] = []
    expect(reserve(demand(['granted'], asked))).to.equal('granted')
    expect(asked).to.deep.equal([undefined])
  })

  it('is made by the count where that may admit the call, and only once', async () => {
    const asked: (number | undefined)[] = []
    expect(await reserve(demand(['too many', 'too many'], asked))).to.equal('too many')
    expect(asked).to.deep.equal([undefined, 7])
  })

  it('is not counted where that cannot help', () => {
    const asked: (number | undefined)[] = []
    expect(reserve(demand(['spent'], asked))).to.equal('spent')
  })

  it('of further attempts takes only what is missing', async () => {
    const { part, ends } = noting()
    const reserved = new CallReservation(part, 100)
    const taken: number[] = []
    const take = (missing: number): Part => {
      taken.push(missing)
      return part
    }
    await reserved.extend(0, 100, take)
    await reserved.extend(30, 100, take)
    await reserved.extend(50, 100, take)
    expect([taken, reserved.amount]).to.deep.equal([[30, 20], 150])
    reserved.settle(120)
    expect(ends).to.deep.equal(['cancelled', 'cancelled', 120])
  })

  it('stays as it is if it is unknown what the call has used', async () => {
    const { part, ends } = noting()
    const reserved = new CallReservation(part, 100)
    await reserved.extend(100, 100, () => part)
    reserved.settle(undefined)
    expect(ends).to.deep.equal([undefined, undefined])
  })

  it('of a further attempt that comes after the end of the call is given back', async () => {
    const [first, more] = [noting(), noting()]
    const reserved = new CallReservation(first.part, 100)
    const late = Promise.withResolvers<Part>()
    const extended = reserved.extend(100, 100, () => late.promise)
    reserved.settle(100)
    late.resolve(more.part)
    await extended
    expect([first.ends, more.ends]).to.deep.equal([[100], ['cancelled']])
  })
})

const NOTHING: Outcome = {
  kind: 'client_closed',
  status: 499,
  endpoint: 'chat.completions',
  stream: false,
  attempts: [],
  links: [],
  usageEstimated: false,
  times: { total: 0, overhead: 0 },
}

const perHour = (amount: number): Rate => ({ amount, window: { kind: 'fixed', ms: 3_600_000 } })

describe('limits.reserveFor', () => {
  const wanted = (limits: CallLimits['scopes'][number]['limits']): CallLimits => ({
    scopes: [{ subject: 'mine', limits }],
    refusal: ({ refusedBy }) => new Error(refusedBy),
  })

  /** The `ctx` of a call that has ended: its hooks run at once. */
  const ended: LimitedContext = {
    state: {
      call: async () => fakeCall(),
      onRetry: () => undefined,
      onSettled: (fn) => void fn(NOTHING),
    },
    request: { length: 100 },
  }

  for (const [what, limits] of Object.entries({
    'a place': { concurrent: 1 },
    'a place and tokens': { concurrent: 1, tokens: perHour(10_000) },
  }))
    it(`gives back ${what} that it gets after the call has ended`, async () => {
      const host = testHost()
      await host.limits.reserveFor(ended, wanted(limits))
      const { refusedBy } = await host.limits.reserve([{ subject: 'mine', limits }], 10_000)
      expect(refusedBy).to.equal(undefined)
    })

  it('is synchronous without tokens, as long as this process has room', async () => {
    const { limits } = testHost()
    const places = wanted({ concurrent: 100 })
    await limits.reserveFor(ended, places)
    expect(limits.reserveFor(ended, places)).to.not.be.an.instanceOf(Promise)
  })

  it('asks for a request before it reads a body of unknown size, and gives it back if the body is refused', async () => {
    const { limits } = testHost()
    const refused: LimitedContext = {
      state: { ...ended.state, call: () => Promise.reject(new Error('no JSON')) },
      request: {},
    }
    const once = wanted({ requests: perHour(1), tokens: perHour(10_000) })
    const error = await Promise.resolve(limits.reserveFor(refused, once)).catch((thrown: Error) => thrown.message)
    expect(error).to.equal('no JSON')
    expect(await limits.reserveFor(ended, once)).to.nested.include({ 'requests.remaining': 0 })
    const again = await Promise.resolve(limits.reserveFor(refused, once)).catch((thrown: Error) => thrown.message)
    expect(again).to.equal('requests')
  })

  it('counts by bytes what cannot be counted, and says so', async () => {
    const warnings: string[] = []
    const counting = {
      countTokens: () => Promise.reject(new Error('no thread')),
      log: { ...testHost().log, warn: (_: object, message: string) => void warnings.push(message) },
    }
    const limits = new HostLimits(memoryLimits(), counting)
    const large: LimitedContext = { ...ended, state: { ...ended.state, call: async () => fakeCall({ user: 'x'.repeat(8000) }) } }
    const error = await Promise.resolve(limits.reserveFor(large, wanted({ tokens: perHour(1000) }))).catch(
      (thrown: Error) => thrown.message,
    )
    expect([error, warnings.length]).to.deep.equal(['tokens', 1])
  })
})

describe('the limits of a namespace, for a large prompt', () => {
  it('count it once, however often the call tries again', async () => {
    let counts = 0
    const counting = {
      ...testHost(),
      countTokens: async () => {
        counts++
        return 500
      },
    }
    const tried = Promise.withResolvers<void>()
    const memory = memoryLimits()
    let tries = 0
    const limits: Pick<Limits, 'reserve'> = {
      reserve(scopes, tokens) {
        if (++tries === 3) tried.resolve()
        return memory.reserve(scopes, tokens) as Reservation | Promise<Reservation>
      },
    }
    const config: LimitsConfig = { wait: 3_600_000, tokens: perHour(1000) }
    const namespace = new NamespaceLimits('a', config, { limits, counting, onLimited: () => undefined })
    const { signal } = new AbortController()
    const call = fakeCall({ user: 'x'.repeat(8000) })
    const first = await namespace.take(call, signal)
    if (!(first instanceof LimitShare)) throw new Error('there is no room for the first call')
    const second = await namespace.take(call, signal)
    if (second instanceof LimitShare) throw new Error('there is room for the second call')
    const waiting = namespace.wait(call, second, 60_000, signal)
    await tried.promise
    first[Symbol.dispose]()
    expect(await waiting).to.be.an.instanceOf(LimitShare)
    expect(counts).to.equal(2)
  })
})
