// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import Anthropic from '@anthropic-ai/sdk'
import { expect } from 'chai'
import type OpenAI from 'openai'
import { json, type ScriptedUpstream, scriptedUpstream, sse } from '../../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../../support/gateway.ts'
import { content, reply } from './chat-reply.ts'
import { event } from './support.ts'

const PAGE = { url: 'https://tides.example/oslo', title: 'Tides' }
const TEXT = 'Low tide at six.'
/** Of a page, and of a result without an address. */
const CITATIONS = [
  { start: 0, end: 8, text: 'Low tide', sources: [{ type: 'document', id: 'doc_0', document: PAGE }] },
  { start: 12, end: 15, text: 'six', sources: [{ type: 'tool', id: 'tide_0', tool_output: { hour: 6 } }] },
]
const EXTRA = { cohere: { citations: CITATIONS } }
const PLACE = { start_index: 0, end_index: 8, ...PAGE }

describe('cohere: the citations of an answer', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let openai: OpenAI
  let anthropic: Anthropic

  before(async () => {
    upstream = await scriptedUpstream()
    const { whole, stream } = reply([content('text', 'Low tide ', 'at six.')])
    const cited = CITATIONS.map((each) => event({ type: 'citation-start', index: 0, delta: { message: { citations: each } } }))
    upstream.on(({ json: body }) => {
      if ((body() as { readonly stream?: boolean }).stream !== true)
        return json({ ...whole, message: { ...whole.message, citations: CITATIONS } })
      return sse([...stream.slice(0, -1), ...cited, stream.at(-1)!])
    })
    gateway = await startTestGateway({
      env: { KEY: 'cohere-key' },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          cohere: { provider: 'cohere', breaker: false, config: { apiKey: '${env:KEY}', baseUrl: upstream.origin } },
        },
      },
    })
    openai = gateway.openai().withOptions({ maxRetries: 0 })
    anthropic = new Anthropic({ baseURL: gateway.url, apiKey: gateway.liveKey, maxRetries: 0 })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const chat = { model: 'cohere/command-a-03-2025', messages: [{ role: 'user' as const, content: 'When is low tide?' }] }
  const message = { ...chat, max_tokens: 100 }
  const response = { model: chat.model, input: 'When is low tide?' }

  it('are in the message of a chat completion, those of pages as annotations too', async () => {
    const { choices } = await openai.chat.completions.create(chat)
    expect(choices[0]!.message).to.deep.include({
      content: TEXT,
      annotations: [{ type: 'url_citation', url_citation: PLACE }],
      extra_content: EXTRA,
    })
    const deltas: object[] = []
    for await (const each of await openai.chat.completions.create({ ...chat, stream: true })) {
      for (const { delta } of each.choices) if ('extra_content' in delta) deltas.push(delta)
    }
    expect(deltas).to.deep.equal([{ annotations: [{ type: 'url_citation', url_citation: PLACE }], extra_content: EXTRA }])
  })

  it('are in a response, those of pages as annotations of its text', async () => {
    const annotations = [{ type: 'url_citation', ...PLACE }]
    const whole = await openai.responses.create(response)
    const streamed = await openai.responses.stream(response).finalResponse()
    for (const each of [whole, streamed]) {
      expect(each).to.deep.include({ output_text: TEXT, extra_content: EXTRA })
      const [item] = each.output as { readonly content: readonly object[] }[]
      expect(item!.content[0]).to.deep.include({ text: TEXT, annotations })
    }
  })

  it('are in a message, and in the event that ends a streamed one', async () => {
    expect(await anthropic.messages.create(message)).to.deep.include({ extra_content: EXTRA })
    const ends: object[] = []
    const stream = anthropic.messages.stream(message).on('streamEvent', (each) => {
      if (each.type === 'message_delta') ends.push(each)
    })
    const { content: blocks } = await stream.finalMessage()
    expect(blocks.map((block) => (block as { readonly text: string }).text)).to.deep.equal([TEXT])
    expect(ends).to.have.lengthOf(1)
    expect(ends[0]).to.deep.include({ extra_content: EXTRA })
  })
})
