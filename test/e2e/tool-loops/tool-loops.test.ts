import { expect } from 'chai'
import { type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { forgetful, LOOP_CLIENTS, type LoopClient } from './clients.ts'
import { callOf, FORGETFUL, LOOP_UPSTREAMS, type LoopUpstream, stateOf } from './upstreams.ts'

const TURNS = 3

describe('A loop of tool calls with thinking', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    upstream = await scriptedUpstream()
    const namespaces = LOOP_UPSTREAMS.map((each, index) => [`n${index}`, { ...each.namespace(upstream.origin), breaker: false }])
    gateway = await startTestGateway({
      env: { KEY: 'key-of-upstream' },
      routes: { chain: [{ plugin: 'auth' }], namespaces: Object.fromEntries(namespaces) },
    })
  })
  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  /** Asks, and returns what the client has read, and the conversation that the upstream received. */
  async function ask(client: LoopClient, served: LoopUpstream, body: object, number: number, stream: boolean) {
    const request = upstream.reply(served.reply({ number, isLast: number > TURNS, stream, protocol: client.name }))
    const model = `n${LOOP_UPSTREAMS.indexOf(served)}/${served.model}`
    const reply = await gateway.fetch(client.path, { json: { model, ...body, stream } })
    const text = await reply.text()
    expect(reply.status, text).to.equal(200)
    return { parts: client.read(text, stream), heard: served.conversation((await request).json()) }
  }

  for (const client of [...LOOP_CLIENTS, forgetful(FORGETFUL)]) {
    for (const served of LOOP_UPSTREAMS) {
      for (const stream of [false, true]) {
        it(`keeps its state for ${TURNS} turns: ${client.name} on ${served.name}, ${stream ? 'streamed' : 'whole'}`, async () => {
          let body = client.begin('Where is it?')
          const expected = ['user: Where is it?']
          for (let number = 1; number <= TURNS; number++) {
            const { parts, heard } = await ask(client, served, body, number, stream)
            expect(heard, `request ${number}`).to.deep.equal(expected)
            const [id, ...others] = client.calls(parts)
            expect(others, 'further calls').to.deep.equal([])
            body = client.next(body, parts, [{ id: id!, output: `not at ${number}` }])
            if (!served.stateless?.includes(client.name)) expected.push(`state ${stateOf(number)}`)
            expected.push(callOf(number), `result not at ${number}`)
          }
          const last = await ask(client, served, body, TURNS + 1, stream)
          expect(last.heard).to.deep.equal(expected)
          expect(client.textOf(last.parts)).to.equal('Done.')
          const again = await ask(client, served, client.next(body, last.parts, [], 'Thanks.'), TURNS + 1, stream)
          expect(again.heard).to.deep.equal([...expected, 'assistant: Done.', 'user: Thanks.'])
        })
      }
    }
  }
})
