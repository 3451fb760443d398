import { expect } from 'chai'
import { hold, json, RST, sse } from '../../../core/testing/kit.ts'
import type { CallView } from '../../../core/usage/calls.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { poll } from '../../support/poll.ts'
import { strangers } from '../plugins/stranger-files.ts'
import { ask, splitAfter, USED } from '../sdk/dialect.ts'
import { type Fixture, startFixture } from '../sdk/fixture.ts'
import { openai, USAGE_EVENT } from '../sdk/openai-dialect.ts'
import { type ApiClient, adminClient } from './api-client.ts'

const SAID = { text: ['Hel', 'lo!'] }
const EVENTS = openai.events(SAID)

/** A kind of call, and its expected row. */
interface Kind {
  readonly name: string
  /** Makes the call. Resolves to its request id. */
  call(fixture: Fixture): Promise<string>
  readonly row: object
}

/** Calls by `fetch`, and reads the reply to its end, or to its failure. */
async function post(fixture: Fixture, body: object, key?: string): Promise<string> {
  const reply = await fixture.gateway.fetch('/v1/chat/completions', { json: body, ...(key !== undefined && { key }) })
  await reply.text().catch(() => undefined)
  return reply.headers.get('x-request-id')!
}

const body = (more: object = {}): object => ({ ...ask(openai), ...more })
const refused = { served: null, attempts: [], tokens: null, stream: false, outcome: 'client_error', fault: 'caller' }
const none = { key: null, account: null, model: null }
const served = { namespace: 'open', model: 'gpt-x', provider: 'openai-compatible' }
const known = { model: 'open/gpt-x', account: { id: 'default', name: 'default' }, endpoint: 'chat.completions' }
const well = { ...known, status: 200, outcome: 'ok', fault: null, error: null, served }
const tokens = { input: USED.prompt, output: USED.completion, cached: USED.cached, reasoning: USED.reasoning, estimated: false }

/** An error as the look-up shows it. `message`: without the words of the call. */
const failure = (row: string, message: string) => ({ row, code: row, message })

const NOT_JSON =
  'We could not parse the JSON body of your request. The gateway expects a JSON object; set the Content-Type header to application/json and send valid JSON.'

const KINDS: readonly Kind[] = [
  {
    name: 'a non-stream reply',
    async call(fixture) {
      fixture.upstream(openai).reply(json(openai.whole(SAID)))
      return (await fixture.gateway.openai().chat.completions.create(ask(openai)).withResponse()).request_id!
    },
    row: { ...well, stream: false, tokens },
  },
  {
    name: 'a stream with usage',
    async call(fixture) {
      fixture.upstream(openai).reply(sse(EVENTS))
      const { data, request_id } = await fixture.gateway
        .openai()
        .chat.completions.create({ ...ask(openai), stream: true })
        .withResponse()
      for await (const _ of data);
      return request_id!
    },
    row: { ...well, stream: true, tokens },
  },
  {
    name: 'a stream without usage',
    async call(fixture) {
      fixture.upstream(openai).reply(sse(EVENTS.filter((event) => event !== USAGE_EVENT)))
      return post(fixture, body({ stream: true }))
    },
    row: { ...well, stream: true },
  },
  {
    name: 'tags',
    async call(fixture) {
      fixture.upstream(openai).reply(json(openai.whole(SAID)))
      const reply = await fixture.gateway.fetch('/v1/chat/completions', { json: body(), headers: { 'x-team': 'search' } })
      await reply.text()
      return reply.headers.get('x-request-id')!
    },
    row: { ...well, tags: { team: 'search' } },
  },
  {
    name: 'an invalid key',
    call: (fixture) => post(fixture, body(), 'sk-live-000000000000000000000000000000000000'),
    row: {
      ...refused,
      ...none,
      status: 401,
      error: failure('invalid_api_key', 'Incorrect API key provided: …. You can create a key with `umg keys create`.'),
    },
  },
  {
    name: 'a body that is not JSON',
    async call(fixture) {
      const reply = await fixture.post('{')
      return String(reply.headers['x-request-id'])
    },
    row: { ...refused, status: 400, error: { ...failure('invalid_json', NOT_JSON), code: null } },
  },
  {
    name: 'a model that does not exist',
    call: (fixture) => post(fixture, body({ model: 'nowhere/to-be-found' })),
    row: {
      ...refused,
      status: 404,
      error: failure('model_not_found', 'The model `…` does not exist or you do not have access to it.'),
    },
  },
  {
    name: 'a rate limit',
    async call(fixture) {
      const key = await fixture.gateway.key({ rateClass: 'few' })
      fixture.upstream(openai).reply(json(openai.whole(SAID)))
      await post(fixture, body(), key)
      return post(fixture, body(), key)
    },
    row: {
      status: 429,
      outcome: 'rate_limited',
      fault: 'policy',
      error: { ...failure('rate_limit_requests', 'A limit of requests was reached.'), code: 'rate_limit_exceeded' },
    },
  },
  {
    name: 'an upstream that fails',
    async call(fixture) {
      fixture.upstream(openai).reply(json(openai.error(500, 'ouch'), { status: 500 }))
      return post(fixture, body())
    },
    row: { ...known, status: 502, outcome: 'upstream_error', fault: 'upstream', served: null, tokens: null },
  },
  {
    name: 'a stream that ends early',
    async call(fixture) {
      const [begun] = splitAfter(EVENTS, 'Hel')
      fixture.upstream(openai).reply(sse([...begun, RST]))
      return post(fixture, body({ stream: true }))
    },
    row: { ...known, status: 200, outcome: 'upstream_error', fault: 'upstream', served },
  },
  {
    name: 'a client that leaves',
    async call(fixture) {
      const [begun] = splitAfter(EVENTS, 'Hel')
      fixture.upstream(openai).reply(sse([...begun, hold()]))
      const leaving = new AbortController()
      const { data, request_id } = await fixture.gateway
        .openai()
        .chat.completions.create({ ...ask(openai), stream: true }, { signal: leaving.signal })
        .withResponse()
      for await (const { choices } of data) if (choices[0]?.delta.content === 'Hel') leaving.abort()
      return request_id!
    },
    row: { ...known, status: 499, outcome: 'client_closed', fault: 'caller', error: null, served },
  },
  {
    name: "a link's own reply",
    call: (fixture) => post(fixture, body({ model: 'own/any' })),
    row: { status: 200, outcome: 'ok', fault: null, model: 'own/any', served: null, attempts: [], tokens: null },
  },
  {
    name: "a link's fault",
    async call(fixture) {
      const reply = await fixture.post(body({ model: 'faulty/any' }), { 'x-deed': 'throws a text' })
      return String(reply.headers['x-request-id'])
    },
    row: {
      status: 500,
      outcome: 'gateway_error',
      fault: 'gateway',
      error: failure('plugin_error', 'A plugin failed. Contact the operator with the x-request-id of this reply.'),
    },
  },
  {
    name: 'a list of models',
    async call(fixture) {
      const reply = await fixture.gateway.fetch('/v1/models')
      await reply.text()
      return reply.headers.get('x-request-id')!
    },
    row: { endpoint: 'models', model: null, served: null, status: 200, outcome: 'ok', tokens: null, attempts: [] },
  },
]

const CHAIN = [
  {
    plugin: 'rate-tagging',
    config: { classes: { many: {}, few: { requests: '1/day' } }, default: 'many', tags: { team: '{header.x-team}' } },
  },
  { plugin: './answerer.ts', when: { namespaces: ['own'] } },
  { plugin: './unruly.ts', when: { namespaces: ['faulty'] } },
]

onEachDatabase('the look-up of a request', (create) => {
  let fixture: Fixture
  let api: ApiClient

  before(async () => {
    const others = { own: { provider: 'sandbox' }, faulty: { provider: 'sandbox' } }
    fixture = await startFixture({ database: await create(), chain: CHAIN, files: strangers('answerer.ts', 'unruly.ts'), others })
    api = await adminClient(fixture.gateway)
  })

  after(() => fixture?.stop())

  /** The look-up of each call before its row was written, by id. */
  const early = new Map<string, CallView>()

  for (const { name, call, row } of KINDS) {
    it(`shows ${name} as soon as it has ended`, async () => {
      const id = await call(fixture)
      await fixture.gateway.logged((line) => line.id === id)
      const { status, json } = await api.get(`/requests/${id}`)
      expect(status).to.equal(200)
      expect(json as CallView).to.deep.include({ id, ...row })
      early.set(id, json)
    })
  }

  it('shows each of them unchanged after its row is written', async () => {
    const list = async () => ((await api.get('/requests?limit=200')).json as { data: CallView[] }).data
    const written = await poll(list, (calls) => calls.length > early.size)
    for (const [id, call] of early) expect(written.find((one) => one.id === id)).to.deep.equal(call)
  })

  it('estimates the tokens of a stream without usage', async () => {
    const [call] = [...early.values()].filter(({ tokens }) => tokens?.estimated)
    expect(call?.tokens?.input).to.be.greaterThan(0)
    expect(call?.tokens?.output).to.be.greaterThan(0)
  })

  it('finds a request by the first or the last characters of its id', async () => {
    const [id] = early.keys()
    for (const q of [id!, id!.slice(0, 20), id!.slice(4), id!.slice(-8), `req_…${id!.slice(-8)}`]) {
      const { json } = await api.get(`/requests?q=${encodeURIComponent(q)}`)
      expect(
        (json as { data: CallView[] }).data.map((call) => call.id),
        q,
      ).to.include(id)
    }
    const found = async (q: string) => ((await api.get(`/requests?q=${q}`)).json as { data: CallView[] }).data.length
    expect(await found(id!.slice(-12))).to.equal(1)
    // What begins with req_ is the beginning.
    expect(await found(`req_${id!.slice(-12)}`)).to.equal(0)
  })

  it('shows when an attempt began, and how the upstream refused it', async () => {
    const [call] = [...early.values()].filter(({ attempts }) => attempts.some(({ status }) => status === 500))
    const { start, ms } = call!.attempts[0]!
    expect(start).to.be.within(0, call!.ms.total)
    expect(start! + ms).to.be.at.most(call!.ms.total + 1)
  })

  it('finds no request by an unknown id', async () => {
    for (const id of ['req_00000000000000000000000000000000', 'req_', '%25', "'%20or%201=1"]) {
      const { status, json } = await api.get(`/requests/${id}`)
      expect([status, json]).to.deep.equal([404, { error: NOT_FOUND }])
    }
  })
})

const NOT_FOUND = {
  message: 'There is no request with this id.',
  type: 'invalid_request_error',
  param: null,
  code: 'not_found',
}
