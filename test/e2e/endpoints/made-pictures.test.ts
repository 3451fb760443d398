// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import type OpenAI from 'openai'
import { readMessageStream } from '../../../core/testing/conformance/read-messages.ts'
import { readResponseStream } from '../../../core/testing/conformance/read-responses.ts'
import { json, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { reply as gemini } from '../../plugins/providers/gemini/generate-content.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const DATA = 'iVBORw0KGgo='
const SENT = gemini([{ text: 'A cat:' }, { inlineData: { mimeType: 'image/png', data: DATA } }])
const PART = { inlineData: { mimeType: 'image/png', data: DATA } }
const user = (content: string) => ({ role: 'user' as const, content })

describe('A picture that a model makes beside its text', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on(({ path }) => (path.includes('stream') ? sse(SENT.stream) : json(SENT.whole)))
    gateway = await startTestGateway({
      env: { KEY: 'key-of-google' },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: { gem: { provider: 'gemini', config: { baseUrl: upstream.origin, apiKey: '${env:KEY}' } } },
      },
    })
  })
  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const model = 'gem/gemini-2.5-flash-image'
  const ask = async (path: string, body: object) => await gateway.fetch(path, { json: { model, ...body } })
  const asked = () => upstream.requests.at(-1)!.json() as { contents: { role: string; parts: object[] }[] }

  it('goes back to the model with the message that the client got', async () => {
    const chat = { model, messages: [user('Draw a cat.')] }
    const { choices } = await gateway.openai().chat.completions.create(chat)
    const messages = [...chat.messages, choices[0]!.message, user('Make it blue.')]
    await gateway.openai().chat.completions.create({ ...chat, messages: messages as OpenAI.ChatCompletionMessageParam[] })
    expect(asked().contents[1]).to.deep.equal({ role: 'model', parts: [{ text: 'A cat:' }, PART] })
  })

  for (const stream of [false, true]) {
    const way = stream ? ', streamed' : ''

    it(`is an item of a response, and goes back to the model${way}`, async () => {
      const reply = await ask('/v1/responses', { input: 'Draw a cat.', stream })
      const { output } = stream ? readResponseStream(await reply.text()) : ((await reply.json()) as { output: object[] })
      expect(output.map((item) => ({ ...item, id: '' }))[1]).to.deep.equal({
        id: '',
        type: 'image_generation_call',
        status: 'completed',
        output_format: 'png',
        result: DATA,
      })
      await ask('/v1/responses', { input: [user('Draw a cat.'), ...output, user('Make it blue.')] })
      expect(asked().contents[1]).to.deep.equal({ role: 'model', parts: [{ text: 'A cat:' }, PART] })
    })

    it(`is named in a message, which cannot carry it${way}`, async () => {
      const reply = await ask('/v1/messages', { messages: [user('Draw a cat.')], max_tokens: 50, stream })
      const { content } = stream
        ? readMessageStream(await reply.text())
        : ((await reply.json()) as { content: { text?: string }[] })
      const text = content.map((block) => String(block.text)).join('')
      expect(text).to.match(/^A cat:.*made a picture.*\/v1\/responses/)
    })
  }
})
