import { expect } from 'chai'
import { Home, type Umg } from '../lifecycle/umg.ts'

/** What a link sets that is not JSON, by what its caller asks for. */
const ODD = `import { defineChain } from 'unified-model-gateway/plugin'
const circular = {}
circular.self = circular
const THROWING = { toJSON() { throw new Error('no') } }
const SET = {
  'a BigInt as a tag': (state) => { state.tags.odd = 1n },
  'a circular object as a tag': (state) => { state.tags.odd = circular },
  'a tag that throws': (state) => { state.tags.odd = THROWING },
  'a function with toJSON as a tag': (state) => { state.tags.odd = Object.assign(() => 0, THROWING) },
  'a BigInt as a tag of the key': (state) => { state.principal = { ...state.principal, tags: { odd: 1n } } },
  'a BigInt as the id of the key, later': (state) => {
    const principal = { ...state.principal }
    state.principal = principal
    state.onSettled(() => { principal.keyId = 1n })
  },
  'a BigInt as the id of the key': (state) => { state.principal = { ...state.principal, keyId: 1n } },
  'no text as the account': (state) => { state.principal = { ...state.principal, account: undefined } },
}
export default defineChain({
  kind: 'chain', apiVersion: 1, name: 'odd', schema: {},
  create: () => ({
    handle(ctx, next) {
      ctx.state.tags.team = 'search'
      SET[ctx.get('x-set')]?.(ctx.state)
      return next()
    },
  }),
})
`

const ROUTES = `version: 1
chain: [{ plugin: auth }, { plugin: ./odd.ts }]
namespaces:
  sandbox: { provider: sandbox }
`

const SERVED = [
  'a BigInt as a tag',
  'a circular object as a tag',
  'a tag that throws',
  'a function with toJSON as a tag',
  'a BigInt as a tag of the key',
  'a BigInt as the id of the key, later',
]

for (const workers of ['1', '2'])
  describe(`A link that sets what is not JSON${workers === '1' ? '' : ', with two workers'}`, () => {
    let home: Home
    let umg: Umg
    let url: string
    let secret: string

    before(async () => {
      home = await Home.create({ 'routes.yaml': ROUTES, 'odd.ts': ODD })
      umg = home.run(['start', '--port', '0', '--workers', workers, '--drain-delay', '0'])
      url = (await umg.prints(/^listening on (\S+)$/m))[1]!
      secret = (await umg.prints(/sk-test-\w+/))[0]
    })

    after(() => home?.remove())

    async function call(
      set: string,
      stream: boolean,
    ): Promise<{ readonly status: number; readonly text: string; readonly id: string }> {
      const reply = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'x-set': set },
        body: JSON.stringify({ model: 'sandbox/hello', stream, messages: [{ role: 'user', content: 'Hello!' }] }),
      })
      return { status: reply.status, text: await reply.text(), id: reply.headers.get('x-request-id')! }
    }

    /** The line of a call in the log. */
    const lineOf = async (id: string) =>
      JSON.parse((await umg.prints(new RegExp(`^\\{.*"id":"${id}".*"msg":"call"\\}$`, 'm')))[0])

    for (const stream of [false, true]) {
      for (const set of SERVED)
        it(`gets its ${stream ? 'whole stream' : 'reply'}, and its line in the log: it sets ${set}`, async () => {
          const { status, text, id } = await call(set, stream)
          expect(status).to.equal(200)
          expect(text).to.match(stream ? /data: \[DONE\]\n\n$/ : /"finish_reason":"stop"/)
          const line = await lineOf(id)
          expect(line).to.include({ outcome: 'ok' })
          expect(line.tags).to.include({ team: 'search' })
        })

      for (const set of ['a BigInt as the id of the key', 'no text as the account'])
        it(`fails its own ${stream ? 'stream' : 'call'} only, and its line in the log says why: it sets ${set}`, async () => {
          const { status, text, id } = await call(set, stream)
          expect(status).to.equal(500)
          expect(text).to.include('"plugin_error"')
          expect(await lineOf(id)).to.include({ outcome: 'gateway_error', cause: 'odd: BAD_PRINCIPAL' })
          expect(await call('', stream)).to.have.property('status', 200)
        })
    }
  })
