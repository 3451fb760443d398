import { expect } from 'chai'
import { json, reply } from '../../../core/testing/kit.ts'
import type { ReceivedSpan } from '../../support/otlp-collector.ts'
import { stream as chunks } from '../plugins/openai-wire.ts'
import { type Fixture, newTraceId, startFixture, traceparent } from './fixture.ts'

const CONTENT = ['gen_ai.input.messages', 'gen_ai.output.messages', 'umg.content.truncated']

/** A link that takes a name out of prompts and answers. */
const REDACT = `import { defineChain } from 'unified-model-gateway/plugin'
const redact = (text) => text?.replaceAll('Ada', '[name]')
export default defineChain({
  kind: 'chain', apiVersion: 1, name: 'redact', schema: {},
  create: () => ({
    async handle(ctx, next) {
      const call = await ctx.state.call()
      call.edit('/messages/0/content', redact(call.body.messages[0].content))
      ctx.state.reply.transform({
        completion(completion) {
          for (const { message } of completion.choices) message.content = redact(message.content)
          return completion
        },
        chunk(chunk) {
          for (const { delta } of chunk.choices) delta.content = redact(delta.content)
          return chunk
        },
      })
      await next()
    },
  }),
})
`

const text = (content: string) => ({ type: 'text', content })

describe('the content of a traced call', () => {
  let fixture: Fixture | undefined

  afterEach(async () => {
    await fixture?.stop()
    fixture = undefined
  })

  /** Sends a call. Resolves to its spans of attempts. */
  async function attempts(body: object, count = 1): Promise<readonly ReceivedSpan[]> {
    const traceId = newTraceId()
    expect((await fixture!.call(body, { headers: { traceparent: traceparent(traceId) } })).status).to.equal(200)
    return (await fixture!.collector.trace(traceId, 1 + count)).slice(1)
  }

  const contentOf = ({ attributes }: ReceivedSpan) => ({
    input: JSON.parse(String(attributes['gen_ai.input.messages'])),
    output: JSON.parse(String(attributes['gen_ai.output.messages'])),
    isCut: attributes['umg.content.truncated'],
  })

  it('is nowhere by default', async () => {
    fixture = await startFixture()
    const [client] = await attempts({ stream: true })
    expect(client!.attributes).to.not.have.any.keys(...CONTENT)
  })

  for (const stream of [false, true])
    it(`is on the span of the attempt that served it, if the operator wants it, streamed: ${stream}`, async () => {
      fixture = await startFixture({ contentLimit: 1000 })
      const messages = [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hi' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          ],
        },
      ]
      const spans = await attempts({ model: 'acme/m', messages, stream }, 2)
      expect(spans[0]!.attributes).to.not.have.any.keys(...CONTENT)
      expect(contentOf(spans[1]!)).to.deep.equal({
        input: [
          { role: 'system', parts: [text('Be brief.')] },
          { role: 'user', parts: [text('Hi'), { type: 'image_url' }] },
        ],
        output: [{ role: 'assistant', parts: [text('Hello!')] }],
        isCut: undefined,
      })
    })

  it('has tool calls and their results', async () => {
    fixture = await startFixture({ contentLimit: 1000 })
    const called = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } }
    void fixture.upstream.reply(
      json({
        id: 'c',
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: [called] }, finish_reason: 'tool_calls' }],
      }),
    )
    const [client] = await attempts({
      messages: [
        { role: 'assistant', content: null, tool_calls: [called] },
        { role: 'tool', tool_call_id: 'call_1', content: 'Rain.' },
      ],
    })
    const part = { type: 'tool_call', id: 'call_1', name: 'weather', arguments: '{"city":"Paris"}' }
    expect(contentOf(client!)).to.deep.include({
      input: [
        { role: 'assistant', parts: [part] },
        { role: 'tool', parts: [{ type: 'tool_call_response', id: 'call_1', response: 'Rain.' }] },
      ],
      output: [{ role: 'assistant', parts: [part] }],
    })
  })

  it('is bounded: the newest messages, and the beginnings of texts', async () => {
    fixture = await startFixture({ contentLimit: 100 })
    const messages = Array.from({ length: 50 }, (_, index) => ({ role: 'user', content: `${index}: ${'long '.repeat(10)}` }))
    const [client] = await attempts({ messages })
    const { input, isCut } = contentOf(client!)
    expect(isCut).to.equal(true)
    expect(input).to.have.length(1)
    expect(messages.at(-1)!.content).to.include(input[0].parts[0].content)
    expect(String(client!.attributes['gen_ai.input.messages']).length).to.be.lessThan(200)
  })

  for (const stream of [false, true])
    it(`is what the links leave of prompt and answer: a link can redact both, streamed: ${stream}`, async () => {
      fixture = await startFixture({ contentLimit: 1000, links: [{ plugin: './redact.ts' }], files: { 'redact.ts': REDACT } })
      const message = { role: 'assistant', content: 'Hello Ada' }
      const whole = json({ id: 'c', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] })
      void fixture.upstream.reply(stream ? chunks('Hello Ada') : whole)
      const [client] = await attempts({ messages: [{ role: 'user', content: 'I am Ada' }], stream })
      expect(JSON.stringify(client!.attributes)).to.not.include('Ada')
      expect(contentOf(client!).input).to.deep.equal([{ role: 'user', parts: [text('I am [name]')] }])
      expect(contentOf(client!).output[0].parts).to.deep.equal([text('Hello [name]')])
    })

  it('is neither in the log nor in the row', async () => {
    fixture = await startFixture({ contentLimit: 1000 })
    const { id } = await fixture.call({ messages: [{ role: 'user', content: 'my secret' }] })
    expect(JSON.stringify(await fixture.row(id))).to.not.include('my secret')
    expect(JSON.stringify(fixture.gateway.log)).to.not.include('my secret')
  })

  it('is not captured of a call that is not sampled, whose bytes pass unchanged', async () => {
    fixture = await startFixture({ contentLimit: 1000, sampling: { ratio: 0, isParentBased: false } })
    const bytes =
      '{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"big":12345678901234567890}'
    void fixture.upstream.reply(reply([bytes], { headers: { 'content-type': 'application/json' } }))
    const answer = await fixture.gateway.fetch('/v1/chat/completions', {
      json: { model: 'up/m', messages: [{ role: 'user', content: 'Hi' }] },
    })
    expect(await answer.text()).to.equal(bytes)
  })

  it('of other endpoints is never captured: they pass as they are', async () => {
    fixture = await startFixture({ contentLimit: 1000 })
    const traceId = newTraceId()
    const answer = await fixture.gateway.fetch('/v1/messages', {
      json: { model: 'up/m', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] },
      headers: { traceparent: traceparent(traceId) },
    })
    expect(answer.status, await answer.text()).to.equal(200)
    const [, client] = await fixture.collector.trace(traceId, 2)
    expect(client!.attributes).to.not.have.any.keys(...CONTENT)
  })
})
