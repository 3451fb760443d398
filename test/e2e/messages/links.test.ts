import { expect } from 'chai'
import { readMessageStream } from '../../../core/testing/conformance/read-messages.ts'
import { json, openaiReply, sse } from '../../../core/testing/kit.ts'
import { type Fixture, named, startFixture } from './fixture.ts'
import { REDACTOR } from './redactor.ts'

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-x',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
}

const EVENTS = [
  named({ type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null } }),
  named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } }),
  named({ type: 'content_block_stop', index: 0 }),
  named({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }),
  named({ type: 'message_stop' }),
]

describe('A link of the chain, at /v1/messages', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture({ files: { 'redactor.ts': REDACTOR }, chain: [{ plugin: './redactor.ts' }] })
  })
  after(() => fixture?.stop())

  const ask = (model: string, content: string, more: object = {}) =>
    fixture.gateway.fetch('/v1/messages', {
      json: { model, max_tokens: 50, system: 'Be brief.', messages: [{ role: 'user', content }], ...more },
    })

  const answer = (namespace: 'claude' | 'open', stream: boolean) => {
    const { whole, stream: events } = openaiReply({ text: 'Hi' })
    if (namespace === 'claude') return fixture.claude.reply(stream ? sse([EVENTS.join('')]) : json(MESSAGE))
    return fixture.open.reply(stream ? sse(events) : json(whole))
  }

  for (const namespace of ['claude', 'open'] as const) {
    it(`sees a chat completion request (${namespace})`, async () => {
      answer(namespace, false)
      const reply = await ask(`${namespace}/m`, 'Hello')
      expect(reply.status).to.equal(200)
      const keys = ['model', 'messages', 'max_completion_tokens']
      expect(JSON.parse(reply.headers.get('x-seen')!)).to.deep.equal(['messages', 'messages', keys, 50, 'Hello'])
    })

    it(`can edit it (${namespace})`, async () => {
      const asked = answer(namespace, false)
      expect((await ask(`${namespace}/m`, 'secret')).status).to.equal(200)
      const sent = (await asked).body.toString()
      expect(sent).to.contain('…').and.not.contain('secret')
      expect(sent).to.contain('Be brief.')
    })

    it(`changes replies, but not counts of tokens (${namespace})`, async () => {
      fixture.claude.on(() => json({ input_tokens: 14 }))
      const messages = [{ role: 'user', content: 'hush' }]
      const reply = await fixture.gateway.fetch('/v1/messages/count_tokens', { json: { model: `${namespace}/m`, messages } })
      const text = await reply.text()
      expect(reply.status, text).to.equal(200)
      expect(JSON.parse(text).input_tokens).to.be.within(1, 20)
    })

    it(`can change the reply, whole and streamed (${namespace})`, async () => {
      answer(namespace, false)
      const whole = (await (await ask(`${namespace}/m`, 'hush')).json()) as { content: unknown }
      expect(whole.content).to.deep.equal([{ type: 'text', text: 'xx' }])
      answer(namespace, true)
      const { content } = readMessageStream(await (await ask(`${namespace}/m`, 'hush', { stream: true })).text())
      expect(content).to.deep.equal([{ type: 'text', text: 'xx' }])
    })
  }

  it('can answer by itself with a completion or chunks', async () => {
    const whole = (await (await ask('claude/m', 'own')).json()) as { type: string; content: unknown }
    expect(whole).to.deep.include({ type: 'message', content: [{ type: 'text', text: 'own words' }] })
    const { content, stop } = readMessageStream(await (await ask('claude/m', 'own', { stream: true })).text())
    expect([content, stop]).to.deep.equal([[{ type: 'text', text: 'own words' }], 'end_turn'])
  })

  it('that changes nothing leaves the bytes as they were', async () => {
    const asked = answer('claude', false)
    await ask('claude/m', 'Hello', { top_k: 5, inference_geo: 'eu' })
    expect((await asked).json()).to.deep.include({ model: 'm', top_k: 5, inference_geo: 'eu' })
  })
})
