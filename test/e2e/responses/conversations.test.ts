// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import type OpenAI from 'openai'
import type { APIError } from 'openai'
import type { ResponseInputItem } from 'openai/resources/responses/responses'
import { createAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { json, openaiReply, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { response, responseEvents } from './fixture.ts'

const KEY = 'a key of at least thirty-two characters'

const said = (text: string): ResponseInputItem => ({ type: 'message', role: 'user', content: text })

describe('/v1/conversations', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let client: OpenAI

  const start = (keepResponses?: object): Promise<TestGateway> => {
    const config = (path: string, more = {}) => ({ baseUrl: `${upstream.origin}/${path}`, ...more })
    const provider = 'openai-compatible'
    return startTestGateway({
      env: { KEY },
      routes: {
        chain: [{ plugin: 'auth' }],
        ...(keepResponses && { keepResponses }),
        namespaces: {
          open: { provider, breaker: false, config: config('v1') },
          native: { provider, breaker: false, config: config('native', { responses: true }) },
        },
      },
    })
  }

  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await start({ keys: ['${env:KEY}'] })
    client = gateway.openai().withOptions({ maxRetries: 0 })
  })
  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const refusal = (call: PromiseLike<unknown>): Promise<APIError> =>
    Promise.resolve(call).then(
      () => expect.fail('it was answered'),
      (error: unknown) => error as APIError,
    )

  /** What the items of a conversation say, the oldest first. */
  async function textsOf(id: string, by = client): Promise<readonly string[]> {
    const texts: string[] = []
    for await (const item of by.conversations.items.list(id, { order: 'asc', limit: 2 })) {
      texts.push(JSON.stringify(item).match(/"text":"([^"]*)"/)?.[1] ?? item.type)
    }
    return texts
  }

  it('are made, read, changed and deleted', async () => {
    const made = await client.conversations.create({ metadata: { topic: 'boats' }, items: [said('A boat, please.')] })
    expect(made).to.deep.include({ object: 'conversation', metadata: { topic: 'boats' } })
    expect(made.id).to.match(/^conv_/)
    expect(made.created_at).to.be.closeTo(Date.now() / 1000, 10)
    expect(await client.conversations.retrieve(made.id)).to.deep.equal(made)
    const changed = await client.conversations.update(made.id, { metadata: { topic: 'ships' } })
    expect(changed).to.deep.equal({ ...made, metadata: { topic: 'ships' } })
    expect(await client.conversations.retrieve(made.id)).to.deep.equal(changed)
    expect(await client.conversations.delete(made.id)).to.deep.equal({
      id: made.id,
      object: 'conversation.deleted',
      deleted: true,
    })
    expect(await refusal(client.conversations.retrieve(made.id))).to.include({ status: 404, code: 'conversation_not_found' })
    expect(await client.conversations.create()).to.deep.include({ metadata: {} })
  })

  it('have items, which are added, listed page by page, read and removed', async () => {
    const { id } = await client.conversations.create({ items: [said('one'), said('two')] })
    const added = await client.conversations.items.create(id, { items: [said('three'), said('four')] })
    expect(added).to.deep.include({ object: 'list', has_more: false })
    expect(await textsOf(id)).to.deep.equal(['one', 'two', 'three', 'four'])
    const [third] = added.data
    expect(third).to.deep.include({
      type: 'message',
      role: 'user',
      status: 'completed',
      content: [{ type: 'input_text', text: 'three' }],
    })
    const item = await client.conversations.items.retrieve(third!.id!, { conversation_id: id })
    expect(item).to.deep.equal(third)
    expect(await client.conversations.items.delete(third!.id!, { conversation_id: id })).to.include({
      id,
      object: 'conversation',
    })
    expect(await textsOf(id)).to.deep.equal(['one', 'two', 'four'])
    const gone = await refusal(client.conversations.items.retrieve(third!.id!, { conversation_id: id }))
    expect(gone).to.include({ status: 404, code: 'item_not_found' })
  })

  for (const [title, model, reply] of [
    ['translated', 'open/gpt', (text: string) => json(openaiReply({ text }).whole)],
    ['native', 'native/gpt', (text: string) => json(response(text))],
  ] as const)
    it(`stand before the input of a call, and get what it adds: ${title}`, async () => {
      const { id } = await client.conversations.create({ items: [said('A boat, please.')] })
      upstream.reply(reply('Which colour?'))
      const first = await client.responses.create({ model, conversation: id, input: 'You choose.', store: false })
      expect(first).to.deep.include({ conversation: { id }, output_text: 'Which colour?' })
      expect(await textsOf(id)).to.deep.equal(['A boat, please.', 'You choose.', 'Which colour?'])
      const asked = upstream.reply(reply('Done.'))
      await client.responses.create({ model, conversation: { id }, input: 'Blue.' })
      const body = (await asked).json() as Record<string, unknown>
      expect(body).to.not.have.property('conversation')
      const words = JSON.stringify(body.input ?? body.messages)
      const places = ['A boat, please.', 'You choose.', 'Which colour?', 'Blue.'].map((text) => words.indexOf(text))
      expect(places).to.deep.equal(places.toSorted((a, b) => a - b))
      expect(places).to.not.include(-1)
      expect(await textsOf(id)).to.deep.equal(['A boat, please.', 'You choose.', 'Which colour?', 'Blue.', 'Done.'])
    })

  for (const [title, model, reply] of [
    ['translated', 'open/gpt', () => sse(openaiReply({ text: 'Hi' }).stream)],
    ['native', 'native/gpt', () => sse(responseEvents('Hi'))],
  ] as const)
    it(`are named in streams, and have the turn when a stream ends: ${title}`, async () => {
      const { id } = await client.conversations.create()
      upstream.reply(reply())
      const stream = await client.responses.create({ model, conversation: id, input: 'Hello', stream: true })
      for await (const event of stream)
        if ('response' in event) expect(event.response.conversation, event.type).to.deep.equal({ id })
      expect(await textsOf(id)).to.deep.equal(['Hello', 'Hi'])
    })

  it('get all of several turns at once, each turn whole', async () => {
    const { id } = await client.conversations.create()
    upstream.on((request) => {
      const { messages } = request.json() as { readonly messages: readonly { readonly content: string }[] }
      return json(openaiReply({ text: `to ${messages.at(-1)!.content}` }).whole)
    })
    const names = Array.from({ length: 12 }, (_, index) => `turn ${index}`)
    await Promise.all(names.map((input) => client.responses.create({ model: 'open/gpt', conversation: id, input })))
    const texts = await textsOf(id)
    expect(texts).to.have.length(24)
    for (const name of names) expect(texts[texts.indexOf(name) + 1]).to.equal(`to ${name}`)
  })

  it('get nothing of a call that fails', async () => {
    const { id } = await client.conversations.create()
    upstream.reply(json({ error: { message: 'No.' } }, { status: 400 }))
    await refusal(client.responses.create({ model: 'open/gpt', conversation: id, input: 'Hello' }))
    expect(await textsOf(id)).to.deep.equal([])
  })

  it('are counted and compacted like what a client sends', async () => {
    const { id } = await client.conversations.create({ items: [said('A boat, please. '.repeat(50))] })
    const counted = await client.responses.inputTokens.count({ model: 'open/gpt', conversation: id, input: 'Go on.' })
    expect(counted.input_tokens).to.be.greaterThan(150)
  })

  it('are unknown to another account', async () => {
    const { id } = await client.conversations.create({ items: [said('A secret.')] })
    const account = await createAccount(gateway.store, { name: 'Other', models: ['*'], rateClass: null }, GATEWAY)
    const other = gateway.openai(await gateway.key({ account: account.id })).withOptions({ maxRetries: 0 })
    const NOT_FOUND = { status: 404, code: 'conversation_not_found' }
    expect(await refusal(other.conversations.retrieve(id))).to.include(NOT_FOUND)
    expect(await refusal(other.conversations.items.create(id, { items: [said('Hi')] }))).to.include(NOT_FOUND)
    const before = upstream.requests.length
    expect(await refusal(other.responses.create({ model: 'open/gpt', conversation: id, input: 'Hi' }))).to.include(NOT_FOUND)
    expect(upstream.requests.length).to.equal(before)
  })

  it('exclude previous_response_id', async () => {
    const { id } = await client.conversations.create()
    const error = await refusal(
      client.responses.create({ model: 'open/gpt', conversation: id, previous_response_id: 'resp_1', input: 'Hi' }),
    )
    expect(error).to.include({ status: 400, param: 'previous_response_id' })
  })

  it('are refused if they are too many, too long or no conversations', async () => {
    const many = Array.from({ length: 21 }, () => said('x'))
    expect(await refusal(client.conversations.create({ items: many }))).to.include({ status: 400, param: 'items' })
    const long = await refusal(client.conversations.create({ metadata: { a: 'x'.repeat(513) } }))
    expect(long).to.include({ status: 400 })
    expect(await refusal(client.conversations.create({ items: [said('x'.repeat(1_100_000))] }))).to.include({ status: 413 })
    const { status } = await gateway.fetch('/v1/conversations', {
      method: 'POST',
      body: '[',
      headers: { 'content-type': 'application/json' },
    })
    expect(status).to.equal(400)
  })

  it('are bounded in number for each account', async () => {
    const answers = await Promise.all(Array.from({ length: 700 }, () => gateway.fetch('/v1/conversations/conv_x')))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).to.be.greaterThan(0)
    expect(refused[0]!.headers.get('retry-after')).to.equal('1')
  })

  it('are refused by the name of the setting where the gateway keeps nothing', async () => {
    const without = await start()
    try {
      const by = without.openai().withOptions({ maxRetries: 0 })
      const error = await refusal(by.conversations.create())
      expect(error).to.include({ status: 400, code: 'conversations_not_kept' })
      expect(error.message).to.include('keepResponses')
      const call = await refusal(by.responses.create({ model: 'open/gpt', conversation: 'conv_x', input: 'Hi' }))
      expect(call).to.include({ status: 400, param: 'conversation' })
      expect(call.message).to.include('keepResponses')
    } finally {
      await without.stop()
    }
  })
})
