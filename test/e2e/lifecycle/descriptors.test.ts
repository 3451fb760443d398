import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { type RawConnection, rawConnection } from '../../support/raw-connection.ts'
import { describeWith } from '../../support/requirements.ts'
import { COMPLETION } from '../client-faults/fixture.ts'
import { Home, type Umg } from './umg.ts'

const DESCRIPTORS = 256
const IDLE = 300

/**
 * A link that takes all descriptors while its call is under way, if the call says so. It goes on until the gateway has given none back for
 * ten milliseconds.
 */
const EXHAUSTING = `
import { closeSync, openSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { defineChain, Type } from 'unified-model-gateway/plugin'
async function takeAll(taken) {
  let before
  do {
    before = taken.length
    await setTimeout(10)
    try {
      for (;;) taken.push(openSync('/dev/null'))
    } catch {}
  } while (taken.length !== before)
}
export default defineChain({
  apiVersion: 1,
  name: 'exhausting',
  schema: Type.Object({}),
  create: () => ({
    async handle(ctx, next) {
      const taken = []
      if (ctx.get('x-exhaust') !== '') await takeAll(taken)
      try {
        await next()
      } finally {
        for (const descriptor of taken) closeSync(descriptor)
      }
    },
  }),
})
`

describeWith('linux', `A gateway with ${DESCRIPTORS} descriptors`, () => {
  let home: Home
  let umg: Umg
  let upstream: ScriptedUpstream
  let url: string
  let key: string
  let idle: RawConnection[]

  beforeEach(async () => {
    idle = []
    upstream = await scriptedUpstream()
    upstream.on(() => json(COMPLETION))
    const byName = upstream.origin.replace('127.0.0.1', 'localhost')
    home = await Home.create({
      'exhausting.ts': EXHAUSTING,
      'routes.yaml': `version: 1
chain: [{ plugin: auth }, { plugin: ./exhausting.ts }]
namespaces:
  address: { provider: openai-compatible, testKeys: upstream, config: { baseUrl: "${upstream.origin}/v1" } }
  name: { provider: openai-compatible, testKeys: upstream, config: { baseUrl: "${byName}/v1" } }
  both:
    models:
      m: { targets: [{ model: address/m }], fallbacks: [name/m] }
`,
    })
    umg = home.run(['start', '--port', '0'], { script: `ulimit -n ${DESCRIPTORS}; exec "$@"` })
    url = (await umg.prints(/^listening on (\S+)$/m))[1]!
    key = (await umg.prints(/sk-test-\w+/))[0]
  })

  afterEach(async () => {
    for (const { socket } of idle) socket.destroy()
    await home?.remove()
    await upstream?.close()
  })

  async function call(model: string, headers: Readonly<Record<string, string>> = {}) {
    const reply = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
    })
    const { error } = (await reply.json()) as { readonly error?: { readonly code: string } }
    return { status: reply.status, code: error?.code, retryAfter: reply.headers.get('retry-after') }
  }

  const metrics = async (): Promise<string> => (await fetch(`${url}/metrics`)).text()

  it(`serves calls and probes while ${IDLE} idle connections are held, on new connections too`, async () => {
    for (let count = 0; count < IDLE; count++) {
      const connection = await rawConnection(url)
      // Every second one has been used.
      if (count % 2 === 0) {
        connection.write('GET /livez HTTP/1.1\r\nHost: gateway\r\n\r\n')
        await connection.reply()
      }
      idle.push(connection)
    }
    for (const path of ['/livez', '/readyz']) {
      const probe = await rawConnection(url)
      idle.push(probe)
      probe.write(`GET ${path} HTTP/1.1\r\nHost: gateway\r\n\r\n`)
      expect((await probe.reply()).status).to.equal(200)
    }
    for (const model of ['address/m', 'name/m', 'both/m']) expect((await call(model)).status).to.equal(200)
    expect(await metrics()).to.match(/^umg_shed_total\{reason="connections"\} [1-9]\d\d$/m)
  })

  it('blames no upstream when it has none left for a connection, and tries no other', async () => {
    for (const model of ['address/m', 'name/m', 'both/m'])
      for (let count = 0; count < 6; count++)
        expect(await call(model, { 'x-exhaust': 'yes' })).to.deep.equal({
          status: 503,
          code: 'gateway_overloaded',
          retryAfter: '1',
        })
    expect(upstream.requests).to.have.length(0)
    const text = await metrics()
    expect(text).to.match(/^umg_shed_total\{reason="descriptors"\} 18$/m)
    // Once a minute, not once a call.
    expect(umg.stdout.match(/"reason":"descriptors","msg":"a limit of this process is reached/g)).to.have.length(1)
    expect(text).to.match(/^umg_upstream_attempts_total\{namespace="address",.*result="gateway_overloaded"\} 12$/m)
    expect(text).to.not.match(/^umg_circuit_state\{.*state="(?:open|half_open)"\} 1$/m)
    for (const model of ['address/m', 'name/m', 'both/m']) expect((await call(model)).status).to.equal(200)
  })
})
