import { expect } from 'chai'
import OpenAI from 'openai'
import { json, reply, type Script, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { closedOrigin } from '../../support/closed-port.ts'
import { caught } from './caught.ts'
import { ask, type Dialect } from './dialect.ts'
import { DIALECTS, type Fixture, startFixture } from './fixture.ts'
import { openai } from './openai-dialect.ts'

/** A chain plugin and a provider that throw, each with words that are nobody's business. */
const FAULT = "new Error('hunter2 in /etc/shadow')"
const BAD_LINK = `export default { kind: 'chain', apiVersion: 1, name: 'bad-link', schema: { type: 'object' }, create: () => ({
  handle(ctx, next) { if (ctx.get('x-break') === '') return next(); throw ${FAULT} },
}) }`
const BAD_PROVIDER = `export default { kind: 'provider', apiVersion: 1, name: 'bad-provider', schema: { type: 'object' }, create: () => ({
  parameters: 'verbatim', request() { throw ${FAULT} },
}) }`

/** A name that no resolver asks the network for: its first label is longer than the 63 octets of RFC 1035 §2.3.4. */
const NO_HOST = `http://${'a'.repeat(64)}.invalid/v1`

/** What an upstream's status becomes, where its error says nothing else. */
const STATUSES: readonly (readonly [upstream: number, client: number, code: string | null])[] = [
  [400, 400, null],
  [401, 400, 'upstream_authentication_error'],
  [403, 400, 'upstream_authentication_error'],
  [404, 404, 'model_not_found'],
  [408, 503, 'upstream_overloaded'],
  [409, 503, 'upstream_overloaded'],
  [413, 413, null],
  [422, 422, null],
  [429, 429, 'rate_limit_exceeded'],
  [500, 502, 'upstream_error'],
  [502, 502, 'upstream_error'],
  [503, 503, 'upstream_overloaded'],
  [504, 502, 'upstream_error'],
  [529, 503, 'upstream_overloaded'],
]

const CLASSES: Readonly<Record<number, unknown>> = {
  400: OpenAI.BadRequestError,
  404: OpenAI.NotFoundError,
  413: OpenAI.APIError,
  422: OpenAI.UnprocessableEntityError,
  429: OpenAI.RateLimitError,
}

/** Replies of status 200 that are no replies. */
const NO_REPLIES: readonly (readonly [what: string, body: string, type: string, code: string])[] = [
  ['a web page', '<html><h1>Blocked</h1></html>', 'text/html', 'upstream_invalid_response'],
  ['nothing', '', 'application/json', 'upstream_invalid_response'],
  ['an empty object', '{}', 'application/json', 'upstream_invalid_response'],
  ['half an object', '{"choices":[{"index":0', 'application/json', 'upstream_invalid_response'],
  ['a text', '"Hello"', 'application/json', 'upstream_invalid_response'],
  ['an error', '{"type":"error","error":{"type":"api_error","message":"x"}}', 'application/json', 'upstream_error'],
]

describe('In the SDK,', () => {
  let fixture: Fixture
  let elsewhere: ScriptedUpstream

  before(async () => {
    elsewhere = await scriptedUpstream()
    const provider = 'openai-compatible'
    fixture = await startFixture({
      files: { 'bad-link.ts': BAD_LINK, 'bad-provider.ts': BAD_PROVIDER },
      chain: [{ plugin: './bad-link.ts' }],
      others: {
        refused: { provider, config: { baseUrl: `${await closedOrigin()}/v1` } },
        unknown: { provider, config: { baseUrl: NO_HOST } },
        faulty: { provider: './bad-provider.ts' },
      },
    })
  })

  after(async () => {
    await fixture?.stop()
    await elsewhere?.close()
  })

  const create = (body: OpenAI.ChatCompletionCreateParams, options?: OpenAI.RequestOptions) =>
    fixture.gateway.openai().chat.completions.create(body, options)

  /** The error of one call, not repeated. */
  const failure = (body: OpenAI.ChatCompletionCreateParams) => caught(create(body, { maxRetries: 0 }))

  for (const dialect of DIALECTS) {
    for (const stream of [false, true]) {
      describe(`(${dialect.name}${stream ? ', streamed' : ''})`, () => {
        const answer = (script: () => Script) => fixture.upstream(dialect).on(script)
        const failing = () => failure(ask(dialect, { stream }))

        for (const [status, expected, code] of STATUSES) {
          it(`an upstream’s ${status} is a ${expected}`, async () => {
            answer(() => json(dialect.error(status, 'Some words.'), { status }))
            const error = await failing()
            expect(error).to.include({ status: expected, code })
            expect(error).to.be.instanceOf(CLASSES[expected] ?? OpenAI.InternalServerError)
            expect(error.requestID).to.match(/^req_[0-9a-f]{32}$/)
            expect(error.message.includes('Some words.')).to.equal([400, 413, 422].includes(status))
          })
        }

        for (const [what, body, type, code] of NO_REPLIES) {
          it(`a success that is ${what} is a 502`, async () => {
            answer(() => reply([body], { headers: { 'content-type': type } }))
            expect(await failing()).to.include({ status: 502, code })
          })
        }

        for (const status of [301, 302, 303, 307, 308]) {
          it(`a redirect (${status}) is not followed`, async () => {
            answer(() => reply([], { status, headers: { location: `${elsewhere.origin}${dialect.path}` } }))
            expect(await failing()).to.include({ status: 502, code: 'upstream_invalid_response' })
            expect(elsewhere.requests).to.deep.equal([])
          })
        }
      })
    }

    it(`an error before the first event of a stream is an error status (${dialect.name})`, async () => {
      fixture.upstream(dialect).on(() => sse([dialect.errorEvent('x')]))
      const error = await failure(ask(dialect, { stream: true }))
      expect(error.status).to.be.oneOf([502, 503])
      expect(error.code).to.be.oneOf(['upstream_error', 'upstream_overloaded'])
    })

    it(`the retry-after of an upstream reaches the client (${dialect.name})`, async () => {
      fixture.upstream(dialect).on(() => json(dialect.error(429, 'Slow down.'), { status: 429, headers: { 'retry-after': '7' } }))
      const error = await failure(ask(dialect))
      expect(error).to.be.instanceOf(OpenAI.RateLimitError)
      expect(error.headers!.get('retry-after')).to.equal('7')
    })

    for (const [what, script, expected] of hopeless(dialect)) {
      it(`${what} is not retried (${dialect.name})`, async () => {
        const upstream = fixture.upstream(dialect)
        upstream.on(() => script)
        const before = upstream.requests.length
        const error = await caught(create(ask(dialect)))
        expect(error).to.include(expected)
        expect(error.message).to.not.include('Private words.')
        expect(upstream.requests.length - before).to.equal(1)
      })
    }

    it(`a redirect of the list of models is not followed (${dialect.name})`, async () => {
      fixture.upstream(dialect).on(() => reply([], { status: 302, headers: { location: `${elsewhere.origin}/v1/models` } }))
      await fixture.gateway.openai().models.list()
      expect(elsewhere.requests).to.deep.equal([])
    })
  }

  for (const [what, model] of [
    ['refuses connections', 'refused/m'],
    ['has a name that no one knows', 'unknown/m'],
  ] as const) {
    for (const stream of [false, true]) {
      it(`an upstream that ${what} is a 502${stream ? ' (streamed)' : ''}`, async () => {
        const error = await failure({ ...ask(openai), model, stream })
        expect(error).to.be.instanceOf(OpenAI.InternalServerError)
        expect(error).to.include({ status: 502, code: 'upstream_unreachable' })
      })
    }
  }

  for (const [what, more, headers] of [
    ['a chain plugin', {}, { 'x-break': '1' }],
    ['a provider', { model: 'faulty/m' }, {}],
  ] as const) {
    for (const stream of [false, true]) {
      it(`an error of ${what} is a 500 without details${stream ? ' (streamed)' : ''}`, async () => {
        const raw = await fixture.post({ ...ask(openai), ...more, stream }, headers)
        expect([raw.status, raw.headers['content-type']]).to.deep.equal([500, 'application/json'])
        const error = await raw.error()
        expect(error).to.include({ type: 'server_error', param: null, code: 'plugin_error' })
        expect(error.message).to.not.match(/hunter2|shadow|Error:|\.ts/)
      })
    }
  }
})

/** Refusals that no repetition can help. */
function hopeless(dialect: Dialect): readonly (readonly [what: string, script: Script, expected: object])[] {
  const quota = { error: { message: 'Private words.', type: 'insufficient_quota', param: null, code: 'insufficient_quota' } }
  const purse = { type: 'error', error: { type: 'billing_error', message: 'Private words.' } }
  return [
    [
      'a refused credential',
      json(dialect.error(401, 'Private words.'), { status: 401 }),
      { status: 400, code: 'upstream_authentication_error' },
    ],
    [
      'an exhausted quota',
      dialect === openai ? json(quota, { status: 429 }) : json(purse, { status: 402 }),
      { status: 429, code: 'insufficient_quota' },
    ],
  ]
}
