import { expect } from 'chai'
import { cut, FIN, json, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { ask, completion, hello, piece } from './openai-wire.ts'
import { strangers } from './stranger-files.ts'

const TOKENS_PER_DAY = 100_000

describe('A link that caches replies', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  /** So that no test hits what another one stored. */
  let prompts = 0

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on(hello)
    gateway = await startTestGateway({
      routes: {
        chain: [
          { plugin: 'auth' },
          {
            plugin: 'rate-tagging',
            config: { classes: { all: { tokens: `${TOKENS_PER_DAY}/day` } }, default: 'all' },
          },
          { plugin: 'header-stamping' },
          { plugin: './marker.ts', config: { mark: '?' } },
          { plugin: './cache.ts' },
          { plugin: './marker.ts', config: { mark: '!' } },
        ],
        namespaces: { up: { provider: 'openai-compatible', config: { baseUrl: `${upstream.origin}/v1` } } },
      },
      files: strangers('cache.ts', 'marker.ts'),
    })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const prompt = () => ask({ seed: ++prompts })

  for (const streamed of [false, true]) {
    describe(streamed ? 'of streams' : 'of whole replies', () => {
      const body = () => ({ ...prompt(), ...(streamed && { stream: true, stream_options: { include_usage: true } }) })

      /** Asks, and waits until the call is settled. */
      async function call(asked: object, key?: string) {
        const reply = await gateway.fetch('/v1/chat/completions', { json: asked, ...(key && { key }) })
        const text = await reply.text().catch(() => 'cut')
        await gateway.logged(({ id }) => id === reply.headers.get('x-request-id'))
        const meaning = streamed ? text.split('\n\n').map((event) => event.replace(/^data: /, '')) : [text]
        return { reply, cache: reply.headers.get('x-cache'), meaning: meaning.map(parsed) }
      }

      it('repeats the first reply without the upstream', async () => {
        const asked = body()
        const first = await call(asked)
        const served = upstream.requests.length
        const second = await call(asked)
        const third = await call(asked)
        expect([first.cache, second.cache, third.cache]).to.deep.equal(['miss', 'hit', 'hit'])
        // The link inside has changed what was kept, the one outside changes what is sent.
        expect(JSON.stringify(first.meaning)).to.contain('lo!!?')
        expect(second.meaning).to.deep.equal(first.meaning)
        expect(third.meaning).to.deep.equal(first.meaning)
        expect(upstream.requests).to.have.length(served)
      })

      it('charges no tokens for a hit, and names no target', async () => {
        const asked = body()
        await call(asked)
        const used = await gateway.metric('gen_ai_client_token_usage_sum')
        const { reply, cache } = await call(asked)
        expect(cache).to.equal('hit')
        expect(await gateway.metric('gen_ai_client_token_usage_sum')).to.equal(used)
        expect(reply.headers.get('x-umg-attempts')).to.equal(null)
        const line = await gateway.logged(({ id }) => id === reply.headers.get('x-request-id'))
        expect(line).to.include({ outcome: 'ok', status: 200, answeredBy: 'cache' })
        expect(line).to.not.have.any.keys('tokens', 'served')
        const before = Number(reply.headers.get('x-ratelimit-remaining-tokens'))
        const again = await call(asked)
        expect(Number(again.reply.headers.get('x-ratelimit-remaining-tokens'))).to.equal(before)
      })

      it('does not serve a key that may not call the model', async () => {
        const asked = body()
        await call(asked)
        const { reply } = await call(asked, await gateway.key({ models: ['other/*'] }))
        expect(reply.status).to.equal(404)
      })

      it('does not cache a failed call', async () => {
        const asked = body()
        upstream.reply(json({}, { status: 500 }))
        expect((await call(asked)).reply.status).to.equal(502)
        upstream.reply(streamed ? sse([piece('Hel'), FIN]) : cut(json(completion()), 200))
        await call(asked)
        expect(await call(asked)).to.have.property('cache', 'miss')
        expect(await call(asked)).to.have.property('cache', 'hit')
      })

      it('serves the official SDK', async () => {
        const { messages, model, seed } = { ...prompt(), seed: prompts }
        const say = async (): Promise<string | null | undefined> => {
          const { completions } = gateway.openai().chat
          if (streamed) return completions.stream({ model, messages, seed }).finalContent()
          return (await completions.create({ model, messages, seed })).choices[0]!.message.content
        }
        expect(await say()).to.equal(await say())
      })
    })
  }
})

function parsed(text: string): unknown {
  return text.startsWith('{') ? JSON.parse(text) : text
}
