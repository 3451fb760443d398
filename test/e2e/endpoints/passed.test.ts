import { expect } from 'chai'
import { FIN, hold, json, RST, reply } from '../../../core/testing/kit.ts'
import { type Fixture, startFixture } from './fixture.ts'
import { PASSED, type PassedCase } from './passed-endpoints.ts'

const JSON_TYPE = { headers: { 'content-type': 'application/json' } }
const ERROR = { error: { message: 'no', type: 'server_error', param: null, code: null } }
const UNKNOWN_URL = { error: { message: 'Invalid URL (POST /v1/x)', type: 'invalid_request_error', param: null, code: null } }

/** Failures after which the next target is tried, and how the upstream writes them. */
const FAILURES = {
  'has an error': json(ERROR, { status: 500 }),
  'limits the rate': json(ERROR, { status: 429 }),
  'has no such endpoint': json(UNKNOWN_URL, { status: 404 }),
  'breaks off': reply(['{"', RST], { ...JSON_TYPE, framing: 'chunked' }),
  'replies with something else': json({ hello: 'world' }),
  'replies with a page': reply(['<html></html>'], { headers: { 'content-type': 'text/html' } }),
  'has an error in a reply with status 200': json({ error: { message: 'no', code: 'rate_limit_exceeded' } }),
} as const

for (const asked of PASSED) {
  describe(`POST ${asked.path}`, () => {
    let fixture: Fixture

    before(async () => {
      fixture = await startFixture({
        chain: [{ plugin: 'rate-tagging', config: { classes: { standard: { tokens: '1M/h' } }, default: 'standard' } }],
      })
    })

    after(() => fixture?.stop())

    const post = (body: object, key?: string) =>
      fixture.gateway.fetch(asked.path, { json: body, ...(key !== undefined && { key }) })
    const ask = (model: string, key?: string) => post({ ...asked.body, model }, key)

    it("sends the client's bytes with the model's upstream name, and returns the reply byte for byte", async () => {
      const text = JSON.stringify(asked.reply, undefined, 2)
      const sent = fixture.upstream.reply(reply([text], JSON_TYPE))
      const got = await fixture.gateway.fetch(asked.path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{ "x_big": 9007199254740993, "model":"open/org/m-1", ${JSON.stringify(asked.body).slice(1)}`,
      })
      expect([got.status, got.headers.get('content-type'), await got.text()]).to.deep.equal([200, 'application/json', text])
      const { path, body } = await sent
      expect(path).to.equal(asked.path)
      expect(body.toString()).to.equal(`{ "x_big": 9007199254740993, "model":"org/m-1", ${JSON.stringify(asked.body).slice(1)}`)
    })

    it('has a row with its tokens and its cost, and metrics', async () => {
      fixture.upstream.reply(json(asked.reply))
      const row = await fixture.row((await ask('open/priced')).headers.get('x-request-id'))
      expect(row).to.deep.include({ endpoint: asked.name, model: 'open/priced', outcome: 'ok', status: 200, stream: false })
      const { tokens } = asked
      const prompt = Math.ceil(JSON.stringify({ ...asked.body, model: 'open/priced' }).length / 4)
      const { input, output } = tokens ?? { input: prompt, output: 0 }
      expect(row.tokens).to.deep.include({ input, output, estimated: tokens === undefined })
      expect(row.cost).to.include({ usd: String((input + 2 * output) / 1e6), price: 'routes.yaml input=1 output=2' })
      const labels = { gen_ai_request_model: 'open/priced' }
      expect(await fixture.gateway.metric('gen_ai_server_request_duration_seconds_count', labels)).to.equal(1)
    })

    it('takes from the limit of tokens what it used', async () => {
      const key = await fixture.gateway.key({ name: 'limited' })
      const left = async (): Promise<number> => {
        fixture.upstream.reply(json(asked.reply))
        return Number((await ask('open/m', key)).headers.get('x-ratelimit-remaining-tokens'))
      }
      const first = await left()
      const { input, output } = asked.tokens ?? { input: 0, output: 0 }
      const used = first - (await left())
      if (asked.tokens === undefined) expect(used).to.be.within(1, 40)
      else expect(used).to.equal(input + output)
    })

    for (const [what, script] of Object.entries(FAILURES)) {
      it(`is served by another target if one ${what}`, async () => {
        const before = fixture.upstream.requests.length
        fixture.upstream.reply(script)
        fixture.upstream.reply(json(asked.reply))
        const got = await ask('acme/m')
        expect([got.status, await got.json()]).to.deep.equal([200, asked.reply])
        const paths = fixture.upstream.requests.slice(before).map(({ path }) => path)
        expect(paths).to.have.members([asked.path, asked.path.replace('v1', 'v2')])
      })
    }

    it('fails with an error if every target fails', async () => {
      fixture.upstream.reply(['HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"da', FIN])
      const failed = await ask('open/m')
      const { error } = (await failed.json()) as { readonly error: { readonly code: string } }
      expect([failed.status, error.code]).to.deep.equal([502, 'upstream_disconnected'])
    })

    it("returns the upstream's refusal of a request", async () => {
      fixture.upstream.reply(
        json({ error: { message: 'Too long.', type: 'invalid_request_error', param: 'x', code: 'too_long' } }, { status: 400 }),
      )
      const refused = await ask('acme/m')
      expect([refused.status, await refused.json()]).to.deep.equal([
        400,
        { error: { message: 'Too long.', type: 'invalid_request_error', param: 'x', code: 'too_long' } },
      ])
    })

    it('is refused without a model, with an unknown one, and with one that the key may not call', async () => {
      const key = await fixture.gateway.key({ name: 'narrow', models: ['open/other'] })
      const codes = async (got: Response) => {
        const { error } = (await got.json()) as { readonly error: { readonly code: string; readonly param: string } }
        return [got.status, error.code, error.param]
      }
      expect(await codes(await post(asked.body))).to.deep.equal([400, 'missing_required_parameter', 'model'])
      expect(await codes(await ask('nope/m'))).to.deep.equal([404, 'model_not_found', 'model'])
      expect(await codes(await ask('open/m', key))).to.deep.equal([404, 'model_not_found', 'model'])
      if (asked.required === undefined) return
      const without = { ...asked.body, model: 'open/m', [asked.required]: undefined }
      expect(await codes(await post(without))).to.deep.equal([400, 'missing_required_parameter', asked.required])
    })

    it('aborts its upstream when the client leaves', async () => {
      const waiting = hold()
      const sent = fixture.upstream.reply([waiting])
      const leaving = new AbortController()
      const asking = fixture.gateway
        .fetch(asked.path, { json: { ...asked.body, model: 'open/m' }, signal: leaving.signal })
        .catch((error: unknown) => error)
      const { closed } = await sent
      leaving.abort()
      await closed
      await asking
    })
  })
}

const LARGE: readonly (readonly [string, PassedCase['body'], PassedCase['reply']])[] = [
  [
    '/v1/images/generations',
    { prompt: 'x'.repeat(20_000) },
    { created: 1, data: [{ b64_json: 'A'.repeat(3 << 20) }], usage: PASSED[2]!.reply.usage },
  ],
  [
    '/v1/rerank',
    { query: 'q', documents: Array.from({ length: 900 }, (_, index) => `document ${index} `.repeat(200)) },
    { results: Array.from({ length: 900 }, (_, index) => ({ index, relevance_score: 0.5 })), usage: { total_tokens: 99 } },
  ],
]

describe('large requests and replies of endpoints that are passed through', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })

  after(() => fixture?.stop())

  for (const [path, body, answer] of LARGE) {
    it(`are passed at ${path}, and their usage is read`, async () => {
      const sent = fixture.upstream.reply(json(answer))
      const got = await fixture.gateway.fetch(path, { json: { ...body, model: 'open/m' } })
      expect(await got.json()).to.deep.equal(answer)
      expect((await sent).json()).to.deep.equal({ ...body, model: 'm' })
      expect((await fixture.row(got.headers.get('x-request-id'))).tokens).to.include({ estimated: false })
    })
  }
})
