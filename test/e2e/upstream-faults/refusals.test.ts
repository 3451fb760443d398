import { expect } from 'chai'
import { json } from '../../../core/testing/kit.ts'
import { ask, type Dialect } from '../sdk/dialect.ts'
import { openai } from '../sdk/openai-dialect.ts'
import { DIALECTS, type Stage, startStage } from '../sdk/stage.ts'
import { ERROR, MODEL_NOT_FOUND, QUOTA } from './failures.ts'
import { answering, MORE_REFUSALS, REFUSALS } from './faults/refusals.ts'
import { CANARY, EVERY_WAY, expectStatus, post } from './witness.ts'

const EXHAUSTED: Readonly<Record<Dialect['namespace'], object>> = {
  open: { error: { message: CANARY, type: 'insufficient_quota', param: null, code: 'insufficient_quota' } },
  claude: { type: 'error', error: { type: 'invalid_request_error', message: `Your credit balance is too low. ${CANARY}` } },
}

describe('an upstream that refuses', () => {
  let stage: Stage
  before(async () => {
    stage = await startStage()
  })
  after(() => stage?.stop())

  for (const fault of REFUSALS) {
    for (const asked of EVERY_WAY) it(`${fault.name}: ${asked.name}`, () => expectStatus(stage, asked, fault))
  }

  for (const fault of MORE_REFUSALS) {
    for (const dialect of DIALECTS) {
      it(`${fault.name}: ${dialect.name}`, () => expectStatus(stage, { dialect, stream: false }, fault))
    }
  }

  for (const asked of EVERY_WAY) {
    it(`because the gateway’s purse is empty: ${asked.name}`, () => {
      const status = asked.dialect === openai ? 429 : 400
      const script = () => json(EXHAUSTED[asked.dialect.namespace], { status })
      return expectStatus(stage, asked, { name: 'purse', script, failure: QUOTA })
    })
  }

  it('by one status and means another is taken at its first word', () => {
    const script = () => json({ error: { message: CANARY, type: 'invalid_request_error', code: 400 } }, { status: 500 })
    return expectStatus(stage, { dialect: openai, stream: false }, { name: 'two statuses', script, failure: ERROR })
  })

  it('says which parameter it did not like, in its own words and with OpenAI’s code', async () => {
    const error = { message: 'Your input is too long: 9 > 8.', type: 'x', param: 'messages', code: 'context_length_exceeded' }
    stage.upstream(openai).on(() => json({ error }, { status: 400 }))
    const reply = await post(stage, { dialect: openai, stream: false })
    expect(await reply.json()).to.deep.equal({ error: { ...error, type: 'invalid_request_error' } })
  })

  it('is asked again by the SDK, three times in all, where a repeat may help', async () => {
    const upstream = stage.upstream(openai)
    upstream.on(({ turn }) => json(openai.error(503, `busy ${turn}`), { status: 503, headers: { 'retry-after-ms': '1' } }))
    const before = upstream.requests.length
    await stage.gateway
      .openai()
      .chat.completions.create(ask(openai))
      .catch(() => undefined)
    expect(upstream.requests.length - before).to.equal(3)
  })
})

describe('an upstream that does not know the model which the table names', () => {
  let stage: Stage
  before(async () => {
    stage = await startStage({ namespace: { models: ['gpt-x', 'claude-sonnet-4-6'] } })
  })
  after(() => stage?.stop())

  for (const asked of EVERY_WAY) {
    it(`is the operator’s affair: ${asked.name}`, () => expectStatus(stage, asked, answering(404, MODEL_NOT_FOUND)))
  }
})
