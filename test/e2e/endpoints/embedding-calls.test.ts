// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml

import { expect } from 'chai'
import { FIN, json, reply, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { digestOf } from '../../../core/text/ids.ts'
import type { CallView } from '../../../core/usage/calls.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { poll } from '../../support/poll.ts'
import { adminClient } from '../usage/api-client.ts'

const OPS = 'sk-live-irZTVfCwhKeI4iywS5HQG4whmyW55h0ds29Q'

/** A provider with a wire of its own, which answers in numbers. */
const NUMBERS = `
import { defineProvider, inputTexts, toEmbeddings, Type } from 'unified-model-gateway/plugin'
export default defineProvider({
  apiVersion: 1, name: 'numbers', schema: Type.Object({ origin: Type.String() }),
  create: ({ origin }) => ({
    parameters: {},
    request() { throw new Error('no chat here') },
    endpoints: {
      embeddings: {
        parameters: { dimensions: { support: 'mapped', to: 'size' }, user: { support: 'dropped' } },
        request: (call) => ({ origin, path: '/embed', headers: call.headers, body: JSON.stringify({ texts: inputTexts(call) }) }),
        reply: ({ vectors, count }) => toEmbeddings(vectors, count),
      },
    },
  }),
})`

/** Answers by itself where the input says so, shouts where it says so, and looks at replies in vain. */
const LINK = `
import { defineChain, Type } from 'unified-model-gateway/plugin'
const cached = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [9] }], model: 'cache', usage: { prompt_tokens: 0, total_tokens: 0 } }
export default defineChain({
  apiVersion: 1, name: 'cache', schema: Type.Object({}),
  create: () => ({
    async handle({ state }, next) {
      const call = await state.call()
      state.reply.transform({ completion() { throw new Error('an embedding is no completion') } })
      if (call.member('input') === 'known') return state.reply.send(cached)
      if (call.member('input') === 'loud') call.edit('/input', 'LOUD')
      await next()
    },
  }),
})`

describe('A call to /v1/embeddings', () => {
  let gateway: TestGateway
  let upstream: ScriptedUpstream

  before(async () => {
    upstream = await scriptedUpstream()
    const own = { provider: './numbers.ts', breaker: false, config: { origin: upstream.origin } }
    gateway = await startTestGateway({
      files: { 'numbers.ts': NUMBERS, 'cache.ts': LINK },
      routes: {
        chain: [
          { plugin: 'auth' },
          { plugin: 'explain', config: { keys: ['routes:ops'] } },
          { plugin: 'rate-tagging', config: { classes: { standard: { tokens: '100k/h' } }, default: 'standard' } },
          { plugin: './cache.ts', when: { namespaces: ['open'] } },
        ],
        keys: [{ name: 'ops', kind: 'live', hash: `sha256:${digestOf(OPS)}`, models: ['*'] }],
        namespaces: {
          own,
          open: { provider: 'openai-compatible', breaker: false, config: { baseUrl: `${upstream.origin}/v1` } },
          acme: {
            models: {
              embed: { targets: [{ model: 'own/e' }], fallbacks: ['open/e'] },
              exact: { targets: [{ model: 'own/e' }], strict: true },
            },
          },
        },
      },
    })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const post = (body: object, headers: Record<string, string> = {}, key?: string) =>
    gateway.fetch('/v1/embeddings', { method: 'POST', json: body, headers, ...(key !== undefined && { key }) })
  const list = (...vectors: unknown[]) => ({
    object: 'list',
    data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    model: 'e',
    usage: { prompt_tokens: 5, total_tokens: 5 },
  })

  it('can choose its encoding with every provider', async () => {
    upstream.reply(json({ vectors: [[0.25]], count: 1 }))
    const { response } = await gateway
      .openai()
      .embeddings.create({ model: 'acme/exact', input: 'a', dimensions: 1 })
      .withResponse()
    expect(response.headers.get('x-umg-params-dropped')).to.equal(null)
  })

  it('is explained by the parameters of embeddings, not of chat completions', async () => {
    upstream.reply(json({ vectors: [[0.25]], count: 1 }))
    const body = { model: 'own/e', input: 'a', dimensions: 1, user: 'ada', encoding_format: 'float' }
    const { headers } = await post(body, { 'x-umg-explain': '1' }, OPS)
    expect(headers.get('x-umg-parameters')).to.equal('dimensions mapped to size, user dropped')
  })

  for (const [name, body] of [
    ['fewer vectors than texts', { vectors: [[1]] }],
    ['more', { vectors: [[1], [2], [3]] }],
    ['texts in a vector', { vectors: [[1], ['2']] }],
    ['a number that is none', { vectors: [[1], [null]] }],
    ['an empty vector', { vectors: [[1], []] }],
    ['no vector at all', { vectors: [[1], 'none'] }],
  ] as const) {
    it(`fails if the upstream returns ${name}`, async () => {
      upstream.reply(json(body))
      const failed = await post({ model: 'own/e', input: ['a', 'b'] })
      const { error } = (await failed.json()) as { error: { code: string } }
      expect([failed.status, error.code]).to.deep.equal([502, 'upstream_invalid_response'])
    })
  }

  it('fails if the upstream returns numbers that overflow', async () => {
    upstream.reply(reply(['{"vectors":[[1e9999]],"count":1}'], { headers: { 'content-type': 'application/json' } }))
    expect((await post({ model: 'own/e', input: 'a' })).status).to.equal(502)
  })

  it('falls back to a target with another wire format', async () => {
    upstream.reply(json({ oops: true }, { status: 500 }))
    upstream.reply(json(list([0.5])))
    const { data } = await gateway.openai().embeddings.create({ model: 'acme/embed', input: 'a', encoding_format: 'float' })
    expect(data[0]!.embedding).to.deep.equal([0.5])
    // Tokens go where they are taken.
    const before = upstream.requests.length
    upstream.reply(json(list([0.5])))
    await gateway.openai().embeddings.create({ model: 'acme/embed', input: [46_713], encoding_format: 'float' })
    expect(upstream.requests.slice(before).map(({ path }) => path)).to.deep.equal(['/v1/embeddings'])
  })

  it('is charged by estimate if the upstream returns no usage or an impossible one', async () => {
    const input = 'word '.repeat(1000)
    for (const count of [undefined, -1, 'many', 1e308]) {
      upstream.reply(json({ vectors: [[1]], count }))
      const reply = await post({ model: 'own/e', input })
      const { usage } = (await reply.json()) as { usage: { prompt_tokens: number; total_tokens: number } }
      expect(usage.prompt_tokens).to.be.within(1000, 2000)
      expect(usage.total_tokens).to.equal(usage.prompt_tokens)
      const line = await gateway.logged(({ id }) => id === reply.headers.get('x-request-id'))
      expect(line).to.deep.include({ estimated: true, outcome: 'ok' })
      expect(line.tokens).to.include({ input: usage.prompt_tokens, output: 0 })
    }
  })

  it('reduces the token limit of its key by its usage', async () => {
    const key = await gateway.key()
    const remaining = async (body: object, input: string) => {
      upstream.reply(json(body))
      const { headers } = await post({ model: 'own/e', input }, {}, key)
      return Number(headers.get('x-ratelimit-remaining-tokens'))
    }
    await remaining({ vectors: [[1]], count: 40_000 }, 'a')
    expect(await remaining({ vectors: [[1]] }, 'word '.repeat(2000))).to.be.below(60_000)
    // What was estimated by bytes is settled by a count of the words.
    expect(await remaining({ vectors: [[1]], count: 1 }, 'a')).to.be.within(57_000, 58_100)
    upstream.reply(json({ vectors: [[1]], count: 60_000 }))
    await post({ model: 'own/e', input: 'a' }, {}, key)
    expect((await post({ model: 'own/e', input: 'a' }, {}, key)).status).to.equal(429)
  })

  it('is stored in the usage', async () => {
    upstream.reply(json({ vectors: [[1]], count: 12 }))
    const id = (await post({ model: 'own/e', input: 'a' })).headers.get('x-request-id')
    const client = await adminClient(gateway)
    const { json: row } = await poll(
      () => client.get(`/requests/${id}`),
      ({ status }) => status === 200,
    )
    expect(row as CallView).to.deep.include({ endpoint: 'embeddings', model: 'own/e', outcome: 'ok' })
    expect((row as CallView).tokens).to.include({ input: 12, output: 0, estimated: false })
  })

  it('passes through the links of its namespace, which can reply or change it', async () => {
    const ask = (model: string, input: string) => gateway.openai().embeddings.create({ model, input, encoding_format: 'float' })
    expect((await ask('open/e', 'known')).data[0]!.embedding).to.deep.equal([9])
    const asked = upstream.reply(json(list([0.5])))
    expect((await ask('open/e', 'loud')).data[0]!.embedding).to.deep.equal([0.5])
    expect((await asked).json()).to.deep.equal({ model: 'e', input: 'LOUD', encoding_format: 'float' })
    upstream.reply(json({ vectors: [[1]], count: 1 }))
    expect((await ask('own/e', 'known')).data[0]!.embedding).to.deep.equal([1])
  })

  it('can have as many inputs as the upstream accepts, and tokens instead of texts', async () => {
    const input = Array.from({ length: 2048 }, (_, index) => [index, index + 1, index + 2])
    const asked = upstream.reply(json(list(...input.map(() => [0.5]))))
    expect((await post({ model: 'open/e', input })).status).to.equal(200)
    expect((await asked).json()).to.deep.equal({ model: 'e', input })
    const tooMany = await post({ model: 'open/e', input: Array(60_000).fill([1]) })
    expect([tooMany.status, await tooMany.text()].join()).to.match(/^400.*more than 50,000 objects and arrays/)
  })

  for (const [name, write] of [
    ['as OpenAI writes it', (data: string, usage: string) => `{"object":"list","data":[${data}],"model":"e",${usage}}`],
    ['with its usage first', (data: string, usage: string) => `{"object":"list",${usage},"data":[${data}]}\n`],
  ] as const) {
    it(`gets a large reply byte for byte and is charged by its usage: ${name}`, async () => {
      const vector = Array.from({ length: 1536 }, (_, index) => index / 1536)
      const data = Array.from({ length: 300 }, (_, index) => JSON.stringify({ object: 'embedding', index, embedding: vector }))
      const text = write(data.join(','), '"usage":{"prompt_tokens":321,"total_tokens":321}')
      upstream.reply(reply([text], { headers: { 'content-type': 'application/json' } }))
      const got = await post({ model: 'open/e', input: Array(300).fill('a') })
      expect((await got.text()) === text).to.equal(true)
      const line = await gateway.logged(({ id }) => id === got.headers.get('x-request-id'))
      expect(line).to.deep.include({ estimated: false, tokens: { input: 321, output: 0 } })
    })
  }

  it('gets an error if a large reply breaks off', async () => {
    const data = JSON.stringify({ object: 'embedding', index: 0, embedding: Array(20_000).fill(0.125) })
    for (const rest of ['', '}', ']', ']}']) {
      upstream.reply([`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"data":[${data.slice(0, -2)}${rest}`, FIN])
      expect((await post({ model: 'open/e', input: 'a' })).status).to.equal(502)
    }
  })

  it('with a test key is answered by the sandbox', async () => {
    const before = upstream.requests.length
    const { data, usage } = await gateway.openai(gateway.testKey).embeddings.create({ model: 'own/e', input: ['Hello', 'you'] })
    const length = Math.hypot(...data[1]!.embedding)
    expect([data.length, data[0]!.embedding.length, usage.prompt_tokens]).to.deep.equal([2, 1536, 2])
    expect(length).to.be.closeTo(1, 1e-6)
    expect(upstream.requests).to.have.length(before)
  })
})
