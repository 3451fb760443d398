import { expect } from 'chai'
import { hold, json } from '../../../../core/testing/kit.ts'
import { openai } from '../../sdk/openai-dialect.ts'
import { cleanReply, hitsSince } from './assertions.ts'
import { call, healthOf, servedBy } from './client.ts'
import { type FailoverFixture, startFailover } from './fixture.ts'

const refusing = (status: number, headers: Record<string, string> = {}) => json(openai.error(status, 'No.'), { status, headers })

/** How long a target rests, by what it says with its 429. Some seconds may go by before it is looked at. */
const FORMS: Readonly<Record<string, { readonly headers: () => Record<string, string>; readonly rest: RegExp }>> = {
  'in seconds': { headers: () => ({ 'retry-after': '25' }), rest: /^\[-\] closed, cooling down for 2[0-5] s/ },
  'in milliseconds': { headers: () => ({ 'retry-after-ms': '24500' }), rest: /^\[-\] closed, cooling down for 2[0-5] s/ },
  'as a date': {
    headers: () => ({ 'retry-after': new Date(Date.now() + 25_000).toUTCString() }),
    rest: /^\[-\] closed, cooling down for 2\d s/,
  },
  'as a year': { headers: () => ({ 'retry-after': '31536000' }), rest: /^\[-\] closed, cooling down for (?:60|5\d) s/ },
}

const only = (model: string, more: object) => ({ models: { m: { targets: [{ model }], retry: { attempts: 2 }, ...more } } })

describe('A target with retry-after', () => {
  const forms = Object.entries(FORMS)
  let fixture: FailoverFixture
  before(async () => {
    fixture = await startFailover({
      models: forms.length,
      others: () => ({
        again: only('open-first/again', {}),
        late: only('open-first/late', { timeouts: { total: '50s' } }),
      }),
    })
  })
  after(() => fixture?.stop())

  for (const [number, [form, { headers, rest }]] of forms.entries()) {
    it(`${form} cools down for that time, at most a minute, if there is another target`, async () => {
      const { first, second } = fixture
      first.on(() => refusing(429, headers()))
      second.on(() => cleanReply(openai, false))
      const asked = hitsSince(first, second)
      await call(fixture, { model: `claude-${number}/claude-sonnet-4-6` })
      expect(await healthOf(fixture, `claude-first/m${number}`)).to.match(rest)
      expect(servedBy(await call(fixture, { model: `claude-${number}/claude-sonnet-4-6` }))).to.equal('1 open-second')
      expect(asked()).to.deep.equal([1, 2])
    })
  }

  for (const status of [429, 500]) {
    it(`and status ${status} is called again after that time if there is no other target`, async () => {
      const { first } = fixture
      const asked = hitsSince(first)
      first.on(() => (asked()[0] === 1 ? refusing(status, { 'retry-after-ms': '5' }) : cleanReply(openai, false)))
      expect(servedBy(await call(fixture, { model: 'again/m' }))).to.equal('2 open-first')
      expect(asked()).to.deep.equal([2])
    })
  }

  it('beyond the timeout of the call is not awaited: the client gets the time to wait immediately', async () => {
    const { first } = fixture
    first.on(() => refusing(429, { 'retry-after': '55' }))
    const asked = hitsSince(first)
    const { status, headers } = await call(fixture, { model: 'late/m' })
    expect([status, headers['retry-after'], headers['x-should-retry']]).to.deep.equal([429, '55', undefined])
    expect(asked()).to.deep.equal([1])
  })
})

describe('The total timeout of a call', () => {
  let fixture: FailoverFixture
  before(async () => {
    fixture = await startFailover({
      firstNamespace: { timeouts: { firstByte: '50ms' } },
      namespace: { concurrency: { limit: 1, wait: '9s' } },
      route: { timeouts: { total: '500ms' } },
    })
  })
  after(() => fixture?.stop())

  const model = 'claude-0/claude-sonnet-4-6'

  it('covers all its attempts together', async () => {
    const { first, second } = fixture
    first.on(() => [hold()])
    second.on(() => [hold()])
    const asked = hitsSince(first, second)
    const { status, code } = await call(fixture, { model })
    expect([status, code]).to.deep.equal([504, 'upstream_timeout'])
    await Promise.all([...first.requests, ...second.requests].map(({ closed }) => closed))
    expect(asked()).to.deep.equal([1, 1])
  })

  it('can pass while the call is queued: the client gets the error of the last attempt', async () => {
    const { first, second } = fixture
    const busy = hold()
    first.on(() => refusing(500))
    second.on(() => [busy, ...cleanReply(openai, false)])
    const occupying = call(fixture, { model: 'open-second/m0' })
    await busy.reached
    const { status, code } = await call(fixture, { model })
    expect([status, code]).to.deep.equal([502, 'upstream_error'])
    busy.release()
    expect((await occupying).status).to.equal(200)
  })
})
