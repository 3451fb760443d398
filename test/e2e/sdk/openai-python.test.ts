import { expect } from 'chai'
import { FIN, json, sse } from '../../../core/testing/kit.ts'
import { describeWith, find } from '../../support/requirements.ts'
import { ask, modelOf, type Said, splitAfter, USED } from './dialect.ts'
import { DIALECTS, type Fixture, startFixture } from './fixture.ts'
import { OpenAIPython } from './openai-python.ts'

const TEXT: Said = { text: ['Hel', 'lo ', '€ 😀'] }
const WEATHER: Said = {
  text: ['Let me look.'],
  tools: [
    { id: 'call_1', name: 'weather', arguments: ['{"city":', '"Paris"}'] },
    { id: 'call_2', name: 'time', arguments: ['{"zone":"CET"}'] },
  ],
}

describeWith('python', 'openai-python', () => {
  let fixture: Fixture
  let client: OpenAIPython

  before(async () => {
    fixture = await startFixture()
    client = new OpenAIPython(find('python')!, { baseURL: `${fixture.gateway.url}/v1`, apiKey: fixture.gateway.liveKey })
  })

  after(async () => {
    await client?.close()
    await fixture?.stop()
  })

  for (const dialect of DIALECTS) {
    describe(`(${dialect.name})`, () => {
      it('gets a completion, its usage and its request id', async () => {
        fixture.upstream(dialect).on(() => json(dialect.whole(TEXT)))
        const { completion, requestId } = await client.do('create', ask(dialect))
        expect(completion!.choices[0]!.message).to.include({ role: 'assistant', content: 'Hello € 😀' })
        expect(completion!.usage).to.include({ prompt_tokens: USED.prompt, total_tokens: USED.total })
        expect(requestId).to.match(/^req_[0-9a-f]{32}$/)
      })

      it('reads a stream to its end', async () => {
        fixture.upstream(dialect).on(() => sse(dialect.events(TEXT)))
        const { chunks, error } = await client.do('stream', ask(dialect, { stream_options: { include_usage: true } }))
        expect(error).to.equal(undefined)
        expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).to.equal('Hello € 😀')
        expect(chunks.at(-1)).to.deep.include({ choices: [] })
        expect(chunks.at(-1)!.usage).to.include({ completion_tokens: USED.completion })
      })

      it('assembles a stream with tool calls', async () => {
        fixture.upstream(dialect).on(() => sse(dialect.events(WEATHER)))
        const { completion } = await client.do('accumulate', ask(dialect))
        const { message, finish_reason } = completion!.choices[0]!
        expect(finish_reason).to.equal('tool_calls')
        expect(message).to.include({ role: 'assistant', content: 'Let me look.' })
        expect(message.tool_calls!.map((call) => call.type === 'function' && [call.id, call.function.name])).to.deep.equal([
          ['call_1', 'weather'],
          ['call_2', 'time'],
        ])
        expect(message.tool_calls![0]).to.have.nested.property('function.arguments', '{"city":"Paris"}')
      })

      it('throws for a broken stream', async () => {
        const [begin] = splitAfter(dialect.events(TEXT), 'Hel')
        fixture.upstream(dialect).on(() => sse([...begin, FIN]))
        const { chunks, error } = await client.do('stream', ask(dialect))
        expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).to.equal('Hel')
        expect(error).to.include({ class: 'APIError', code: 'upstream_disconnected' })
      })

      it('throws an upstream’s errors by class and code', async () => {
        fixture.upstream(dialect).on(() => json(dialect.error(400, 'Too odd.'), { status: 400 }))
        expect((await client.do('create', ask(dialect))).error).to.include({ class: 'BadRequestError', status: 400 })
        fixture.upstream(dialect).on(() => json(dialect.error(401, 'x'), { status: 401 }))
        const before = fixture.upstream(dialect).requests.length
        const { error } = await client.do('create', ask(dialect))
        expect(error).to.include({ class: 'BadRequestError', status: 400, code: 'upstream_authentication_error' })
        expect(error!.requestId).to.match(/^req_/)
        expect(fixture.upstream(dialect).requests.length - before).to.equal(1)
      })
    })
  }

  it('finds models by their ids', async () => {
    for (const dialect of DIALECTS) fixture.upstream(dialect).on(() => json({ data: [{ id: dialect.model }] }))
    const { models } = await client.do('models')
    expect(models!.map((model) => model.id)).to.have.members(DIALECTS.map(modelOf))
    for (const model of models!) expect((await client.do('retrieve', model.id)).models).to.deep.equal([model])
  })

  it('throws for an invalid request, with its parameter', async () => {
    const { error } = await client.do('create', { ...ask(DIALECTS[0]!), temperature: 3 })
    expect(error).to.include({ class: 'BadRequestError', status: 400, code: 'invalid_value' })
    expect(error!.message).to.include("'temperature'")
  })
})
