import { expect } from 'chai'
import { describeCause } from '../../../core/observe/describe-cause.ts'
import { Secret, UpstreamError } from '../../../core/sdk/api.ts'
import {
  FIN,
  head,
  hold,
  json,
  RST,
  reply,
  type ScriptedUpstream,
  type Step,
  scriptedUpstream,
} from '../../../core/testing/kit.ts'
import { getJsonBy } from '../../../core/upstream/get-json.ts'
import { closedOrigin } from '../../support/closed-port.ts'
import { dnsServer } from '../../support/dns-server.ts'
import { itWith } from '../../support/requirements.ts'

const KEY = 'sk-canary-1'
const getJson = getJsonBy()

describe('a JSON document of an upstream', () => {
  let upstream: ScriptedUpstream
  beforeEach(async () => {
    upstream = await scriptedUpstream()
  })
  afterEach(() => upstream?.close())

  const get = (path = '/v1/models', signal = new AbortController().signal) =>
    getJson(upstream.origin + path, { headers: { authorization: new Secret(KEY) }, signal })

  async function failureOf(getting: Promise<unknown>): Promise<string> {
    const error: Error = await getting.then(
      () => new Error('none'),
      (thrown: Error) => thrown,
    )
    expect(error.message).not.to.match(/canary/)
    // The log says what failed, not where the code is that noticed.
    expect(describeCause(error)).to.match(/^(?:[A-Z0-9_]+|UpstreamError \d+)$/)
    return error.message
  }

  it('is requested with the credential', async () => {
    const asked = upstream.reply(json({ data: [1] }))
    expect(await get()).to.deep.equal({ data: [1] })
    expect(await asked).to.deep.include({ method: 'GET', path: '/v1/models' })
    expect((await asked).headers).to.include({ authorization: KEY, accept: 'application/json' })
  })

  itWith('linux', 'is found by the name of the upstream', async () => {
    const names = await dnsServer({ 'documents.test': { addresses: ['127.0.0.1'] } })
    try {
      upstream.on(() => json({ data: [1] }))
      const url = `${upstream.origin.replace('127.0.0.1', 'documents.test')}/v1/models`
      expect(await getJson(url, { headers: {}, signal: new AbortController().signal })).to.deep.equal({ data: [1] })
    } finally {
      await names.close()
    }
  })

  it('is not requested at the target of a redirect, which must not get the credential', async () => {
    upstream.on(() => json({ moved: true }, { status: 302, headers: { location: '/elsewhere' } }))
    expect(await failureOf(get())).to.equal(
      `GET ${upstream.origin}/v1/models: status 302; it has moved: let baseUrl say where to`,
    )
    expect(upstream.requests).to.have.length(1)
  })

  const FAULTS: readonly (readonly [name: string, script: () => Step[], message: RegExp])[] = [
    ['a bad credential', () => json({ error: 'canary' }, { status: 401 }), /status 401; check the API key$/],
    [
      'a credential that may not',
      () => json({ error: 'canary' }, { status: 403 }),
      /status 403; the API key may not read this: allow it to, or use another$/,
    ],
    ['a wrong address', () => reply(['canary'], { status: 404 }), /status 404; check baseUrl$/],
    [
      'a fault of the upstream',
      () => [head(500, { 'content-length': '99' }), 'canary', RST],
      /status 500; the upstream is at fault: ask again later$/,
    ],
    ['no JSON', () => reply(['canary']), /: not JSON$/],
    ['a reply that breaks off', () => [head(200, { 'content-length': '99' }), '{"canary":', FIN], /: UND_ERR_SOCKET$/],
    ['a reply that is reset', () => [head(200, { 'content-length': '99' }), '{"canary":', RST], /: ECONNRESET$/],
    ['no reply', () => [RST], /: ECONNRESET$/],
    ['no HTTP', () => ['canary\r\n\r\n'], /: HTTPParserError$/],
    ['more than 4 MB', () => reply([Buffer.alloc((4 << 20) + 1, 'x')]), /: more than 4194304 bytes$/],
  ]

  for (const [name, script, message] of FAULTS) {
    it(`fails for ${name} with the address, without the reply`, async () => {
      upstream.reply(script())
      const failure = await failureOf(get())
      expect(failure).to.match(message)
      expect(failure.startsWith(`GET ${upstream.origin}/v1/models: `)).to.equal(true)
    })
  }

  it('that is refused has the upstream’s message as its cause, without the sent values', async () => {
    upstream.on(() => json({ error: { message: `No ${KEY}\u001b at ${upstream.origin}!`, code: KEY } }, { status: 401 }))
    const failure = await get().catch((error: unknown) => error)
    const { cause } = failure as { cause: UpstreamError }
    expect(cause).to.be.instanceOf(UpstreamError)
    expect(cause.refusal).to.deep.equal({ status: 401, message: 'No …  at …' })
  })

  for (const [what, body] of [
    ['of AWS', '{"Message":"Not authorized."}'],
    ['of Ollama', '{"error":"Not authorized."}'],
    ['of Cohere', '{"message":"Not authorized."}'],
  ] as const) {
    it(`that is refused has the message ${what}`, async () => {
      upstream.on(() => reply([body], { status: 403 }))
      const failure = await get().catch((error: unknown) => error)
      expect(failure).to.have.nested.property('cause.refusal.message', 'Not authorized.')
    })
  }

  it('that is refused without a message, or with a very long one, has the status', async () => {
    for (const body of ['<html>', '{}', `{"error":"${'x'.repeat(1 << 20)}"}`]) {
      upstream.on(() => reply([body], { status: 503 }))
      const failure = await get().catch((error: unknown) => error)
      expect(failure).to.have.nested.property('cause.refusal').that.deep.equals({ status: 503 })
    }
  })

  it('of an unreachable address fails with the address', async () => {
    const origin = await closedOrigin()
    const { signal } = new AbortController()
    expect(await failureOf(getJson(`${origin}/v1/models`, { headers: {}, signal }))).to.equal(
      `GET ${origin}/v1/models: ECONNREFUSED`,
    )
  })

  for (const [where, script] of [
    ['before its head', () => [hold()]],
    ['within its body', () => [head(200, { 'content-length': '9' }), '{', hold()]],
  ] as const) {
    it(`is aborted ${where} by its signal`, async () => {
      const controller = new AbortController()
      const steps = script()
      const stalled = steps.at(-1) as ReturnType<typeof hold>
      const asked = upstream.reply(steps)
      const failure = failureOf(get('/v1/models', controller.signal))
      await stalled.reached
      controller.abort()
      expect(await failure).to.match(/: AbortError$/)
      await (await asked).closed
    })
  }
})
