// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import { FIN, hold, json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

/** Bytes of memory for all bodies: one key may have half. */
const MEMORY = 8 << 20
/** In base64 it takes 2.7 MiB: there is room for one of a key, and not for two. */
const PICTURE = new Uint8Array(2 << 20).fill(7)
const MADE = {
  candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'Zm94' } }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
}

describe('The files of a form that its upstream gets within JSON', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  beforeEach(async () => {
    upstream = await scriptedUpstream()
    upstream.on(({ path }) => json(path.startsWith('/v1beta') ? MADE : { created: 1, data: [{ b64_json: 'Zm94' }] }))
    gateway = await startTestGateway({
      env: { KEY: 'google-key' },
      admission: { bodies: MEMORY },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          gemini: { provider: 'gemini', breaker: false, config: { apiKey: '${env:KEY}', baseUrl: upstream.origin } },
          open: { provider: 'openai-compatible', breaker: false, config: { baseUrl: `${upstream.origin}/v1` } },
          acme: {
            models: { both: { targets: [{ model: 'gemini/first-image' }], fallbacks: ['gemini/second-image'] } },
          },
        },
      },
    })
  })

  afterEach(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  function edit(model = 'gemini/gemini-2.5-flash-image', signal?: AbortSignal): Promise<Response> {
    const form = new FormData()
    form.append('model', model)
    form.append('prompt', 'A fox')
    form.append('image', new File([PICTURE], 'a.png', { type: 'image/png' }))
    return gateway.fetch('/v1/images/edits', { method: 'POST', body: form, ...(signal && { signal }) })
  }

  async function expectNoRoom(): Promise<void> {
    const got = await edit()
    const { error } = (await got.json()) as { readonly error: { readonly code: string } }
    expect([got.status, error.code, got.headers.get('retry-after')]).to.deep.equal([503, 'gateway_overloaded', '1'])
  }

  it('count as memory for bodies while they wait for it, and those that are passed on as files do not', async () => {
    const waiting = hold()
    const sent = upstream.reply([waiting, ...json(MADE)])
    const first = edit()
    await sent
    await expectNoRoom()
    expect(await gateway.metric('umg_shed_total', { reason: 'bodies' })).to.equal(1)
    expect((await edit('open/m')).status).to.equal(200)
    waiting.release()
    expect((await first).status).to.equal(200)
  })

  it('give it back when the call is over: served, refused, broken off, or left by its client', async () => {
    const leaving = new AbortController()
    const left = hold()
    const sent = upstream.reply([left])
    const asking = edit(undefined, leaving.signal).catch((error: unknown) => error)
    await sent
    await expectNoRoom()
    leaving.abort()
    await asking
    await gateway.logged(({ outcome }) => outcome === 'client_closed')
    for (const [script, status] of [
      [json({ error: { code: 500, message: 'No.', status: 'INTERNAL' } }, { status: 500 }), 502],
      [json({ error: { code: 400, message: 'No.', status: 'INVALID_ARGUMENT' } }, { status: 400 }), 400],
      [['HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"can', FIN], 502],
      [json(MADE), 200],
    ] as const) {
      upstream.reply(script)
      expect((await edit()).status).to.equal(status)
    }
    expect((await edit()).status).to.equal(200)
  })

  it('count once for all attempts of a call', async () => {
    upstream.reply(json({ error: { code: 503, message: 'No.', status: 'UNAVAILABLE' } }, { status: 503 }))
    expect((await edit('acme/both')).status).to.equal(200)
    expect(upstream.requests).to.have.lengthOf(2)
  })
})
