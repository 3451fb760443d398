import { expect } from 'chai'
import { after, begin, choose, errorOf, note, type PlannedAttempt, type Setback, traceOf } from '../../../core/dispatch/plan.ts'
import type { ErrorName } from '../../../core/error-table.ts'
import { GatewayError } from '../../../core/errors.ts'
import type { LimitReached } from '../../../core/limits/namespace-limits.ts'
import type { Route } from '../../../core/routing/route.ts'
import { testCall } from '../../../core/testing/gateway/doubles.ts'
import { candidate, route } from '../routing/routes.ts'

const call = testCall({ model: 'acme/smart' })

/** A limit that is reached, and has room again in `retryAfterMs`. */
const reached = (retryAfterMs: number, more: Partial<LimitReached> = {}): LimitReached => ({
  refusedBy: 'requests',
  retryAfterMs,
  waitMs: 5000,
  isTooLarge: false,
  ...more,
})

const NEVER = { waitMs: 0 }

/** No time passes in these tests. */
const NOW = 1000

/** A call, as its plan goes on. */
function callTo(ids: readonly string[], attempts = 3, way = routeTo(ids, attempts)) {
  let plan = begin(way, call, { key: 'key_1', account: 'default', headers: {}, mayCall: () => true, random: () => 0.5 }, NOW)
  const goOn = (setback: Setback): void => {
    plan = after(plan, setback, NOW)
  }
  const planned = (until?: number): PlannedAttempt | undefined => {
    const choice = choose(plan, NOW, until)
    plan = choice.plan
    if (choice.next !== undefined) note(choice.next, NOW)
    return choice.next
  }
  return {
    planned,
    /** Plans the next attempt. Returns its target, and whether the call waits for it. */
    next(until?: number): string | undefined {
      const next = planned(until)
      return next && `${next.candidate.target.id}${next.limited ? ' after a wait' : ''}`
    },
    failed: (row: ErrorName) => goOn({ kind: 'failed', error: new GatewayError(row) }),
    limited: (limit: LimitReached) => goOn({ kind: 'limited', reached: limit }),
    ended: (row: ErrorName) => goOn({ kind: 'ended', error: new GatewayError(row) }),
    error: () => errorOf(plan, NOW),
    skipped: () => traceOf(plan).skipped,
  }
}

const routeTo = (ids: readonly string[], attempts: number): Route =>
  route(
    ids.map((id) => candidate(id)),
    { attempts },
  )

describe('the plan of a call whose targets are at their limits', () => {
  it('goes on with the next target, which may use all attempts', () => {
    const one = callTo(['a/1', 'b/1'], 1)
    expect(one.next()).to.equal('a/1')
    one.limited(reached(1000))
    expect(one.next()).to.equal('b/1')
    expect(one.skipped()).to.deep.equal([{ target: 'a/1', why: 'namespace_limit_reached' }])
  })

  it('waits, if no target is left, for the limit that has room first', () => {
    const one = callTo(['a/1', 'b/1', 'c/1'])
    for (const ms of [3000, 1000, 2000]) {
      one.next()
      one.limited(reached(ms))
    }
    expect(one.next()).to.equal('b/1 after a wait')
    expect(one.skipped().map(({ target }) => target)).to.deep.equal(['a/1', 'c/1'])
  })

  it('waits for another limit if the attempt after the first wait fails', () => {
    const one = callTo(['a/1', 'b/1'])
    for (const ms of [1000, 2000]) {
      one.next()
      one.limited(reached(ms))
    }
    expect(one.next()).to.equal('a/1 after a wait')
    one.failed('upstream_timeout')
    expect(one.next()).to.equal('b/1 after a wait')
  })

  it('ends after one wait in vain', () => {
    const one = callTo(['a/1', 'b/1'])
    for (const ms of [1000, 2000]) {
      one.next()
      one.limited(reached(ms))
    }
    one.next()
    one.limited(reached(500))
    expect(one.next()).to.equal(undefined)
    expect(one.error()).to.include({ row: 'namespace_limit_reached', status: 429 })
    expect(one.error().headers).to.deep.equal({ 'retry-after': '1' })
    expect(one.skipped()).to.have.length(2)
  })

  it('does not wait if that cannot help, or would take longer than the call may', () => {
    const one = callTo(['a/1', 'b/1'])
    one.next()
    one.limited(reached(40_000, NEVER))
    one.next()
    one.limited(reached(4000))
    expect(one.next(NOW + 3000)).to.equal(undefined)
    expect(one.error().headers['retry-after']).to.equal('4')
  })

  it('retries a target that failed before it waits for another', () => {
    const one = callTo(['a/1', 'b/1'])
    one.next()
    one.limited(reached(1000))
    one.next()
    one.failed('upstream_error')
    expect(one.next()).to.equal('b/1')
  })

  it('ends with the error of an attempt, if there was one', () => {
    const one = callTo(['a/1', 'b/1'])
    one.next()
    one.failed('upstream_timeout')
    one.next()
    one.limited(reached(40_000, NEVER))
    expect(one.next()).to.equal(undefined)
    expect(one.error().row).to.equal('upstream_timeout')
  })

  it('ends with 429, and not with a timeout, if the time of the call passes during the wait', () => {
    const one = callTo(['a/1'])
    one.next()
    one.limited(reached(1000))
    one.next()
    one.limited(reached(1000))
    one.ended('upstream_timeout')
    expect(one.next()).to.equal(undefined)
    expect(one.error().row).to.equal('namespace_limit_reached')
  })

  it('forbids a retry only if the call is too large for every target', () => {
    const one = callTo(['a/1', 'b/1'])
    one.next()
    one.limited(reached(0, { ...NEVER, isTooLarge: true }))
    expect(one.error().headers['x-should-retry']).to.equal('false')
    one.next()
    one.limited(reached(40_000, NEVER))
    expect(one.error().headers).to.deep.equal({ 'retry-after': '40' })
  })

  it('repeats an attempt with a new credential after a wait', () => {
    const way = route([candidate('a/1', { refreshes: true })], { attempts: 1 })
    const one = callTo([], 1, way)
    one.next()
    one.failed('upstream_authentication_error')
    expect(one.planned()).to.include({ credentialRefused: true })
    one.limited(reached(1000))
    expect(one.planned()).to.include({ credentialRefused: true })
  })
})
