import { expect } from 'chai'
import { hold, json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { completion } from '../plugins/openai-wire.ts'

/** Findings M3 and M4: what a call may cost is reserved, and a call that is left costs at least its prompt. */
describe('a limit of tokens', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  const prompt = 'word '.repeat(600)

  beforeEach(async () => {
    upstream = await scriptedUpstream()
    gateway = await startTestGateway({
      routes: {
        chain: [
          { plugin: 'auth' },
          { plugin: 'rate-tagging', config: { classes: { few: { tokens: '1000/day' } }, default: 'few' } },
        ],
        namespaces: { up: { provider: 'openai-compatible', config: { baseUrl: `${upstream.origin}/v1` } } },
      },
    })
  })

  afterEach(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const ask = (body: object, signal?: AbortSignal): Promise<Response> =>
    gateway.fetch('/v1/chat/completions', {
      json: { model: 'up/m', messages: [{ role: 'user', content: 'hi' }], ...body },
      ...(signal && { signal }),
    })

  it('is charged the prompt of a call whose client leaves before the upstream replies', async () => {
    const held = hold()
    upstream.reply([held, ...json(completion('late'))])
    const client = new AbortController()
    const left = ask({ messages: [{ role: 'user', content: prompt }] }, client.signal).catch(() => undefined)
    await held.reached
    client.abort()
    await left
    const line = await gateway.logged(({ outcome }) => outcome === 'client_closed')
    expect(line).to.have.nested.property('tokens.input').that.is.above(500)
    held.release()
    const next = await ask({ messages: [{ role: 'user', content: prompt }] })
    expect(next.status).to.equal(429)
    expect(Number(next.headers.get('x-ratelimit-remaining-tokens'))).to.be.within(0, 499)
  })

  for (const [title, body] of [
    ['each of its choices', { n: 128, max_tokens: 100 }],
    ['the larger of two caps', { max_completion_tokens: 1, max_tokens: 100_000 }],
    ['a cap that is larger than the limit', { max_output_tokens: 1001 }],
  ] as const)
    it(`reserves what a call may cost: ${title}`, async () => {
      const reply = await ask(body)
      expect(reply.status).to.equal(429)
      expect(await reply.json()).to.have.nested.property('error.type', 'tokens')
    })

  it('reserves an answer for calls that set no cap', async () => {
    const held = hold()
    upstream.on(() => [held, ...json(completion('late'))])
    const refused = Promise.withResolvers<void>()
    let refusals = 0
    const calls = Array.from({ length: 30 }, async () => {
      const { status } = await ask({})
      if (status === 429 && ++refusals === 21) refused.resolve()
      return status
    })
    // Nine calls with an answer of a hundred tokens each have room in a thousand: while they are open, all others are refused.
    await refused.promise
    held.release()
    expect((await Promise.all(calls)).filter((status) => status === 200).length).to.be.within(1, 9)
  })
})
