// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import type OpenAI from 'openai'
import { readMessageStream } from '../../../core/testing/conformance/read-messages.ts'
import { readResponseStream } from '../../../core/testing/conformance/read-responses.ts'
import { json, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { reply as gemini } from '../../plugins/providers/gemini/generate-content.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { type Fixture, type ScriptedModel, startFixture } from '../clients/fixture.ts'
import { VENDORS, type Vendor } from '../clients/vendors.ts'

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

const compatible = (preset: string): Vendor => ({
  ...VENDORS[0]!,
  name: preset,
  config: (origin) => ({ preset, baseUrl: `${origin}/v1`, apiKey: '${env:KEY}' }),
})

/** Whose API has a place for the pictures of earlier answers. */
const TAKES = ['gemini', 'gemini-by-interactions', 'vertex-gemini', 'openrouter']
/** It gets the items of a response as they are. */
const HAS_ITEMS = ['openai', 'openai-by-responses', 'azure-openai']

describe('A conversation with a picture that another model has made', () => {
  const vendors = [...VENDORS, ...['openrouter', 'groq', 'mistral', 'alibaba'].map(compatible)]
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture(vendors)
  })
  after(() => fixture?.stop())

  async function send(model: ScriptedModel, path: string, body: object): Promise<string | null> {
    model.script([{ text: 'Blue.' }])
    const headers = { authorization: `Bearer ${fixture.key}`, 'content-type': 'application/json' }
    const request = { method: 'POST', headers, body: JSON.stringify({ model: model.id, ...body }) }
    const reply = await fetch(new URL(`/v1/${path}`, fixture.url), request)
    const text = await reply.text()
    expect(reply.status, text).to.equal(200)
    expect(text).to.include('Blue.')
    return reply.headers.get('x-umg-params-dropped')
  }

  for (const vendor of vendors) {
    const takes = TAKES.includes(vendor.name)
    const way = takes ? 'which gets the picture' : 'without it, and the client is told'

    if (vendor.name !== 'openai-compatible')
      it(`goes on with ${vendor.name}, ${way}: chat completions`, async () => {
        const model = fixture.models.get(vendor)!
        const images = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${DATA}` } }]
        const dropped = await send(model, 'chat/completions', {
          messages: [user('Draw a cat.'), { role: 'assistant', content: 'A cat:', images }, user('Make it blue.')],
        })
        expect(model.asked.at(-1)!.body.includes(DATA)).to.equal(takes)
        expect(dropped?.includes('messages.images') ?? false).to.equal(!takes)
      })

    if (!HAS_ITEMS.includes(vendor.name))
      it(`goes on with ${vendor.name}, ${way}: responses`, async () => {
        const model = fixture.models.get(vendor)!
        const picture = { type: 'image_generation_call', id: 'ig_1', status: 'completed', output_format: 'png', result: DATA }
        const dropped = await send(model, 'responses', { input: [user('Draw a cat.'), picture, user('Make it blue.')] })
        expect(model.asked.at(-1)!.body.includes(DATA)).to.equal(takes)
        expect(dropped?.includes('input.image_generation_call') ?? false).to.equal(!takes)
      })
  }
})

describe('A chat that asks for text and pictures', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture([...VENDORS, ...['openrouter', 'vercel', 'venice'].map(compatible)])
  })
  after(() => fixture?.stop())

  const ask = async (name: string) => {
    const model = [...fixture.models.values()].find(({ vendor }) => vendor.name === name)!
    model.script([{ text: 'A cat:' }])
    const headers = { authorization: `Bearer ${fixture.key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ model: model.id, messages: [user('Draw a cat.')], modalities: ['image', 'text'] })
    const reply = await fetch(new URL('/v1/chat/completions', fixture.url), { method: 'POST', headers, body })
    return { status: reply.status, text: await reply.text(), asked: model.asked.at(-1)?.body ?? '' }
  }

  for (const name of ['gemini', 'vertex-gemini'])
    it(`gets them from ${name}`, async () => {
      const { status, asked } = await ask(name)
      expect([status, asked]).to.deep.equal([200, asked])
      expect(asked).to.include('"responseModalities":["IMAGE","TEXT"]')
    })

  for (const name of ['openrouter', 'vercel'])
    it(`is passed on to ${name}`, async () => expect((await ask(name)).asked).to.include('"modalities":["image","text"]'))

  for (const name of ['anthropic', 'bedrock', 'cohere', 'ollama', 'vertex-claude', 'venice'])
    it(`is refused for ${name}, which gives text only`, async () => {
      const { status, text, asked } = await ask(name)
      expect([status, asked]).to.deep.equal([400, ''])
      expect(text).to.include('gives text only').and.include('modalities')
    })
})
