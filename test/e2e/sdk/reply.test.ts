import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { json, reply } from '../../../core/testing/kit.ts'
import { ask, modelOf, USED } from './dialect.ts'
import { DIALECTS, type Fixture, startFixture } from './fixture.ts'
import { openai } from './openai-dialect.ts'

const TEXT = { text: ['Hel', 'lo ', '€ 😀'] }
const WEATHER = { tools: [{ id: 'call_1', name: 'weather', arguments: ['{"city":', '"Paris"}'] }] }

describe('A whole reply in the SDK', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })

  after(() => fixture?.stop())

  for (const dialect of DIALECTS) {
    describe(`(${dialect.name})`, () => {
      const create = (more?: object) => fixture.gateway.openai().chat.completions.create(ask(dialect, more))
      const answer = (said: object) => fixture.upstream(dialect).on(() => json(dialect.whole(said)))

      it('has every field that clients rely on', async () => {
        answer(TEXT)
        const { id, object, created, choices } = await create()
        expect([id, object]).to.deep.equal([dialect.replyId, 'chat.completion'])
        expect(created).to.satisfy(Number.isSafeInteger)
        expect(choices).to.deep.equal([
          {
            index: 0,
            message: { role: 'assistant', content: 'Hello € 😀', refusal: null },
            logprobs: null,
            finish_reason: 'stop',
          },
        ])
      })

      it('has tool call arguments as a JSON string, and null content', async () => {
        answer(WEATHER)
        const [choice] = (await create()).choices
        expect(choice).to.deep.include({ finish_reason: 'tool_calls' })
        expect(choice!.message.content).to.equal(null)
        const [call, ...others] = choice!.message.tool_calls!
        expect(others).to.deep.equal([])
        expect(call).to.deep.include({ id: 'call_1', type: 'function' })
        const { name, arguments: text } = (call as { function: { name: string; arguments: string } }).function
        expect([name, JSON.parse(text)]).to.deep.equal(['weather', { city: 'Paris' }])
      })

      it('has both the text and the tool calls', async () => {
        answer({ ...TEXT, ...WEATHER })
        const [choice] = (await create()).choices
        expect(choice!.message.content).to.equal('Hello € 😀')
        expect(choice!.message.tool_calls).to.have.length(1)
      })

      it('has the reasoning separate from the text', async () => {
        answer({ thinking: ['Let me ', 'see.'], ...TEXT })
        const { message } = (await create()).choices[0]!
        expect(message).to.include({ reasoning_content: 'Let me see.', content: 'Hello € 😀' })
      })

      it('has the usage, with a correct total', async () => {
        answer(TEXT)
        const { usage } = await create()
        expect(usage).to.include({
          prompt_tokens: USED.prompt,
          completion_tokens: USED.completion,
          total_tokens: USED.prompt + USED.completion,
        })
        expect(usage!.prompt_tokens_details).to.include({ cached_tokens: USED.cached })
        expect(usage!.completion_tokens_details).to.include({ reasoning_tokens: USED.reasoning })
      })

      it('has the request id in a header, where the SDK reads it, and nowhere else', async () => {
        answer(TEXT)
        const { data, response } = await create().withResponse()
        const raw = await fixture.post(ask(dialect))
        const id = response.headers.get('x-request-id')
        expect(id).to.match(/^req_[0-9a-f]{32}$/)
        expect(data).to.have.property('_request_id', id)
        expect(data.id).to.not.equal(id)
        expect(await raw.text()).to.not.include(raw.headers['x-request-id'])
      })

      it('has a different request id for every call', async () => {
        answer(TEXT)
        const ids = (await Promise.all([create(), create(), create()])).map((completion) => completion._request_id)
        expect(new Set(ids)).to.have.property('size', 3)
      })

      it('is readable if the upstream compressed it without being asked', async () => {
        const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
        fixture.upstream(dialect).on(() => reply([gzipSync(JSON.stringify(dialect.whole(TEXT)))], { headers }))
        const raw = await fixture.post(ask(dialect), { 'accept-encoding': 'gzip, br' })
        expect(raw.headers).to.not.have.property('content-encoding')
        expect(await raw.text()).to.include('Hel')
        expect((await create()).choices[0]!.message.content).to.equal('Hello € 😀')
      })

      it('has no headers of the upstream', async () => {
        const headers = {
          'set-cookie': ['session=1', 'other=2'],
          server: 'upstream/1.0',
          via: '1.1 upstream',
          'alt-svc': 'h3=":443"',
          'cf-ray': '1234',
          'x-request-id': 'req_of_the_upstream',
          'request-id': 'req_of_the_upstream',
          'openai-organization': 'org-of-the-operator',
          'openai-version': '2020-10-01',
          'access-control-allow-origin': '*',
          'x-ratelimit-remaining-requests': '1',
          'strict-transport-security': 'max-age=1',
          'x-new-header': 'x',
        }
        fixture.upstream(dialect).on(() => json(dialect.whole(TEXT), { headers }))
        const raw = await fixture.post(ask(dialect))
        expect(raw.status).to.equal(200)
        expect(raw.headers).to.have.all.keys(
          ...['cache-control', 'connection', 'content-length', 'content-type', 'date', 'x-content-type-options', 'x-request-id'],
        )
        expect(raw.headers['x-request-id']).to.match(/^req_[0-9a-f]{32}$/)
      })
    })
  }

  it('names the requested model if it was translated', async () => {
    for (const dialect of DIALECTS) {
      fixture.upstream(dialect).on(() => json(dialect.whole(TEXT)))
      const { model } = await fixture.gateway.openai().chat.completions.create(ask(dialect))
      expect(model).to.equal(dialect === openai ? 'gpt-x-2026-02-02' : modelOf(dialect))
    }
  })

  it('has the upstream’s bytes if it was passed through: unknown fields, spaces, large numbers', async () => {
    const body = `{ "id":"chatcmpl-1",  "x_new":{"big":12345678901234567890, "tiny":1.0e-7},\n"choices":[ {"index":0,"message":{"role":"assistant","content":"\\u0048i","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop","x":1} ],"service_tier":"flex","object":"chat.completion","created":1,"model":"m" }`
    fixture.upstream(openai).on(() => reply([body], { headers: { 'content-type': 'application/json' } }))
    expect(await (await fixture.post(ask(openai))).text()).to.equal(body)
    const completion = await fixture.gateway.openai().chat.completions.create(ask(openai))
    expect(completion).to.include({ id: 'chatcmpl-1', service_tier: 'flex' })
    expect(completion).to.have.property('x_new')
  })
})
