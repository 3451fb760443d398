// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, type ModelMessage, streamText } from 'ai'
import { expect } from 'chai'
import { createAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { json, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { named, response } from '../responses/fixture.ts'

const answer = (id: string, text: string) => ({
  type: 'message',
  id,
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
})
const kept = (id: string, item: string) => ({ ...response('Hi'), id, created_at: 1, model: 'm', output: [answer(item, 'Hi')] })

/** The events of a response with one message. */
const events = (id: string, item: string): string => {
  const whole = kept(id, item)
  const at = { item_id: item, output_index: 0, content_index: 0 }
  return [
    named('response.created', { sequence_number: 0, response: { ...whole, status: 'in_progress', output: [] } }),
    named('response.output_item.added', { sequence_number: 1, output_index: 0, item: { ...answer(item, ''), content: [] } }),
    named('response.output_text.delta', { sequence_number: 2, ...at, delta: 'Hi', logprobs: [] }),
    named('response.output_item.done', { sequence_number: 3, output_index: 0, item: answer(item, 'Hi') }),
    named('response.completed', { sequence_number: 4, response: whole }),
  ].join('')
}

describe('The items of a kept response', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startTestGateway({
      env: { KEY: 'k' },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          up: {
            provider: 'openai-compatible',
            breaker: false,
            config: { baseUrl: `${upstream.origin}/v1`, apiKey: '${env:KEY}', responses: true },
          },
        },
      },
    })
  })
  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const model = () => createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.liveKey }).responses('up/m')
  const ask = async (input: unknown, key = gateway.liveKey, more: object = {}) => {
    const reply = await gateway.fetch('/v1/responses', { key, json: { model: 'up/m', input, ...more } })
    return {
      status: reply.status,
      body: (await reply.json()) as { id: string; output: { id: string }[]; error: { code: string } | null },
    }
  }
  const said = { role: 'user', content: 'Go on' } as const

  for (const way of ['whole', 'streamed'] as const) {
    it(`are referred to by the AI SDK in its second turn, ${way}`, async () => {
      const messages: ModelMessage[] = [{ role: 'user', content: 'Hello' }]
      upstream.reply(way === 'whole' ? json(kept('resp_1', 'msg_1')) : sse([events('resp_1', 'msg_1')]))
      if (way === 'whole') messages.push(...(await generateText({ model: model(), messages })).response.messages)
      else {
        const stream = streamText({ model: model(), messages })
        expect(await stream.text).to.equal('Hi')
        messages.push(...(await stream.response).messages)
      }
      const asked = upstream.reply(json(kept('resp_2', 'msg_2')))
      await generateText({ model: model(), messages: [...messages, said] })
      const { input } = (await asked).json() as { input: unknown[] }
      expect(input[1]).to.deep.equal({ type: 'item_reference', id: 'msg_1' })
    })
  }

  it('belong to the account that they were made for', async () => {
    upstream.reply(json(kept('resp_3', 'msg_3')))
    const { id } = (await ask('Hi')).body.output[0]!
    expect(id).to.match(/^msg_3\.umg\d+\.[\w-]{22}$/)
    const { id: account } = await createAccount(gateway.store, { name: 'Other', models: ['*'], rateClass: null }, GATEWAY)
    const other = await gateway.key({ account })
    const before = upstream.requests.length
    for (const [reference, key] of [
      [id, other],
      ['msg_3', gateway.liveKey],
      [id.replace(/\d+\./, '0.'), gateway.liveKey],
    ] as const) {
      const { status, body } = await ask([{ type: 'item_reference', id: reference }, said], key)
      expect([status, body.error?.code]).to.deep.equal([400, 'item_not_found'])
    }
    expect(upstream.requests.length).to.equal(before)
  })

  it('can be sent back whole: the upstream gets its own ids', async () => {
    upstream.reply(json(kept('resp_4', 'msg_4')))
    const { output } = (await ask('Hi')).body
    const asked = upstream.reply(json(kept('resp_5', 'msg_5')))
    await ask([...output, said])
    expect((await asked).json()).to.deep.equal({ model: 'm', input: [answer('msg_4', 'Hi'), said] })
  })

  it('have the ids of their upstream in a response that is not kept', async () => {
    upstream.reply(json(kept('resp_6', 'msg_6')))
    expect((await ask('Hi', gateway.liveKey, { store: false })).body.output[0]!.id).to.equal('msg_6')
  })
})
