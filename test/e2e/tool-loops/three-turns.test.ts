// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { ENCRYPTED, responsesReply } from '../../../core/testing/upstream/responses-reply.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { type Body, LOOP_CLIENTS } from './clients.ts'

const TURNS = ['First, the sea.', 'Then — the höhle 🦇.', 'At last "home".']
const encrypted = (turn: number) => `${ENCRYPTED}${turn}+/==`

/** The turn's thought, and a call of the tool. */
function replyOf(turn: number, stream: boolean) {
  const said = responsesReply({ reasoning: TURNS[turn]!, tools: [{ name: 'look', arguments: { at: turn } }] })
  const own = (text: string) => text.replaceAll(ENCRYPTED, encrypted(turn)).replaceAll('call_0', `call_${turn}`)
  return stream ? sse(said.stream.map(own)) : json(JSON.parse(own(JSON.stringify(said.whole))))
}

describe('The reasoning of three turns reaches an upstream behind Responses unchanged', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    upstream = await scriptedUpstream()
    const config = { preset: 'openai', baseUrl: `${upstream.origin}/v1`, apiKey: '${env:KEY}' }
    gateway = await startTestGateway({
      env: { KEY: 'key-of-upstream' },
      routes: { chain: [{ plugin: 'auth' }], namespaces: { openai: { provider: 'openai-compatible', breaker: false, config } } },
    })
  })
  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  for (const client of LOOP_CLIENTS) {
    for (const stream of [false, true]) {
      it(`through ${client.name}, ${stream ? 'streamed' : 'whole'}`, async () => {
        let body: Body = client.begin('Where?')
        for (const turn of TURNS.keys()) {
          upstream.reply(replyOf(turn, stream))
          const answer = await gateway.fetch(client.path, { json: { model: 'openai/gpt-5.5-pro', ...body, stream } })
          const text = await answer.text()
          expect(answer.status, text).to.equal(200)
          const parts = client.read(text, stream)
          const [id] = client.calls(parts)
          body = client.next(body, parts, [{ id: id!, output: `Seen ${turn}.` }])
        }
        const asked = upstream.reply(replyOf(0, stream))
        await (await gateway.fetch(client.path, { json: { model: 'openai/gpt-5.5-pro', ...body, stream } })).text()
        const { input } = (await asked).json() as { readonly input: readonly Readonly<Record<string, unknown>>[] }
        const told = input.flatMap(({ type, summary, encrypted_content: state, call_id: id, output }) => {
          if (type === 'reasoning') return [[summary, state]]
          if (type === 'function_call') return [id]
          return type === 'function_call_output' ? [output] : []
        })
        expect(told).to.deep.equal(
          TURNS.flatMap((thought, turn) => [
            [[{ type: 'summary_text', text: thought }], encrypted(turn)],
            `call_${turn}`,
            `Seen ${turn}.`,
          ]),
        )
      })
    }
  }
})
