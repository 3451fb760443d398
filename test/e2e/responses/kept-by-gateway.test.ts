// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import type OpenAI from 'openai'
import type { ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses'
import { createAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import {
  FIN,
  json,
  openaiReply,
  type ReceivedRequest,
  type ScriptedUpstream,
  scriptedUpstream,
  sse,
} from '../../../core/testing/kit.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../../support/gateway.ts'
import { startRedis, type TestRedis } from '../../support/redis.ts'
import { named, response, responseEvents } from './fixture.ts'
import { connect } from './socket-client.ts'

const OWN_ID = /^resp_[\w-]{22}$/

const NEW_KEY = 'a new key of the operator, of 32 characters'
const OLD_KEY = 'the old key of the operator, of 32 characters'

const LIMITS = { classes: { standard: { requests: '1000/min' } }, default: 'standard' }

/** Starts a gateway that keeps responses. `keeping`: further settings of that. */
const startKeeping = (
  upstream: ScriptedUpstream,
  { keeping = {}, ...options }: Partial<TestGatewayOptions> & { readonly keeping?: object | undefined } = {},
): Promise<TestGateway> => {
  const config = { baseUrl: `${upstream.origin}/v1`, apiKey: '${env:KEY}' }
  return startTestGateway({
    env: { KEY: 'k', OLD_KEY, NEW_KEY },
    routes: {
      chain: [{ plugin: 'auth' }, { plugin: 'rate-tagging', config: LIMITS }, { plugin: 'header-stamping' }],
      namespaces: {
        chat: { provider: 'openai-compatible', breaker: false, config },
        native: { provider: 'openai-compatible', breaker: false, config: { ...config, responses: true } },
      },
      keepResponses: { keys: ['${env:OLD_KEY}'], ...keeping },
    },
    ...options,
  })
}

const sdk = (gateway: TestGateway, key = gateway.liveKey): OpenAI => gateway.openai(key).withOptions({ maxRetries: 0 })

const messagesOf = (request: ReceivedRequest) => (request.json() as { readonly messages: unknown[] }).messages

/** The status and code of a refusal. */
const refusal = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => expect.fail('it was answered'),
    ({ status, code }: { readonly status: number; readonly code: string }) => `${status} ${code}`,
  )

const NOT_FOUND = '400 previous_response_not_found'
const GONE = '404 response_not_found'

describe('Responses that the gateway keeps', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let client: OpenAI

  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startKeeping(upstream, { metricsToken: 'token', adminListen: true })
    client = sdk(gateway)
  })
  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  it('put an item in its place once, however often a call refers to it', async () => {
    say('Hi')
    const { id } = await client.responses.create({ model: 'chat/m', input: [{ role: 'user', content: 'x'.repeat(100_000) }] })
    const { data } = await client.responses.inputItems.list(id)
    const reference = { type: 'item_reference' as const, id: data[0]!.id! }
    const asked = say('Hi')
    await client.responses.create({ model: 'chat/m', input: [...Array(5000).fill(reference), { role: 'user', content: 'More' }] })
    expect(messagesOf(await asked)).to.have.length(2)
  })

  it('goes on from them on a socket, without the conversation being kept again', async () => {
    const socket = await connect(gateway)
    const turn = async (input: string, more = {}) => {
      const asked = upstream.reply(sse(openaiReply({ text: input.toUpperCase() }).stream))
      const { response: made } = await socket.turn({ model: 'chat/m', input, ...more })
      return { made: made as { id: string; previous_response_id: string | null }, sent: await asked }
    }
    const first = await turn('one')
    const second = await turn('two', { previous_response_id: first.made.id })
    expect(second.made.previous_response_id).to.equal(first.made.id)
    expect(messagesOf(second.sent)).to.have.length(3)
    const { data } = await client.responses.inputItems.list(second.made.id, { order: 'asc' })
    expect(data).to.have.length(3)
    const third = await turn('three', { previous_response_id: second.made.id, store: false })
    expect(messagesOf(third.sent)).to.have.length(5)
    await socket.close()
  })

  const say = (text: string) => upstream.reply(json(openaiReply({ text }).whole))

  /** A response of a model of chat completions. */
  async function responded(text: string, more: Partial<ResponseCreateParamsNonStreaming> = {}, by = client) {
    say(text)
    return by.responses.create({ model: 'chat/m', input: `Say ${text}`, ...more })
  }

  /** The refusal of a call to a model, which is not called. */
  const refused = (more: Partial<ResponseCreateParamsNonStreaming>, by = client): Promise<string> =>
    refusal(by.responses.create({ model: 'chat/m', input: 'Hello', ...more }))

  it('go on by the id of the last one, at an upstream of chat completions', async () => {
    const first = await responded('One', { instructions: 'Be brief.' })
    expect(first).to.include({ store: true, previous_response_id: null })
    expect(first.id).to.match(OWN_ID)
    const second = await responded('Two', { previous_response_id: first.id })
    expect(second).to.include({ previous_response_id: first.id, output_text: 'Two' })
    const asked = say('Three')
    await client.responses.create({ model: 'chat/m', input: 'Third', previous_response_id: second.id })
    expect((await asked).json()).to.deep.equal({
      model: 'm',
      messages: [
        { role: 'user', content: 'Say One' },
        { role: 'assistant', content: 'One' },
        { role: 'user', content: 'Say Two' },
        { role: 'assistant', content: 'Two' },
        { role: 'user', content: 'Third' },
      ],
    })
  })

  it('go on at an upstream with the API, which is asked to keep nothing', async () => {
    const asked = upstream.reply(json(response('One')))
    const first = await client.responses.create({ model: 'native/m', input: 'First', reasoning: { effort: 'low' } })
    expect((await asked).json()).to.deep.equal({
      model: 'm',
      input: 'First',
      reasoning: { effort: 'low' },
      store: false,
      include: ['reasoning.encrypted_content'],
    })
    expect(first.id).to.match(OWN_ID)
    expect(first.output[0]!.id).to.equal(`msg_up1.umg${first.id.slice('resp_'.length)}`)
    const again = upstream.reply(json(response('Two')))
    const second = await client.responses.create({ model: 'native/m', input: 'Second', previous_response_id: first.id })
    expect((await again).json()).to.deep.equal({
      model: 'm',
      store: false,
      input: [
        { type: 'message', role: 'user', content: 'First' },
        response('One').output[0],
        { type: 'message', role: 'user', content: 'Second' },
      ],
    })
    expect(await client.responses.retrieve(second.id)).to.deep.equal(second)
  })

  it('have one id in all events of a stream, by which they are read afterwards', async () => {
    for (const [model, events] of [
      ['chat/m', openaiReply({ text: 'Hi' }).stream],
      ['native/m', responseEvents('Hi')],
    ] as const) {
      upstream.reply(sse(events))
      const stream = await client.responses.create({ model, input: 'Hello', stream: true, store: true })
      const ids = new Set<string>()
      for await (const event of stream) if ('response' in event) ids.add(event.response.id)
      const [id, ...others] = [...ids]
      expect([others, id]).to.deep.equal([[], id])
      expect(id).to.match(OWN_ID)
      expect(await client.responses.retrieve(id!)).to.include({ output_text: 'Hi', store: true, status: 'completed' })
    }
  })

  it('change nothing else of the events of an upstream with the API', async () => {
    const text = 'say "resp_up1", msg_up1 and \u{1f600}'
    const events = responseEvents(text).join('')
    upstream.reply(sse([events]))
    const sent = await (
      await gateway.fetch('/v1/responses', { json: { model: 'native/m', input: 'Hello', stream: true } })
    ).text()
    const id = /resp_[\w-]{22}/.exec(sent)![0]
    const parsed = (all: string) => [...all.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!))
    const own = { id, previous_response_id: null, store: true }
    const expected = parsed(events.replaceAll('"msg_up1"', `"msg_up1.umg${id.slice(5)}"`)).map((event) =>
      event.response ? { ...event, response: { ...event.response, ...own } } : event,
    )
    expect(parsed(sent)).to.deep.equal(expected)
  })

  it('are listed with what the model got before, and deleted', async () => {
    const first = await responded('One')
    const second = await responded('Two', { input: [{ role: 'user', content: 'Second' }], previous_response_id: first.id })
    const { data, has_more } = await client.responses.inputItems.list(second.id, { order: 'asc' })
    expect(data.map((item) => (item.type === 'message' ? item.role : item.type))).to.deep.equal(['user', 'assistant', 'user'])
    expect(new Set(data.map(({ id }) => id)).size).to.equal(3)
    expect(has_more).to.equal(false)
    const pages: unknown[] = []
    for await (const { id } of client.responses.inputItems.list(second.id, { limit: 1 })) pages.push(id)
    expect(pages).to.deep.equal(data.map(({ id }) => id).toReversed())
    // An item of the list can be referred to.
    const asked = say('Three')
    await client.responses.create({ model: 'chat/m', input: [{ type: 'item_reference', id: data[2]!.id! }] })
    expect((await asked).json()).to.deep.include({ messages: [{ role: 'user', content: 'Second' }] })
    for (const query of ['limit=0', 'limit=101', 'order=up', 'after=msg_none'])
      expect((await gateway.fetch(`/v1/responses/${second.id}/input_items?${query}`)).status).to.equal(400)

    const deleted = await gateway.fetch(`/v1/responses/${first.id}`, { method: 'DELETE' })
    expect(await deleted.json()).to.deep.equal({ id: first.id, object: 'response', deleted: true })
    expect(await refusal(client.responses.retrieve(first.id))).to.equal(GONE)
    expect(await refusal(client.responses.delete(first.id))).to.equal(GONE)
    // What goes on from it has lost its beginning.
    expect(await refused({ previous_response_id: second.id })).to.equal(NOT_FOUND)
    const reference = { type: 'item_reference', id: first.output[0]!.id } as const
    expect(await refused({ input: [reference as never] })).to.equal('400 item_not_found')
    expect(await client.responses.retrieve(second.id)).to.include({ output_text: 'Two' })
  })

  it('have no row left in the database when they are deleted', async () => {
    const rows = async () => (await gateway.store.db.selectFrom('kept_values').selectAll().execute()).length
    const before = await rows()
    const { id } = await responded('One')
    expect(await rows()).to.equal(before + 1)
    await client.responses.delete(id)
    expect(await rows()).to.equal(before)
  })

  it('cannot be read in the database', async () => {
    const { id } = await responded('A secret answer')
    const rows = JSON.stringify(await gateway.store.db.selectFrom('kept_values').selectAll().execute())
    for (const text of ['secret', id, id.slice(5), Buffer.from('secret').toString('base64')]) expect(rows).to.not.include(text)
  })

  it('are of one account: another one gets the answers of an id that never was', async () => {
    const first = await responded('One')
    const account = await createAccount(gateway.store, { name: 'Other', models: ['*'], rateClass: null }, GATEWAY)
    const key = await gateway.key({ account: account.id })
    const other = sdk(gateway, key)
    const unknown = `resp_${'x'.repeat(22)}`
    const answers = async (id: string) => {
      const paths = [`/v1/responses/${id}`, `/v1/responses/${id}/input_items`]
      const read = await Promise.all(paths.map((path) => gateway.fetch(path, { key })))
      const removed = await gateway.fetch(`/v1/responses/${id}`, { key, method: 'DELETE' })
      const texts = await Promise.all([...read, removed].map(async (each) => `${each.status} ${await each.text()}`))
      const asked = { previous_response_id: id } as const
      const item = { type: 'item_reference', id: `msg_1.umg${id.slice(5)}` } as const
      const refusals = [await refused(asked, other), await refused({ input: [item as never] }, other)]
      return JSON.stringify([texts, refusals]).replaceAll(id, 'ID')
    }
    expect(await answers(first.id)).to.equal(await answers(unknown))
    expect(await client.responses.retrieve(first.id)).to.include({ output_text: 'One' })
  })

  it('are of who has a key', async () => {
    const { id } = await responded('One')
    for (const path of [`/v1/responses/${id}`, `/v1/responses/${id}/input_items`])
      expect((await gateway.fetch(path, { key: 'sk-live-none' })).status).to.equal(401)
    expect((await gateway.fetch(`/v1/responses/${id}`, { key: 'sk-live-none', method: 'DELETE' })).status).to.equal(401)
  })

  it('are not kept with `store: false`, but can go on from those that are', async () => {
    const first = await responded('One')
    const asked = say('Two')
    const second = await client.responses.create({
      model: 'chat/m',
      input: 'Go on',
      previous_response_id: first.id,
      store: false,
    })
    expect(messagesOf(await asked)).to.have.length(3)
    expect(second).to.include({ store: false })
    expect(await refusal(client.responses.retrieve(second.id))).to.equal(GONE)
  })

  it('do not repeat an item that a client also refers to', async () => {
    const first = await responded('One')
    const asked = say('Two')
    const input = [
      { type: 'item_reference', id: first.output[0]!.id },
      { role: 'user', content: 'Go on' },
    ]
    const second = await client.responses.create({ model: 'chat/m', input: input as never, previous_response_id: first.id })
    expect(messagesOf(await asked)).to.have.length(3)
    const again = say('Three')
    await client.responses.create({ model: 'chat/m', input: 'And', previous_response_id: second.id })
    expect(messagesOf(await again)).to.have.length(5)
  })

  for (const id of [
    '',
    'resp_',
    `resp_${'../'.repeat(7)}x`,
    `resp_${'a'.repeat(23)}`,
    'x'.repeat(100_000),
    "';--",
    '\u0000',
    'resp_\u{1f600}',
  ])
    it(`are not found by ${JSON.stringify(id.slice(0, 30))}`, async () => {
      expect(await refused({ previous_response_id: id })).to.equal(NOT_FOUND)
      if (id === '' || id.length > 1000) return
      const { status } = await gateway.fetch(`/v1/responses/${encodeURIComponent(id)}`)
      expect(status).to.equal(404)
    })

  for (const previous of [1, ['resp_1'], { id: 'resp_1' }, true])
    it(`are not found by ${JSON.stringify(previous)}`, async () => {
      const { status } = await gateway.fetch('/v1/responses', {
        json: { model: 'chat/m', input: 'Hello', previous_response_id: previous },
      })
      expect(status).to.equal(400)
    })

  it('are as large as the operator’s bounds: the reply to a larger request says that it is not kept', async () => {
    const large = await responded('One', { input: 'x'.repeat((4 << 20) + 1) })
    expect(large).to.include({ store: false })
    expect(await refusal(client.responses.retrieve(large.id))).to.equal(GONE)
  })

  it('are not kept of a stream that breaks off', async () => {
    upstream.reply(sse([...responseEvents('Hi').slice(0, 2), FIN]))
    const stream = await client.responses.create({ model: 'native/m', input: 'Hello', stream: true })
    let id = ''
    const broken = (async () => {
      for await (const event of stream) if ('response' in event) id = event.response.id
    })()
    expect(await broken.catch((error: Error) => error)).to.be.instanceOf(Error)
    expect(id).to.match(OWN_ID)
    expect(await refusal(client.responses.retrieve(id))).to.equal(GONE)
  })

  it('are told by ids of an upstream with the reason, and not by their events', async () => {
    const sealed = 'resp_68.umg1234.aaaaaaaaaaaaaaaaaaaaaa'
    const { error } = (await (await gateway.fetch(`/v1/responses/${sealed}`)).json()) as { error: { message: string } }
    expect(error.message).to.include('Its upstream keeps it')
    const { id } = await responded('One')
    expect((await gateway.fetch(`/v1/responses/${id}?stream=true`)).status).to.equal(400)
  })

  it('are read without charge or limit, and recorded under names of their own', async () => {
    const { id } = await responded('One')
    await client.responses.retrieve(id)
    await client.responses.delete(id)
    const line = await gateway.logged(({ endpoint }) => endpoint === 'responses.delete')
    expect(line).to.include({ status: 200 })
    expect(await gateway.metric('umg_kept_value_uses_total', { space: 'responses', result: 'kept' })).to.be.above(5)
  })

  it('are of the keys of one kind: a key for tests neither reads nor removes what a live key has made', async () => {
    say('Hi')
    const { id } = await client.responses.create({ model: 'chat/m', input: 'Hello' })
    const tests = sdk(gateway, await gateway.key({ kind: 'test' }))
    expect(await refusal(tests.responses.retrieve(id))).to.equal(GONE)
    expect(await refusal(tests.responses.delete(id))).to.equal(GONE)
    expect((await client.responses.retrieve(id)).id).to.equal(id)
  })

  it('are not made of a reply that is none', async () => {
    upstream.reply(sse([named('response.created', { response: 'no object' })]))
    const { status } = await gateway.fetch('/v1/responses', { json: { model: 'native/m', input: 'Hi', stream: true } })
    expect(status).to.equal(502)
  })
})

describe('The settings of kept responses', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway | undefined

  before(async () => {
    upstream = await scriptedUpstream()
  })
  afterEach(async () => {
    await gateway?.stop()
    gateway = undefined
  })
  after(() => upstream?.close())

  const ask = (previous?: string): Promise<OpenAI.Responses.Response> => {
    upstream.reply(json(openaiReply({ text: 'Hi' }).whole))
    return sdk(gateway!).responses.create({
      model: 'chat/m',
      input: 'Hello',
      ...(previous && { previous_response_id: previous }),
    })
  }

  it('replace a key of the operator: the old one opens what it has sealed, until it is removed', async () => {
    gateway = await startKeeping(upstream)
    const path = join(gateway.folder, 'routes.yaml')
    const routes = await readFile(path, 'utf8')
    const withKeys = async (...keys: readonly string[]): Promise<void> => {
      await writeFile(path, routes.replace(/- \$\{env:OLD_KEY\}/, keys.map((key) => `- \${env:${key}}`).join('\n    ')))
      expect(await gateway!.reload()).to.include({ ok: true })
    }
    const old = await ask()
    await withKeys('NEW_KEY', 'OLD_KEY')
    const both = await ask(old.id)
    await withKeys('NEW_KEY')
    expect(await refusal(sdk(gateway).responses.retrieve(old.id))).to.equal(GONE)
    expect(await sdk(gateway).responses.retrieve(both.id)).to.include({ output_text: 'Hi' })
  })

  it('name the accounts whose responses are kept', async () => {
    gateway = await startKeeping(upstream, { keeping: { accounts: ['research', 'team-*'] } })
    const first = await ask()
    expect(first).to.include({ store: false })
    expect(await refusal(ask(first.id))).to.equal(NOT_FOUND)
    const { message } = (await sdk(gateway)
      .responses.retrieve(first.id)
      .catch((error: Error) => error)) as Error
    expect(message).to.include('keeps no responses of your account')
  })

  it('are refused if a key is short, or in the file itself', async () => {
    for (const [key, problem] of [
      ['${env:KEY}', 'must have at least 32 characters'],
      ['x'.repeat(32), 'is a secret'],
    ]) {
      const error = (await startKeeping(upstream, { keeping: { keys: [key] } }).catch((failure: Error) => failure)) as Error
      expect(error.message, error.message).to.include(problem)
    }
  })
})

onEachDatabase('Responses that are kept in the database', (database) => {
  let upstream: ScriptedUpstream
  let redis: TestRedis | undefined

  before(async () => {
    upstream = await scriptedUpstream()
  })
  after(async () => {
    await redis?.stop()
    await upstream?.close()
  })

  const ask = (gateway: TestGateway, key: string, previous?: string) => {
    upstream.reply(json(openaiReply({ text: 'Hi' }).whole))
    const asked = { model: 'chat/m', input: 'Hello', ...(previous && { previous_response_id: previous }) }
    return sdk(gateway, key).responses.create(asked)
  }

  it('are there when the gateway starts again, and in another gateway', async () => {
    const url = await database()
    const first = await startKeeping(upstream, { database: url })
    const key = first.liveKey
    const { id } = await ask(first, key)
    await first.stop()
    await using opened = new AsyncDisposableStack()
    const [second, third] = [await startKeeping(upstream, { database: url }), await startKeeping(upstream, { database: url })]
    opened.defer(() => second.stop())
    opened.defer(() => third.stop())
    const next = await ask(second, key, id)
    expect(await sdk(third, key).responses.retrieve(next.id)).to.include({ previous_response_id: id })
    await sdk(third, key).responses.delete(id)
    expect(await refusal(ask(second, key, next.id))).to.equal(NOT_FOUND)
  })

  it('are there also where Redis keeps short values, and ends', async function () {
    redis ??= await startRedis().catch(() => undefined)
    if (redis === undefined) return this.skip()
    const gateway = await startKeeping(upstream, { database: await database(), redis: redis.url })
    const { id } = await ask(gateway, gateway.liveKey)
    await redis.restart()
    expect(await sdk(gateway).responses.retrieve(id)).to.include({ output_text: 'Hi' })
    await gateway.stop()
  })
})
