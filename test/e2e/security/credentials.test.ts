import { expect } from 'chai'
import { healthRouter, type MonitoringServices, monitoringRouter } from '../../../core/control/monitoring.ts'
import { type ApiServices, apiRoutes } from '../../../core/http/app.ts'
import { listKeys } from '../../../core/keys/api-key.ts'
import { createSecret } from '../../../core/keys/format.ts'
import { digestOf } from '../../../core/text/ids.ts'
import type { WireReply } from '../../support/raw-connection.ts'
import { expectError, expectMessagesError, type Fixture, type Refusal, startFixture } from '../client-faults/fixture.ts'
import { KEYED, type Route, SYSTEM } from './routes.ts'

/** What a request offers in place of a valid key in its Authorization header. */
interface Offer {
  readonly name: string
  readonly lines?: (key: string) => readonly string[]
  readonly query?: (key: string) => string
  readonly members?: (key: string) => string
}

const bearer = (name: string, token: (key: string) => string): Offer => ({
  name,
  lines: (key) => [`Authorization: Bearer ${token(key)}`],
})
const header = (name: string): Offer => ({ name: `a valid key in ${name}`, lines: (key) => [`${name}: ${key}`] })

/** Without a word of authorization: the reply says how to give a key. */
const MISSING: readonly Offer[] = [
  { name: 'nothing' },
  {
    name: 'a valid key in the query',
    query: (key) => `?api_key=${key}&key=${key}&access_token=${key}&authorization=Bearer%20${key}`,
  },
  { name: 'a valid key in a cookie', lines: (key) => [`Cookie: authorization=Bearer ${key}; api_key=${key}`] },
  { name: 'a valid key in the body', members: (key) => `"api_key":"${key}","authorization":"Bearer ${key}",` },
  ...['Api-Key', 'X-Goog-Api-Key', 'Proxy-Authorization', 'X-Authorization', 'HTTP_AUTHORIZATION'].map(header),
]

const INJECTIONS = [
  "' OR '1'='1",
  "'OR'1'='1';--",
  '"OR""="',
  "';DROP/**/TABLE/**/keys;--",
  "sk-live-'UNION/**/SELECT/**/*/**/FROM/**/keys--",
  "x')/**/OR/**/(1=1",
  '%',
  '_',
  'sk-live-%',
  '*',
  '\\',
  '%00',
  '%27%20OR%201=1',
  '{"$ne":null}',
  '$(id)',
  '{{7*7}}',
  '../../etc/passwd',
]

/** With something that is no key: the reply says that it is none, and gives nothing of it away. */
const INVALID: readonly Offer[] = [
  { name: 'an empty header', lines: () => ['Authorization:'] },
  { name: 'a scheme and nothing', lines: () => ['Authorization: Bearer'] },
  { name: 'a valid key without a scheme', lines: (key) => [`Authorization: ${key}`] },
  { name: 'a valid key as a password', lines: (key) => [`Authorization: Basic ${Buffer.from(`:${key}`).toString('base64')}`] },
  { name: 'a valid key twice', lines: (key) => [`Authorization: Bearer ${key}`, `Authorization: Bearer ${key}`] },
  { name: 'a valid key after a bad one', lines: (key) => ['Authorization: Bearer x', `Authorization: Bearer ${key}`] },
  { name: 'a valid key beside a bad header', lines: (key) => ['Authorization: Bearer', `X-Api-Key: ${key}`] },
  { name: 'two valid keys in one', lines: (key) => [`Authorization: Bearer ${key}, Bearer ${key}`] },
  bearer('a key that nobody owns', () => createSecret('live')),
  bearer('a test key that nobody owns', () => createSecret('test')),
  bearer('a valid key less one character', (key) => key.slice(0, -1)),
  bearer('a valid key and one character', (key) => `${key}0`),
  bearer('a valid key in capitals', (key) => key.toUpperCase()),
  bearer('a valid key of the other kind', (key) => key.replace('live', 'test')),
  bearer('a valid key in quotes', (key) => `"${key}"`),
  bearer('the digest of a valid key', digestOf),
  bearer('the digest of a valid key, as routes.yaml has it', (key) => `sha256:${digestOf(key)}`),
  bearer('ten kilobytes', () => 'x'.repeat(10_240)),
  bearer('letters beyond ASCII', (key) => `${key}\xe9`),
  ...INJECTIONS.map((text) => bearer(text, () => text)),
]

/** A link that replies to every call itself. */
const ANSWERER = `
import { defineChain, Type } from 'unified-model-gateway/plugin'
export default defineChain({
  apiVersion: 1,
  name: 'answerer',
  schema: Type.Object({}),
  create: () => ({
    async handle({ state }, next) {
      if (!state.callsModel) await next()
      else state.reply.send({ id: 'x', object: 'chat.completion', created: 0, model: 'x', choices: [] })
    },
  }),
})
`

/** Expects the error of a route in the shape of its protocol. */
const expectRefused = (path: string, reply: WireReply, refusal: Refusal): string =>
  path.startsWith('/v1/messages') ? expectMessagesError(reply, refusal, 'authentication_error') : expectError(reply, refusal)

describe('Without auth', () => {
  for (const [what, chain] of [
    ['and without any link', []],
    ['but with a link that answers by itself', [{ plugin: './answerer.ts' }]],
  ] as const) {
    it(`${what}, every key is refused`, async () => {
      const fixture = await startFixture({ chain, files: { 'answerer.ts': ANSWERER } })
      for (const { method, path, target = path, body = '' } of KEYED) {
        const connection = await fixture.connect()
        connection.write(fixture.call({ requestLine: `${method} ${target} HTTP/1.1`, body }))
        expectRefused(path, await connection.reply(), { status: 401, code: null })
        connection.socket.destroy()
      }
      expect(fixture.upstream.requests).to.have.length(0)
      await fixture.stop()
    })
  }
})

describe('Without a valid key', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })

  after(() => fixture?.stop())

  /** Asks for a route with what is offered, and checks that it is refused before anything else happens. */
  async function expectUnauthorized(route: Route, offer: Offer, code: string | null): Promise<void> {
    const { gateway, upstream } = fixture
    const { lines = () => [], query = () => '', members = () => '' } = offer
    const connection = await fixture.connect()
    const key = gateway.liveKey
    const changes = { lines: lines(key), without: ['authorization'], body: route.body?.replace('{', `{${members(key)}`) ?? '' }
    const requestLine = `${route.method} ${route.target ?? route.path}${query(key)} HTTP/1.1`
    connection.write(fixture.call({ ...changes, requestLine }))
    const reply = await connection.reply()
    connection.socket.destroy()
    const message = expectRefused(route.path, reply, { status: 401, code, headers: { 'www-authenticate': 'Bearer' } })
    expect(message).to.match(code === null ? /^You didn't provide an API key\./ : /^Incorrect API key provided: \S{3,12}\. /)
    expect(upstream.requests, 'requests that reached the upstream').to.have.length(0)
  }

  for (const route of KEYED) {
    it(`${route.name} is a 401 with www-authenticate`, async () => {
      for (const offer of MISSING) await expectUnauthorized(route, offer, null)
    })

    it(`${route.name} is a 401 for a text that resembles a key`, async () => {
      for (const offer of INVALID) await expectUnauthorized(route, offer, 'invalid_api_key')
    })
  }

  it('no attempt has changed anything', async () => {
    expect((await listKeys(fixture.gateway.store)).data).to.have.length(2)
    expect((await fixture.gateway.fetch('/v1/models')).status).to.equal(200)
  })

  it('no other route exists', () => {
    const routers = [apiRoutes({} as ApiServices), healthRouter(() => undefined), monitoringRouter({} as MonitoringServices)]
    const served = routers.flatMap(({ stack }) => stack.map(({ path }) => path))
    expect(new Set(served)).to.deep.equal(new Set([...KEYED, ...SYSTEM].map(({ path }) => path)))
  })
})
