// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import type OpenAI from 'openai'
import { createAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { json, openaiReply, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { response, responseEvents } from './fixture.ts'

const OWN_ID = /^resp_[\w-]{22}$/

describe('Responses that the gateway keeps', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let client: OpenAI

  before(async () => {
    upstream = await scriptedUpstream()
    const config = { baseUrl: `${upstream.origin}/v1`, apiKey: '${env:KEY}' }
    gateway = await startTestGateway({
      env: { KEY: 'k', UMG_RESPONSES_KEY: 'k'.repeat(32) },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          chat: { provider: 'openai-compatible', breaker: false, config },
          native: { provider: 'openai-compatible', breaker: false, config: { ...config, responses: true } },
        },
        keepResponses: { keys: ['${env:UMG_RESPONSES_KEY}'] },
      },
    })
    client = gateway.openai().withOptions({ maxRetries: 0 })
  })
  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const say = (text: string) => upstream.reply(json(openaiReply({ text }).whole))

  it('go on by the id of the last one, at an upstream of chat completions', async () => {
    say('One')
    const first = await client.responses.create({ model: 'chat/m', input: 'First', instructions: 'Be brief.' })
    expect(first).to.include({ store: true, previous_response_id: null })
    expect(first.id).to.match(OWN_ID)
    say('Two')
    const second = await client.responses.create({ model: 'chat/m', input: 'Second', previous_response_id: first.id })
    expect(second).to.include({ previous_response_id: first.id, output_text: 'Two' })
    const asked = say('Three')
    await client.responses.create({ model: 'chat/m', input: 'Third', previous_response_id: second.id })
    expect((await asked).json()).to.deep.equal({
      model: 'm',
      messages: [
        { role: 'user', content: 'First' },
        { role: 'assistant', content: 'One' },
        { role: 'user', content: 'Second' },
        { role: 'assistant', content: 'Two' },
        { role: 'user', content: 'Third' },
      ],
    })
  })

  it('go on at an upstream with the API, which keeps nothing', async () => {
    const asked = upstream.reply(json(response('One')))
    const first = await client.responses.create({ model: 'native/m', input: 'First' })
    expect((await asked).json()).to.deep.equal({ model: 'm', input: 'First', store: false })
    expect(first.id).to.match(OWN_ID)
    expect(first.output[0]!.id).to.equal(`msg_up1.umg${first.id.slice(5)}`)
    const again = upstream.reply(sse(responseEvents('Two')))
    const stream = await client.responses.create({
      model: 'native/m',
      input: 'Second',
      previous_response_id: first.id,
      stream: true,
    })
    const ids = new Set<string>()
    for await (const event of stream) if ('response' in event) ids.add(event.response.id)
    expect([...ids]).to.have.length(1)
    expect([...ids][0]).to.match(OWN_ID)
    expect((await again).json()).to.deep.include({
      store: false,
      input: [
        { type: 'message', role: 'user', content: 'First' },
        { ...response('One').output[0] },
        { type: 'message', role: 'user', content: 'Second' },
      ],
    })
    const kept = await client.responses.retrieve([...ids][0]!)
    expect(kept).to.include({ output_text: 'Two', previous_response_id: first.id, store: true })
  })

  it('are read, listed and deleted', async () => {
    say('One')
    const first = await client.responses.create({ model: 'chat/m', input: 'First' })
    say('Two')
    const second = await client.responses.create({
      model: 'chat/m',
      input: [{ role: 'user', content: 'Second' }],
      previous_response_id: first.id,
    })
    expect(await client.responses.retrieve(second.id)).to.deep.equal(second)
    const items = await client.responses.inputItems.list(second.id, { order: 'asc' })
    expect(items.data.map((item) => ('content' in item ? item.content : undefined))).to.deep.equal([
      'First',
      first.output[0]!.content,
      'Second',
    ])
    const [newest] = (await client.responses.inputItems.list(second.id, { limit: 1 })).data
    expect(newest).to.include({ content: 'Second' })
    await client.responses.delete(first.id)
    const gone = async (call: Promise<unknown>) =>
      call.then(
        () => expect.fail('it was answered'),
        (error: { status: number; code: string }) => `${error.status} ${error.code}`,
      )
    expect(await gone(client.responses.retrieve(first.id))).to.equal('404 response_not_found')
    expect(await gone(client.responses.delete(first.id))).to.equal('404 response_not_found')
    expect(await gone(client.responses.create({ model: 'chat/m', input: 'x', previous_response_id: second.id }))).to.equal(
      '400 previous_response_not_found',
    )
  })

  it('are of one account', async () => {
    await createAccount(gateway.store, { id: 'other', name: 'Other' } as never, GATEWAY)
  })
})
