// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import type OpenAI from 'openai'
import type { APIError } from 'openai'
import type { Response, ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { response } from './fixture.ts'

const ENV = { KEY_A: 'key-of-a', KEY_B: 'key-of-b', KEY_C: 'key-of-c' }
const A = { apiKey: '${env:KEY_A}' }
const B = { apiKey: '${env:KEY_B}' }
const C = { apiKey: '${env:KEY_C}' }

/** An upstream whose credentials are keys of several projects: each sees only the responses that it made. */
describe('What an upstream of /v1/responses keeps for one of several credentials', () => {
  let upstream: ScriptedUpstream
  let spare: ScriptedUpstream
  let gateway: TestGateway
  let client: OpenAI
  /** The credentials that the upstream was shown, by their names. */
  let shown: string[]
  /** How the upstream refuses a credential: by its status and headers. */
  let refused: Map<string, { readonly status: number; readonly headers?: Record<string, string> }>
  /** Who made each response. */
  let madeBy: Map<string, string>

  const start = (credentials: object, env: Record<string, string> = ENV): Promise<TestGateway> =>
    startTestGateway({
      env,
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          spare: { provider: 'openai-compatible', config: { baseUrl: `${spare.origin}/v1`, responses: true } },
          pool: {
            provider: 'openai-compatible',
            breaker: false,
            config: { baseUrl: `${upstream.origin}/v1`, responses: true },
            credentials,
          },
          acme: { models: { smart: { targets: [{ model: 'spare/m' }], fallbacks: ['pool/m'] } } },
        },
      },
    })

  beforeEach(async () => {
    shown = []
    refused = new Map()
    madeBy = new Map()
    upstream = await scriptedUpstream()
    spare = await scriptedUpstream()
    upstream.on(({ headers, json: body }) => {
      const name = String(headers.authorization).slice(-1)
      shown.push(name)
      const refusal = refused.get(name)
      if (refusal !== undefined) return json({ error: { message: 'No.' } }, refusal)
      const { previous_response_id: previous = null } = body() as { readonly previous_response_id?: string }
      if (previous !== null && madeBy.get(previous) !== name) return json({ error: { message: 'Unknown.' } }, { status: 404 })
      const id = `resp_${madeBy.size + 1}`
      madeBy.set(id, name)
      return json({ ...response('Hi'), id, previous_response_id: previous })
    })
    gateway = await start({ a: A, b: B, c: C })
    client = gateway.openai().withOptions({ maxRetries: 0 })
  })

  afterEach(async () => {
    await gateway?.stop()
    await Promise.all([upstream?.close(), spare?.close()])
  })

  type Asked = Partial<ResponseCreateParamsNonStreaming>
  const ask = (more: Asked = {}, by = client): Promise<Response> => by.responses.create({ model: 'pool/m', input: 'Hi', ...more })

  const refusal = (call: Promise<unknown>): Promise<APIError> =>
    call.then(
      () => expect.fail('it was answered'),
      (failure: unknown) => failure as APIError,
    )

  it('goes on with the credential that made it, whichever credential has the turn', async () => {
    const first = await ask()
    let { id } = first
    for (let count = 0; count < 3; count++) ({ id } = await ask({ previous_response_id: id }))
    expect(shown).to.deep.equal(['a', 'a', 'a', 'a'])
    const second = await ask()
    expect(await ask({ model: 'acme/smart', previous_response_id: second.id })).to.include({ previous_response_id: second.id })
    expect(shown.slice(4)).to.deep.equal(['b', 'b'])
    expect(spare.requests).to.have.lengthOf(0)
  })

  it('is not asked of another credential when the upstream refuses its own with 401', async () => {
    const { id } = await ask()
    refused.set('a', { status: 401 })
    expect(await refusal(ask({ previous_response_id: id }))).to.include({ status: 400, code: 'upstream_authentication_error' })
    expect(shown).to.deep.equal(['a', 'a'])
  })

  it('gets 503 with the seconds to wait while its credential is cooling down, and no upstream is asked', async () => {
    const { id } = await ask()
    refused.set('a', { status: 429, headers: { 'retry-after': '20' } })
    const limited = await refusal(ask({ previous_response_id: id }))
    expect([limited.status, limited.headers?.get('retry-after')]).to.deep.equal([429, '20'])
    for (const model of ['pool/m', 'acme/smart']) {
      const error = await refusal(ask({ model, previous_response_id: id }))
      expect(error).to.include({ status: 503, code: 'previous_response_unavailable' })
      expect(Number(error.headers?.get('retry-after'))).to.be.within(10, 20)
    }
    expect(shown).to.deep.equal(['a', 'a'])
    expect((await ask()).output_text).to.equal('Hi')
    expect(shown.at(-1)).to.equal('b')
  })

  it('waits out a short cooldown within the call, and is then served', async () => {
    const { id } = await ask()
    upstream.reply(json({ error: { message: 'No.' } }, { status: 429 }))
    expect(await ask({ model: 'acme/smart', previous_response_id: id })).to.include({ previous_response_id: id })
    expect(upstream.requests.map(({ headers }) => headers.authorization)).to.deep.equal(Array(3).fill('Bearer key-of-a'))
  })

  it('is not found once its credential is gone or replaced; those of the others are', async () => {
    const [ofA, ofB] = [await ask(), await ask()]
    const gone = await start({ b: B, c: C })
    const replaced = await start({ c: C, b: B, a: A }, { ...ENV, KEY_A: 'new-key-of-a' })
    try {
      for (const other of [gone, replaced]) {
        const own = other.openai().withOptions({ maxRetries: 0 })
        const before = shown.length
        expect(await refusal(ask({ previous_response_id: ofA.id }, own))).to.include({
          status: 400,
          code: 'previous_response_not_found',
        })
        expect(shown).to.have.lengthOf(before)
        expect(await ask({ previous_response_id: ofB.id }, own)).to.include({ previous_response_id: ofB.id })
        expect(shown.slice(before)).to.deep.equal(['b'])
      }
    } finally {
      await gone.stop()
      await replaced.stop()
    }
  })
})
