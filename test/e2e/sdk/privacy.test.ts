import { expect } from 'chai'
import { json, type ReceivedRequest, RST, reply, type Script, sse } from '../../../core/testing/kit.ts'
import type { RawReply } from '../../support/raw-http.ts'
import { ask, type Dialect, type Said, splitAfter } from './dialect.ts'
import { DIALECTS, type Fixture, startFixture } from './fixture.ts'
import { openai } from './openai-dialect.ts'

const TEXT: Said = { text: ['Hel', 'lo!'] }

/** What clients, proxies and browsers add, and no upstream is to know. */
const CLIENTS_OWN = {
  cookie: 'session=canary',
  'cf-connecting-ip': '203.0.113.7',
  'cf-ray': 'canary',
  'cdn-loop': 'canary',
  'x-forwarded-for': '203.0.113.7',
  'x-forwarded-host': 'canary.example',
  'x-real-ip': '203.0.113.7',
  'true-client-ip': '203.0.113.7',
  forwarded: 'for=203.0.113.7',
  via: '1.1 canary',
  referer: 'https://canary.example',
  origin: 'https://canary.example',
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  'x-request-id': 'canary',
  'x-client-request-id': 'canary',
  'openai-organization': 'canary',
  'openai-project': 'canary',
  'api-key': 'canary',
  'x-goog-api-key': 'canary',
  'x-anything': 'canary',
}

/** What an upstream may say of itself and its account, and no client is to know. */
const ACCOUNT = {
  'openai-organization': 'org-canary77',
  'x-request-id': 'req_canary77',
  'request-id': 'req_canary77',
  'set-cookie': 'canary77=1',
  'x-canary77': '1',
  location: 'https://canary77.example.com/?key=org-canary77',
  'www-authenticate': 'Bearer realm="canary77"',
}

describe('Privacy:', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })

  after(() => fixture?.stop())

  for (const dialect of DIALECTS) {
    const credential = dialect === openai ? ['authorization'] : ['x-api-key', 'anthropic-version']

    for (const stream of [false, true]) {
      it(`an upstream gets nothing about the client${stream ? ' of a stream' : ''} (${dialect.name})`, async () => {
        const script = stream ? sse(dialect.events(TEXT)) : json(dialect.whole(TEXT))
        const bySdk = fixture.upstream(dialect).reply(script)
        await fixture.gateway.openai().chat.completions.create({ ...ask(dialect), stream }, { headers: CLIENTS_OWN })
        const byHand = fixture.upstream(dialect).reply(script)
        await fixture.post({ ...ask(dialect), stream }, { ...CLIENTS_OWN, connection: 'close, x-hop', 'x-hop': 'canary' })
        for (const { headers, rawHeaders } of [await bySdk, await byHand]) {
          const own = ['accept', 'accept-encoding', 'connection', 'content-length', 'content-type', 'host', 'user-agent']
          expect(headers).to.have.all.keys(...own, 'x-request-id', ...credential)
          expect(headers['user-agent']).to.equal('unified-model-gateway')
          expect(headers['x-request-id']).to.match(/^req_[0-9a-f]{32}$/)
          expect(headers[credential[0]!]).to.include(dialect.apiKey)
          expect(JSON.stringify(rawHeaders)).to.not.match(/canary(?!-)|203\.0\.113|sk-live/)
        }
      })
    }

    for (const [what, reply] of confessions(dialect)) {
      it(`a client gets nothing about the upstream account from ${what} (${dialect.name})`, async () => {
        const upstream = fixture.upstream(dialect)
        upstream.on((request) => reply(confession(dialect, request)))
        for (const stream of [false, true]) {
          const seen = await everyByte(await fixture.post(ask(dialect, { stream })))
          expect(seen).to.not.match(/canary/)
          expect(seen).to.not.include(new URL(upstream.origin).host)
        }
      })
    }
  }

  for (const dialect of DIALECTS) {
    it(`the log contains no key of either side (${dialect.name})`, async () => {
      fixture.upstream(dialect).on((request) => json(dialect.error(401, confession(dialect, request)), { status: 401 }))
      const { headers } = await fixture.post(ask(dialect))
      const line = await fixture.gateway.logged(({ id }) => id === headers['x-request-id'])
      expect(line).to.include({ status: 400 })
      expect(JSON.stringify(fixture.gateway.log)).to.not.include(dialect.apiKey).and.not.include(fixture.gateway.liveKey)
    })
  }
})

const everyByte = async (reply: RawReply): Promise<string> => `${JSON.stringify(reply.headers)}\n${await reply.text()}`

/** All that an upstream could give away, in one sentence. */
const confession = ({ apiKey }: Dialect, { headers }: ReceivedRequest): string =>
  `Key ${apiKey} of org-canary77 (acct_canary77) failed at https://api.canary77.example.com/v1 on ${headers.host}: req_canary77.`

type Confession = readonly [what: string, reply: (words: string) => Script]

function confessions(dialect: Dialect): Confession[] {
  const headers = ACCOUNT
  const [begin] = splitAfter(dialect.events(TEXT), 'Hel')
  const statuses = [302, 400, 401, 403, 404, 413, 422, 429, 500, 503, 529]
  return [
    ...statuses.map((status): Confession => [`a ${status}`, (words) => json(dialect.error(status, words), { status, headers })]),
    ['the headers of a reply', () => json(dialect.whole(TEXT), { headers })],
    ['the headers of a stream', () => sse(dialect.events(TEXT), { headers })],
    ['an error in a stream', (words) => sse([...begin, dialect.errorEvent(words)], { headers })],
    ['an error in place of a stream', (words) => sse([dialect.errorEvent(words)], { headers })],
    ['an error in place of a reply', (words) => json(dialect.error(400, words), { headers })],
    ['a comment in a stream', (words) => sse([`: ${words}\n\n`, ...dialect.events(TEXT)], { headers })],
    ['a web page', (words) => reply([`<html>${words}</html>`], { headers: { ...headers, 'content-type': 'text/html' } })],
    ['what is no JSON', (words) => reply([words], { headers: { ...headers, 'content-type': 'application/json' } })],
    ['a lost connection', () => [RST]],
  ]
}
