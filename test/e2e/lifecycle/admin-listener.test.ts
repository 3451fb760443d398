import { expect } from 'chai'
import OpenAI from 'openai'
import { LIFECYCLE_BASE, lifecycleOperations } from '../../../core/control/config.ts'
import { API_BASE } from '../../../core/control/operation.ts'
import { OPERATIONS } from '../../../core/control/operations.ts'
import { hold, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { ask, stream } from '../plugins/openai-wire.ts'

const routes = (origin: string) => ({
  chain: [{ plugin: 'auth' }, { plugin: 'header-stamping', config: { response: { 'x-for': '{key}' } } }],
  namespaces: {
    up: { provider: 'openai-compatible', config: { baseUrl: `${origin}/v1` }, models: ['m'] },
    down: { provider: 'sandbox', models: ['hello'] },
  },
})

const addresses = (rows: typeof OPERATIONS, prefix: string) =>
  rows.map(({ method, path }) => ({ method, path: prefix + path.replace(/\{\w+\}/g, 'key_x') }))

/** All paths for operators. */
const OPERATORS: readonly { readonly method: string; readonly path: string }[] = [
  ...addresses(OPERATIONS, API_BASE),
  ...addresses(lifecycleOperations, LIFECYCLE_BASE),
  ...['/', '/livez', '/readyz', '/readyz?verbose', '/metrics', '/console', '/console/', '/console/keys', '/console/mark.svg'].map(
    (path) => ({ method: 'GET', path }),
  ),
]

describe('A gateway with an admin listener', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let stopping: Promise<void> | undefined

  beforeEach(async () => {
    stopping = undefined
    upstream = await scriptedUpstream()
    gateway = await startTestGateway({ routes: routes(upstream.origin), adminListen: true })
  })

  afterEach(async () => {
    await (stopping ?? gateway?.stop())
    await upstream?.close()
  })

  const sdk = (baseURL: string, apiKey = gateway.liveKey) => new OpenAI({ baseURL: `${baseURL}/v1`, apiKey, maxRetries: 0 })

  it('serves /v1 on it as on the public one: the same models, keys and chain', async () => {
    const served = []
    for (const url of [gateway.url, gateway.adminUrl]) {
      upstream.reply(stream('Hel', 'lo!'))
      const { data, response } = await sdk(url)
        .chat.completions.create({ ...ask(), stream: true })
        .withResponse()
      const text = await textOf(data)
      const models = (await sdk(url).models.list()).data.map(({ id }) => id)
      served.push({ text, models, link: response.headers.get('x-for') })
    }
    expect(served[0]).to.deep.equal({ text: 'Hello!', models: ['up/m', 'down/hello'], link: 'test' })
    expect(served[1]).to.deep.equal(served[0])
    expect(await gateway.metric('umg_requests_total', { namespace: 'up', code: '200' })).to.equal(2)
  })

  it('refuses on it the keys that it refuses on the public one', async () => {
    const admin = await gateway.key({ kind: 'admin' })
    for (const key of ['sk-live-wrong', admin]) {
      const error = await sdk(gateway.adminUrl, key)
        .models.list()
        .catch((thrown) => thrown)
      expect(error).to.include({ status: 401, code: 'invalid_api_key' })
    }
  })

  it('serves no path for operators on the public one, with any key', async () => {
    const admin = await gateway.key({ kind: 'admin' })
    const answers = await Promise.all(
      OPERATORS.map(async ({ method, path }) => {
        const headers = { authorization: `Bearer ${admin}`, 'content-type': 'application/json' }
        const reply = await fetch(gateway.url + path, { method, headers, ...(method !== 'GET' && { body: '{}' }) })
        const { error } = (await reply.json()) as { error: { message: string } }
        return `${reply.status} ${error.message}`
      }),
    )
    // 404, not 405: the path does not exist there for any method.
    expect(answers).to.deep.equal(OPERATORS.map(({ method, path }) => `404 Invalid URL (${method} ${path.split('?')[0]})`))
  })

  for (const listener of ['public', 'admin'] as const)
    it(`lets a call of its ${listener} listener end on shutdown, and accepts no new connections`, async () => {
      const stalled = hold()
      upstream.reply(stream('Hel', stalled, 'lo!'))
      const url = listener === 'public' ? gateway.url : gateway.adminUrl
      const chunks = await sdk(url).chat.completions.create({ ...ask(), stream: true })
      stopping = gateway.stop(60_000)
      await untilClosed(gateway.url)
      await untilClosed(gateway.adminUrl)
      stalled.release()
      expect(await textOf(chunks)).to.equal('Hello!')
      await stopping
    })
})

async function textOf(chunks: AsyncIterable<OpenAI.ChatCompletionChunk>): Promise<string> {
  let text = ''
  for await (const { choices } of chunks) text += choices[0]?.delta.content ?? ''
  return text
}

/** Resolves once nothing listens at the URL. */
async function untilClosed(url: string): Promise<void> {
  for (;;) {
    const reply = await fetch(`${url}/v1/models`).catch(() => undefined)
    if (reply === undefined) return
    await reply.body?.cancel()
  }
}
