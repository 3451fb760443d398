import { expect } from 'chai'
import OpenAI from 'openai'
import { json, type ReceivedRequest } from '../../../core/testing/kit.ts'
import { anthropic } from './anthropic-dialect.ts'
import { caught } from './caught.ts'
import { ask, type Dialect } from './dialect.ts'
import { DIALECTS, type Fixture, startFixture } from './fixture.ts'
import { openai } from './openai-dialect.ts'
import { refused } from './refused.ts'

/** Every parameter that may be null, with null. */
const NULLS = Object.fromEntries(
  [
    'temperature top_p n stop max_tokens max_completion_tokens frequency_penalty presence_penalty logit_bias logprobs',
    'top_logprobs seed stream stream_options tools tool_choice parallel_tool_calls functions function_call response_format',
    'reasoning_effort verbosity modalities audio prediction web_search_options service_tier store metadata user',
    'safety_identifier prompt_cache_key moderation',
  ].flatMap((line) => line.split(' ').map((name) => [name, null])),
)

/** What the error of a wrong name says in addition. */
const HINTS: Readonly<Record<string, string>> = {
  noslash: ' Names look like `<namespace>/<model>`; GET /v1/models lists those of your key.',
  'OPEN/gpt-x': ' Did you mean `open/gpt-x`?',
  ' open/gpt-x': ' Did you mean `open/gpt-x`?',
}

describe('Request validation', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
    for (const dialect of DIALECTS) fixture.upstream(dialect).on(() => json(dialect.whole({ text: ['Hello!'] })))
  })

  after(() => fixture?.stop())

  const last = (dialect: Dialect): ReceivedRequest => fixture.upstream(dialect).requests.at(-1)!

  for (const [what, body, expected] of [
    ['no model', { messages: [] }, { code: 'missing_required_parameter', param: 'model' }],
    ['a model of null', { ...ask(openai), model: null }, { code: 'missing_required_parameter', param: 'model' }],
    ['a model that is a number', { ...ask(openai), model: 7 }, { code: 'invalid_type', param: 'model' }],
    ['no messages', { model: 'open/x' }, { code: 'missing_required_parameter', param: 'messages' }],
    ['empty messages', { model: 'open/x', messages: [] }, { code: 'invalid_value', param: 'messages' }],
    ['messages that are a text', { model: 'open/x', messages: 'Hi' }, { code: 'invalid_type', param: 'messages' }],
    [
      'content that is a number',
      ask(openai, { messages: [{ role: 'user', content: 1 }] }),
      { code: 'invalid_type', param: 'messages[0].content' },
    ],
    [
      'a role that is none',
      ask(openai, { messages: [{ role: 'boss', content: '' }] }),
      { code: 'invalid_value', param: 'messages[0].role' },
    ],
    ['a temperature in words', ask(openai, { temperature: 'hot' }), { code: 'invalid_type', param: 'temperature' }],
    ['a temperature out of range', ask(openai, { temperature: 2.1 }), { code: 'invalid_value', param: 'temperature' }],
    ['no choices at all', ask(openai, { n: 0 }), { code: 'invalid_value', param: 'n' }],
    [
      'stream options without a stream',
      ask(openai, { stream_options: { include_usage: true } }),
      { code: 'invalid_value', param: 'stream_options' },
    ],
  ] as const) {
    it(`refuses ${what}, and names the parameter`, async () => {
      expect(await refused(fixture, body)).to.include({ status: 400, ...expected })
    })
  }

  it('names the expected and the given type', async () => {
    const { message } = await refused(fixture, ask(openai, { temperature: 'hot' }))
    expect(message).to.equal("Invalid type for 'temperature': expected a number, but got a string instead.")
  })

  for (const model of ['noslash', 'open/', '/gpt-x', '/', 'none/gpt-x', 'OPEN/gpt-x', ' open/gpt-x', 'open/a\nb']) {
    it(`answers 404 to the model ${JSON.stringify(model)}`, async () => {
      const { status, code, param, message } = await refused(fixture, ask(openai, { model }))
      expect({ status, code, param }).to.deep.equal({ status: 404, code: 'model_not_found', param: 'model' })
      const hint = HINTS[model] ?? ''
      expect(message).to.equal(`The model \`${model}\` does not exist or you do not have access to it.${hint}`)
    })
  }

  it('answers 404 to a model that the key may not use', async () => {
    const key = await fixture.gateway.key({ models: ['claude/*'] })
    const error = await caught(fixture.gateway.openai(key).chat.completions.create(ask(openai)))
    expect(error).to.be.instanceOf(OpenAI.NotFoundError).and.include({ code: 'model_not_found' })
  })

  for (const dialect of DIALECTS) {
    it(`accepts null for every optional parameter (${dialect.name})`, async () => {
      expect((await fixture.post(ask(dialect, NULLS))).status).to.equal(200)
    })

    it(`takes -1 for no limit of the answer, which most upstreams refuse (${dialect.name})`, async () => {
      for (const name of ['max_tokens', 'max_completion_tokens']) {
        await fixture.post(ask(dialect))
        const without = last(dialect).json()
        expect((await fixture.post(ask(dialect, { [name]: -1 }))).status).to.equal(200)
        expect(last(dialect).json()).to.deep.equal(without)
      }
      expect(await refused(fixture, ask(dialect, { max_tokens: -2 }))).to.include({ status: 400, param: 'max_tokens' })
    })

    it(`sends the upstream its own name of the model (${dialect.name})`, async () => {
      await fixture.gateway.openai().chat.completions.create(ask(dialect))
      expect(last(dialect).path).to.equal(dialect.path)
      expect(last(dialect).json()).to.include({ model: dialect.model })
    })
  }

  for (const [name, value] of [
    ['n', 2],
    ['logprobs', true],
    ['logit_bias', { 50256: -100 }],
    ['modalities', ['text', 'audio']],
  ] as const) {
    it(`refuses ${name} if it cannot be translated`, async () => {
      const error = await refused(fixture, ask(anthropic, { [name]: value }))
      expect(error).to.include({ status: 400, code: 'unsupported_parameter', param: name })
      expect((await fixture.post(ask(openai, { [name]: value }))).status).to.equal(200)
    })
  }

  it('drops a harmless parameter that cannot be translated, and reports it', async () => {
    const { response } = await fixture.gateway
      .openai()
      .chat.completions.create(ask(anthropic, { store: true, seed: 7 }))
      .withResponse()
    expect(response.headers.get('x-umg-params-dropped')?.split(', ')).to.have.members(['store', 'seed'])
    expect(last(anthropic).json()).to.not.have.any.keys('store', 'seed')
  })
})
