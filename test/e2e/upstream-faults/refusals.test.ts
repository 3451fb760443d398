import { expect } from 'chai'
import { json } from '../../../core/testing/kit.ts'
import { ask, type Dialect } from '../sdk/dialect.ts'
import { DIALECTS, type Fixture, startFixture } from '../sdk/fixture.ts'
import { openai } from '../sdk/openai-dialect.ts'
import { CANARY, EVERY_WAY, expectStatus, post } from './assertions.ts'
import { ERROR, MODEL_NOT_FOUND, QUOTA } from './failures.ts'
import { answering, MORE_REFUSALS, REFUSALS } from './faults/refusals.ts'

const EXHAUSTED: Readonly<Record<Dialect['namespace'], object>> = {
  open: { error: { message: CANARY, type: 'insufficient_quota', param: null, code: 'insufficient_quota' } },
  claude: { type: 'error', error: { type: 'invalid_request_error', message: `Your credit balance is too low. ${CANARY}` } },
}

describe('An upstream that refuses', () => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture()
  })
  after(() => fixture?.stop())

  for (const fault of REFUSALS) {
    for (const asked of EVERY_WAY) it(`${fault.name}: ${asked.name}`, () => expectStatus(fixture, asked, fault))
  }

  for (const fault of MORE_REFUSALS) {
    for (const dialect of DIALECTS) {
      it(`${fault.name}: ${dialect.name}`, () => expectStatus(fixture, { dialect, stream: false }, fault))
    }
  }

  for (const asked of EVERY_WAY) {
    it(`because the gateway’s account is empty: ${asked.name}`, () => {
      const status = asked.dialect === openai ? 429 : 400
      const script = () => json(EXHAUSTED[asked.dialect.namespace], { status })
      return expectStatus(fixture, asked, { name: 'empty account', script, failure: QUOTA })
    })
  }

  it('with a different status in the body is judged by its HTTP status', () => {
    const script = () => json({ error: { message: CANARY, type: 'invalid_request_error', code: 400 } }, { status: 500 })
    return expectStatus(fixture, { dialect: openai, stream: false }, { name: 'two statuses', script, failure: ERROR })
  })

  it('returns the parameter, its own message and OpenAI’s code', async () => {
    const error = { message: 'Your input is too long: 9 > 8.', type: 'x', param: 'messages', code: 'context_length_exceeded' }
    fixture.upstream(openai).on(() => json({ error }, { status: 400 }))
    const reply = await post(fixture, { dialect: openai, stream: false })
    expect(await reply.json()).to.deep.equal({ error: { ...error, type: 'invalid_request_error' } })
  })

  it('is called three times by the SDK if a retry may help', async () => {
    const upstream = fixture.upstream(openai)
    upstream.on(({ turn }) => json(openai.error(503, `busy ${turn}`), { status: 503, headers: { 'retry-after-ms': '1' } }))
    const before = upstream.requests.length
    await fixture.gateway
      .openai()
      .chat.completions.create(ask(openai))
      .catch(() => undefined)
    expect(upstream.requests.length - before).to.equal(3)
  })
})

describe('An upstream that does not know the model in routes.yaml', () => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture({ namespace: { models: ['gpt-x', 'claude-sonnet-4-6'] } })
  })
  after(() => fixture?.stop())

  for (const asked of EVERY_WAY) {
    it(`causes an error for the operator, not the client: ${asked.name}`, () =>
      expectStatus(fixture, asked, answering(404, MODEL_NOT_FOUND)))
  }
})
