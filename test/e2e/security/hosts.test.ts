import { expect } from 'chai'
import type { WireReply } from '../../support/raw-connection.ts'
import { expectError, type Fixture, startFixture } from '../client-faults/fixture.ts'
import { KEYED, type Route, SYSTEM } from './routes.ts'

const NOWHERE: Route = { name: 'nothing', method: 'GET', path: '/admin/keys' }
const ROUTES = [...KEYED, ...SYSTEM, NOWHERE]

/** Names that are this machine's for sure: metrics without a token are served by no others (test/core/control/monitoring.test.ts). */
const OWN_NAMES = ['localhost', '127.0.0.1:1', '[::1]', '169.254.169.254', '']

/** Names that a client may give the gateway: behind a proxy any of them can be its own. */
const NAMES = [...OWN_NAMES, 'elsewhere.example', 'metrics', 'a_b']

/** Names with an address in them, which frameworks that build one from the Host header read before the real one. */
const ADDRESSES = [
  'gateway/v1/models?',
  'gateway/livez?',
  'gateway/metrics#',
  'gateway?/livez',
  'gateway#/livez',
  'gateway\\livez',
  'livez@gateway',
  'gateway:80/livez',
  '/livez',
  'gateway /livez',
  'gateway,elsewhere',
]

/** What proxies say of a request; nobody has told the gateway to believe it. */
const CLAIMS = [
  'X-Forwarded-Host: elsewhere/livez?',
  'X-Forwarded-Path: /livez',
  'X-Forwarded-Prefix: /livez',
  'X-Forwarded-Proto: https',
  'X-Forwarded-For: 127.0.0.1',
  'X-Real-IP: 127.0.0.1',
  'Forwarded: for=127.0.0.1;host=elsewhere',
  'X-Original-URL: /livez',
  'X-Rewrite-URL: /livez',
  'X-HTTP-Method-Override: DELETE',
  'X-Host: elsewhere',
  'X_Forwarded_Host: elsewhere',
]

describe('With any Host header', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })

  after(() => fixture?.stop())

  async function ask(
    { method, path, target = path, body = '' }: Route,
    changes: Parameters<Fixture['call']>[0],
  ): Promise<WireReply> {
    const connection = await fixture.connect()
    connection.write(fixture.call({ requestLine: `${method} ${target} HTTP/1.1`, body, ...changes }))
    const reply = await connection.reply()
    connection.socket.destroy()
    return reply
  }

  for (const route of ROUTES) {
    for (const [who, without] of [
      ['with a key', []],
      ['without a key', ['authorization']],
    ] as const) {
      it(`${route.name} gets the same reply ${who}`, async () => {
        const names = route.path === '/metrics' ? OWN_NAMES : NAMES
        const usual = essence(route, await ask(route, { without, lines: [`Host: ${names[0]}`] }))
        for (const lines of [...names.map((name) => [`Host: ${name}`]), ...CLAIMS.map((claim) => [`Host: ${names[0]}`, claim])]) {
          expect(essence(route, await ask(route, { without, lines })), lines.join()).to.deep.equal(usual)
        }
      })

      it(`${route.name} is not served for a path in the Host ${who}`, async () => {
        for (const name of ADDRESSES) {
          expectError(await ask(route, { without, lines: [`Host: ${name}`] }), { status: 400, code: 'malformed_http' })
        }
      })
    }
  }
})

/** What is the same in any two replies to one request. */
function essence(route: Route, { status, headers, body }: WireReply): object {
  // A translated response has an id and times of its own; a compaction is sealed anew each time.
  const text = body.replace(/"(?:msg|cmp|resp)_[^"]*"|"encrypted_content":"[^"]*"|"(?:created|completed)_at":\d+/g, '')
  return { status, names: Object.keys(headers), type: headers['content-type'], ...(route.path !== '/metrics' && { body: text }) }
}
