import { expect } from 'chai'
import { encoded, reply, type ScriptedUpstream, type Step, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { rawHttp } from '../../support/raw-http.ts'
import { watchParsing } from '../../support/watch-parsing.ts'
import { anthropic } from '../sdk/anthropic-dialect.ts'
import { type Fixture, startFixture } from '../sdk/fixture.ts'
import { openai } from '../sdk/openai-dialect.ts'

/** A call, and a reply that would serve it but for the member that is added to it. */
interface Asked {
  readonly name: string
  readonly path: string
  readonly body: object
  readonly whole: object
  /** The events of a stream, the last of which gets the member. Absent: the endpoint does not stream. */
  readonly events?: readonly object[]
}

const messages = [{ role: 'user', content: 'Hi' }]
const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
const completion = openai.whole({ text: ['Hi'] })
const message = anthropic.whole({ text: ['Hi'] })
const chunks = [
  { choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' }, finish_reason: null }] },
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
]
const response = { id: 'resp_1', object: 'response', status: 'completed', output: [], usage }

const ASKED: readonly Asked[] = [
  { name: 'chat completions', path: '/chat/completions', body: { model: 'open/m', messages }, whole: completion, events: chunks },
  { name: 'chat completions by Anthropic', path: '/chat/completions', body: { model: 'claude/m', messages }, whole: message },
  {
    name: 'messages, translated',
    path: '/messages',
    body: { model: 'open/m', messages, max_tokens: 9 },
    whole: completion,
    events: chunks,
  },
  { name: 'messages', path: '/messages', body: { model: 'claude/m', messages, max_tokens: 9 }, whole: message },
  {
    name: 'responses',
    path: '/responses',
    body: { model: 'own/m', input: 'Hi' },
    whole: response,
    events: [{ type: 'response.completed', response }],
  },
  {
    name: 'responses, translated',
    path: '/responses',
    body: { model: 'open/m', input: 'Hi' },
    whole: completion,
    events: chunks,
  },
  {
    name: 'embeddings',
    path: '/embeddings',
    body: { model: 'open/m', input: 'Hi' },
    whole: { data: [{ embedding: [1] }], usage: { prompt_tokens: 1 } },
  },
  { name: 'a ranking', path: '/rerank', body: { model: 'open/m', query: 'q', documents: ['d'] }, whole: { results: [] } },
  { name: 'moderations', path: '/moderations', body: { model: 'open/m', input: 'Hi' }, whole: { results: [{}] } },
  {
    name: 'pictures',
    path: '/images/generations',
    body: { model: 'open/m', prompt: 'p' },
    whole: { data: [{ b64_json: 'aaaa' }] },
    events: [{ type: 'image_generation.completed', b64_json: 'aaaa', usage }],
  },
]

/** Values that are cheap to send and dear to read. */
const HOSTILE: Readonly<Record<string, string>> = {
  'more than 50,000 objects': `[${'{},'.repeat(60_000)}{}]`,
  'more than 64 levels': `${'['.repeat(5000)}${']'.repeat(5000)}`,
  'large, with more than 50,000 objects': `["${'x'.repeat(2 << 20)}",${'[],'.repeat(60_000)}{}]`,
}

describe('A hostile reply', () => {
  let fixture: Fixture
  let own: ScriptedUpstream
  const parsing = watchParsing()
  before(async () => {
    own = await scriptedUpstream()
    fixture = await startFixture({
      others: {
        own: {
          provider: 'openai-compatible',
          breaker: false,
          config: { baseUrl: `${own.origin}/v1`, responses: true },
        },
      },
    })
  })
  after(async () => {
    await fixture?.stop()
    await own?.close()
  })

  async function ask({ path, body }: Pick<Asked, 'path' | 'body'>, script: readonly Step[]) {
    for (const upstream of [fixture.upstream(openai), fixture.upstream(anthropic), own]) upstream.on(() => script)
    const answer = await rawHttp(`${fixture.gateway.url}/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fixture.gateway.liveKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: answer.status, text: await answer.text() }
  }

  for (const asked of ASKED) {
    for (const [what, value] of Object.entries(HOSTILE)) {
      it(`is refused, not parsed: ${asked.name}, ${what}`, async () => {
        const text = withMember(asked.whole, value)
        const { status, text: error } = await ask(asked, reply([text], { headers: { 'content-type': 'application/json' } }))
        expect(status, error.slice(0, 300)).to.equal(502)
        expect(parsing.longest, 'characters parsed at once').to.be.lessThan(text.length)
      })
    }
    if (asked.events === undefined) continue
    for (const [what, value] of Object.entries(HOSTILE)) {
      it(`is refused in an event of a stream: ${asked.name}, ${what}`, async () => {
        const events = asked.events!.map((each, index, all) =>
          index < all.length - 1 ? each : `data: ${withMember(each, value)}\n\n`,
        )
        const { text } = await ask({ ...asked, body: { ...asked.body, stream: true } }, sse(events))
        expect(text.slice(0, 5000)).to.match(/upstream_invalid_response|event: error|response\.failed/)
      })
    }
  }

  it('is given up once it has grown to 200 times its size', async () => {
    const body = JSON.stringify({ ...completion, z: ' '.repeat(8 << 20) })
    for (const encoding of ['gzip', 'deflate', 'br'] as const) {
      const { status } = await ask(ASKED[0]!, encoded(encoding, body, { headers: { 'content-type': 'application/json' } }))
      expect(status, encoding).to.equal(502)
    }
  })
})

const withMember = (object: object, value: string): string => `${JSON.stringify(object).slice(0, -1)},"z":${value}}`
