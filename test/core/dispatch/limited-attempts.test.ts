import { expect } from 'chai'
import { AttemptPlanner } from '../../../core/dispatch/plan.ts'
import { GatewayError } from '../../../core/errors.ts'
import type { LimitReached } from '../../../core/limits/limit-share.ts'
import { fakeCall } from '../../support/fake-call.ts'
import { candidate, route } from '../routing/routes.ts'

const call = fakeCall({ model: 'acme/smart' })

/** A limit that is reached, and has room again in `retryAfterMs`. */
const reached = (retryAfterMs: number, more: Partial<LimitReached> = {}): LimitReached => ({
  need: { call, promptTokens: 1, answerTokens: 1, isCounted: true },
  refusedBy: 'requests',
  retryAfterMs,
  waitMs: 5000,
  isTooLarge: false,
  ...more,
})

const NEVER = { waitMs: 0 }

function plannerOf(ids: readonly string[], attempts = 3): AttemptPlanner {
  const way = route(
    ids.map((id) => candidate(id)),
    { attempts },
  )
  return new AttemptPlanner(way, call, { key: 'key_1', account: 'default', mayCall: () => true, random: () => 0.5 })
}

/** Plans the next attempt. Returns its target, and whether the call waits for it. */
function next(planner: AttemptPlanner, until?: number): string | undefined {
  const planned = planner.next(performance.now(), until)
  return planned && `${planned.candidate.target.id}${planned.limited ? ' after a wait' : ''}`
}

describe('the plan of a call whose targets are at their limits', () => {
  it('goes on with the next target, which may use all attempts', () => {
    const planner = plannerOf(['a/1', 'b/1'], 1)
    expect(next(planner)).to.equal('a/1')
    planner.skipLimitedTarget(reached(1000))
    expect(next(planner)).to.equal('b/1')
    expect(planner.trace.skipped).to.deep.equal([{ target: 'a/1', why: 'namespace_limit_reached' }])
  })

  it('waits, if no target is left, for the limit that has room first', () => {
    const planner = plannerOf(['a/1', 'b/1', 'c/1'])
    for (const ms of [3000, 1000, 2000]) {
      next(planner)
      planner.skipLimitedTarget(reached(ms))
    }
    expect(next(planner)).to.equal('b/1 after a wait')
    expect(planner.trace.skipped.map(({ target }) => target)).to.deep.equal(['a/1', 'c/1'])
  })

  it('waits for another limit if the attempt after the first wait fails', () => {
    const planner = plannerOf(['a/1', 'b/1'])
    for (const ms of [1000, 2000]) {
      next(planner)
      planner.skipLimitedTarget(reached(ms))
    }
    expect(next(planner)).to.equal('a/1 after a wait')
    planner.failed(new GatewayError('upstream_timeout'), false)
    expect(next(planner)).to.equal('b/1 after a wait')
  })

  it('ends after one wait in vain', () => {
    const planner = plannerOf(['a/1', 'b/1'])
    for (const ms of [1000, 2000]) {
      next(planner)
      planner.skipLimitedTarget(reached(ms))
    }
    next(planner)
    planner.skipLimitedTarget(reached(500))
    expect(next(planner)).to.equal(undefined)
    expect(planner.error).to.include({ row: 'namespace_limit_reached', status: 429 })
    expect(planner.error.headers).to.deep.equal({ 'retry-after': '1' })
    expect(planner.trace.skipped).to.have.length(2)
  })

  it('does not wait if that cannot help, or would take longer than the call may', () => {
    const planner = plannerOf(['a/1', 'b/1'])
    next(planner)
    planner.skipLimitedTarget(reached(40_000, NEVER))
    next(planner)
    planner.skipLimitedTarget(reached(4000))
    expect(next(planner, performance.now() + 3000)).to.equal(undefined)
    expect(planner.error.headers['retry-after']).to.equal('4')
  })

  it('retries a target that failed before it waits for another', () => {
    const planner = plannerOf(['a/1', 'b/1'])
    next(planner)
    planner.skipLimitedTarget(reached(1000))
    next(planner)
    planner.failed(new GatewayError('upstream_error'), false)
    expect(next(planner)).to.equal('b/1')
  })

  it('ends with the error of an attempt, if there was one', () => {
    const planner = plannerOf(['a/1', 'b/1'])
    next(planner)
    planner.failed(new GatewayError('upstream_timeout'), false)
    next(planner)
    planner.skipLimitedTarget(reached(40_000, NEVER))
    expect(next(planner)).to.equal(undefined)
    expect(planner.error.row).to.equal('upstream_timeout')
  })

  it('ends with 429, and not with a timeout, if the time of the call passes during the wait', () => {
    const planner = plannerOf(['a/1'])
    next(planner)
    planner.skipLimitedTarget(reached(1000))
    next(planner)
    planner.end(new GatewayError('upstream_timeout'))
    planner.skipLimitedTarget(reached(1000))
    expect(next(planner)).to.equal(undefined)
    expect(planner.error.row).to.equal('namespace_limit_reached')
  })

  it('forbids a retry only if the call is too large for every target', () => {
    const planner = plannerOf(['a/1', 'b/1'])
    next(planner)
    planner.skipLimitedTarget(reached(0, { ...NEVER, isTooLarge: true }))
    expect(planner.error.headers['x-should-retry']).to.equal('false')
    next(planner)
    planner.skipLimitedTarget(reached(40_000, NEVER))
    expect(planner.error.headers).to.deep.equal({ 'retry-after': '40' })
  })

  it('repeats an attempt with a new credential after a wait', () => {
    const way = route([candidate('a/1', { refreshes: true })], { attempts: 1 })
    const planner = new AttemptPlanner(way, call, { key: 'key_1', account: 'default', mayCall: () => true, random: () => 0.5 })
    next(planner)
    planner.failed(new GatewayError('upstream_authentication_error'), false)
    expect(planner.next(performance.now())).to.include({ credentialRefused: true })
    planner.skipLimitedTarget(reached(1000))
    expect(planner.next(performance.now())).to.include({ credentialRefused: true })
  })
})
