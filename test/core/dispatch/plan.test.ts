import { expect } from 'chai'
import {
  after,
  begin,
  choose,
  errorOf,
  note,
  type PlannedAttempt,
  type SelectionContext,
  traceOf,
} from '../../../core/dispatch/plan.ts'
import type { ErrorName } from '../../../core/error-table.ts'
import { GatewayError, UpstreamFailure } from '../../../core/errors.ts'
import type { Candidate, Route } from '../../../core/routing/route.ts'
import { UpstreamError } from '../../../core/sdk/api.ts'
import { testCall } from '../../../core/testing/gateway/doubles.ts'
import { candidate, route } from '../routing/routes.ts'

const failure = (row: ErrorName, cause?: unknown): GatewayError => new GatewayError(row, { cause })
const refused = (row: ErrorName, status: number, retryAfter?: number): GatewayError =>
  new GatewayError(row, {
    cause: new UpstreamError({ status, ...(retryAfter !== undefined && { retryAfter }) }),
    ...(retryAfter !== undefined && { headers: { 'retry-after': String(retryAfter) } }),
  })

/** No time passes in these tests. */
const NOW = 1000

const SELECTION: SelectionContext = { key: 'key_1', account: 'default', headers: {}, mayCall: () => true, random: () => 0.5 }

interface Course {
  readonly planned: readonly PlannedAttempt[]
  readonly error: GatewayError
}

/** Plans attempts while there is a next one; each fails with the error of its place, further ones with the last. */
function courseOf(way: Route, errors: readonly GatewayError[], body: Record<string, unknown> = {}): Course {
  let plan = begin(way, testCall({ model: 'acme/smart', ...body }), SELECTION, NOW)
  const planned: PlannedAttempt[] = []
  for (;;) {
    const choice = choose(plan, NOW)
    if (choice.next === undefined) return { planned, error: errorOf(choice.plan, NOW) }
    note(choice.next, NOW)
    planned.push(choice.next)
    plan = after(choice.plan, { kind: 'failed', error: errors[planned.length - 1] ?? errors.at(-1)! }, NOW)
  }
}

const asked = ({ planned }: Course): string[] => planned.map(({ candidate }) => candidate.target.id)
const three = (): Candidate[] => [candidate('a/1'), candidate('b/1'), candidate('c/1')]

describe('the plan of the attempts of a call', () => {
  const ONWARD: readonly ErrorName[] = [
    'upstream_unreachable',
    'upstream_timeout',
    'upstream_error',
    'upstream_overloaded',
    'upstream_rate_limited',
    'upstream_quota_exceeded',
    'upstream_authentication_error',
    'upstream_model_not_found',
    'upstream_busy',
  ]
  for (const row of ONWARD) {
    it(`continues with each next target after ${row}`, () => {
      expect(asked(courseOf(route(three()), [failure(row)]))).to.deep.equal(['a/1', 'b/1', 'c/1'])
    })
  }

  for (const row of ['upstream_rejected', 'model_not_found', 'plugin_error', 'internal_error'] as const) {
    it(`ends with the first ${row}: another target would fail alike`, () => {
      const { planned, error } = courseOf(route(three()), [failure(row)])
      expect([planned.length, error.row, error.headers['x-should-retry']]).to.deep.equal([1, row, undefined])
    })
  }

  for (const row of ['upstream_disconnected', 'upstream_invalid_response'] as const) {
    it(`makes one more attempt after ${row}: the call may have been served`, () => {
      expect(asked(courseOf(route(three()), [failure(row)]))).to.deep.equal(['a/1', 'b/1'])
    })
  }

  it('repeats a target after a pause if there is no other', () => {
    const { planned } = courseOf(route([candidate('a/1')], { attempts: 2 }), [failure('upstream_error')])
    expect(planned.map(({ pauseMs }) => pauseMs)).to.deep.equal([0, 125])
  })

  it('repeats another target if the breaker of the first has opened', () => {
    const [a, b] = three()
    for (let i = 0; i < 4; i++) a!.target.health.failed(NOW, 'reply')
    let plan = begin(route([a!, b!]), testCall({}), SELECTION, NOW)
    for (const { target } of [a!, b!]) {
      const { plan: chosen, next } = choose(plan, NOW)
      expect(next?.candidate.target).to.equal(target)
      target.health.failed(NOW, 'reply')
      plan = after(chosen, { kind: 'failed', error: failure('upstream_error') }, NOW)
    }
    expect(choose(plan, NOW).next).to.include({ candidate: b, pauseMs: 125 })
  })

  it('waits at least the time that an upstream requests before it repeats it', () => {
    const { planned } = courseOf(route([candidate('a/1')], { attempts: 2 }), [refused('upstream_rate_limited', 429, 2)])
    expect(planned[1]!.pauseMs).to.be.within(2000, 2250)
  })

  it('does not repeat a target after a timeout: it may still serve the call', () => {
    const only = route([candidate('a/1')], { attempts: 3 })
    expect(asked(courseOf(only, [failure('upstream_timeout', new UpstreamFailure('FIRST_BYTE_TIMEOUT'))]))).to.deep.equal(['a/1'])
  })

  it('continues after a connection timeout as after a refused connection', () => {
    const unwilling = route(three(), { on: new Set(['connect']) })
    expect(asked(courseOf(unwilling, [failure('upstream_timeout', new UpstreamFailure('CONNECT_TIMEOUT'))]))).to.have.length(3)
    expect(asked(courseOf(unwilling, [failure('upstream_timeout', new UpstreamFailure('FIRST_BYTE_TIMEOUT'))]))).to.have.length(1)
  })

  it('makes no more attempts than the route allows, and forbids retries of the SDK', () => {
    const { planned, error } = courseOf(route(three(), { attempts: 2 }), [failure('upstream_error'), failure('upstream_timeout')])
    expect([planned.length, error.row, error.headers['x-should-retry']]).to.deep.equal([2, 'upstream_timeout', 'false'])
  })

  it('holds a stream while another attempt is possible', () => {
    const { planned } = courseOf(route(three()), [failure('upstream_error')])
    expect(planned.map(({ hold }) => hold)).to.deep.equal([true, true, false])
  })

  it('returns the shortest time to wait of all targets', () => {
    const limits = [30, 5, 20].map((seconds) => refused('upstream_rate_limited', 429, seconds))
    expect(courseOf(route(three()), limits).error.headers['retry-after']).to.equal('5')
  })

  it('skips a target whose breaker is open', () => {
    const [a, b, c] = three()
    for (let i = 0; i < 5; i++) a!.target.health.failed(NOW, 'reply')
    expect(asked(courseOf(route([a!, b!, c!], { attempts: 2 }), [failure('upstream_error')]))).to.deep.equal(['b/1', 'c/1'])
  })

  it('takes targets that cool down after the others', () => {
    const [a, b, c] = three()
    a!.target.health.coolDown(NOW, 60_000)
    expect(asked(courseOf(route([a!, b!, c!]), [failure('upstream_error')]))).to.deep.equal(['b/1', 'c/1', 'a/1'])
  })

  it('returns the time to wait if every breaker is open', () => {
    const only = candidate('a/1')
    for (let i = 0; i < 5; i++) only.target.health.failed(NOW, 'reply')
    const { plan, next } = choose(begin(route([only]), testCall({}), SELECTION, NOW), NOW)
    const error = errorOf(plan, NOW)
    expect([next, error.row, error.headers['retry-after']]).to.deep.equal([undefined, 'upstream_circuit_open', '1'])
  })

  it('keeps the targets that were skipped if another one refuses the call', () => {
    const [a, b] = three()
    for (let i = 0; i < 5; i++) a!.target.health.failed(NOW, 'reply')
    const capFor = (asked: Pick<Candidate, 'target'>): number => {
      if (asked.target.id === b!.target.id) throw failure('price_unknown')
      return 100
    }
    const selection = { ...SELECTION, terms: { hostedTools: [], capFor } }
    const { plan, next } = choose(begin(route([a!, b!]), testCall({ model: 'acme/smart' }), selection, NOW), NOW)
    expect([next, errorOf(plan, NOW).row]).to.deep.equal([undefined, 'price_unknown'])
    expect(traceOf(plan).skipped).to.deep.equal([{ target: 'a/1', why: 'upstream_circuit_open' }])
  })

  it('forbids retries in a copy of the error, which a plugin may throw again', () => {
    const same = failure('upstream_error')
    expect(courseOf(route(three()), [same]).error).to.include({ row: 'upstream_error', message: same.message })
    expect(same.headers).to.not.have.property('x-should-retry', 'false')
  })

  it('repeats an upstream only within its retry budget, with any number of targets', () => {
    const a = candidate('a/1')
    const way = route([a, candidate('a/2', { beside: a }), candidate('b/1')])
    const { retryBudget: budget } = a.target.upstream
    for (; budget.allows(NOW); budget.spend(NOW)) budget.earn()
    expect(asked(courseOf(way, [failure('upstream_error')]))).to.deep.equal(['a/1', 'b/1', 'b/1'])
  })

  it('makes one more attempt with a new credential if the provider can get one', () => {
    const way = route([candidate('a/1', { refreshes: true }), candidate('b/1')])
    const { planned } = courseOf(way, [failure('upstream_authentication_error')])
    expect(planned.map(({ candidate: { target }, credentialRefused }) => [target.id, credentialRefused])).to.deep.equal([
      ['a/1', false],
      ['a/1', true],
      ['b/1', false],
    ])
  })

  const PICKY = { seed: { support: 'refused' }, verbosity: { support: 'dropped' } } as const

  it('skips targets that would refuse a parameter', () => {
    const way = route([candidate('a/1', { parameters: PICKY }), candidate('b/1')])
    expect(asked(courseOf(way, [failure('upstream_rejected')], { seed: 1 }))).to.deep.equal(['b/1'])
  })

  it('refuses a parameter that no target accepts, and names it', () => {
    const { planned, error } = courseOf(route([candidate('a/1', { parameters: PICKY })]), [failure('upstream_error')], {
      seed: 1,
    })
    expect([planned.length, error.row, error.param]).to.deep.equal([0, 'unsupported_parameter', 'seed'])
  })

  it('drops harmless parameters, unless the route is strict', () => {
    const lenient = route([candidate('a/1', { parameters: PICKY })], { attempts: 1 })
    expect(courseOf(lenient, [failure('upstream_rejected')], { verbosity: 'low' }).planned[0]!.dropped).to.deep.equal([
      'verbosity',
    ])
    const strict = route([candidate('a/1', { parameters: PICKY, strict: true })], { attempts: 1 })
    expect(courseOf(strict, [failure('upstream_rejected')], { verbosity: 'low' }).error.param).to.equal('verbosity')
  })

  it("adds the route's defaults for parameters that are absent or null", () => {
    const way = route([candidate('a/1', { defaults: { temperature: 0.2, top_p: 0.9 } })], { attempts: 1 })
    const { call } = courseOf(way, [failure('upstream_rejected')], { temperature: 1, top_p: null }).planned[0]!
    expect([call.member('temperature'), call.member('top_p'), call.body.top_p]).to.deep.equal([1, 0.9, 0.9])
    expect(JSON.parse(call.splice({ model: 'm' }).toString())).to.include({ model: 'm', temperature: 1, top_p: 0.9 })
  })
})
