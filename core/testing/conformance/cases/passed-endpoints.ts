import assert from 'node:assert/strict'
import type OpenAI from 'openai'
import { ENDPOINT_REPLIES, wholeReplyOf } from '../../upstream/endpoint-replies.ts'
import { json } from '../../upstream/replies.ts'
import { type FixedEndpoint, modelOf } from '../endpoint-fixtures.ts'
import { CLIENT_KEY, NAMESPACE, type Suite } from '../harness.ts'
import { type ErrorFixture, isAbsent } from '../provider-under-test.ts'
import { errorScript } from '../scripts.ts'
import { caught, itWithSdk } from '../sdk.ts'
import { describeEndpointStream } from './endpoint-streams.ts'

/** Calls an endpoint by the official SDK. `asked`: the fields of a fixture. */
type Ask = (sdk: OpenAI, model: string, asked?: object) => PromiseLike<object>

const FILE = () => new File([Buffer.from([0xff, 0xfb, 0, 1])], 'a.mp3', { type: 'audio/mpeg' })
const PICTURE = () => new File([Buffer.from([0x89, 0x50, 0x4e, 0x47])], 'a.png', { type: 'image/png' })

const CALLS: Readonly<Record<FixedEndpoint, Ask>> = {
  completions: (sdk, model) => sdk.completions.create({ model, prompt: 'Hello' }),
  moderations: (sdk, model) => sdk.moderations.create({ model, input: 'Hello' }),
  'images.generations': (sdk, model, asked) => sdk.images.generate({ prompt: 'A fox', ...asked, model }),
  'images.edits': (sdk, model, asked) => sdk.images.edit({ prompt: 'A fox', image: PICTURE(), ...asked, model }),
  'audio.speech': async (sdk, model) => {
    const got = await sdk.audio.speech.create({ model, input: 'Hello', voice: 'alloy' })
    return { type: got.headers.get('content-type'), sound: await got.text() }
  },
  'audio.transcriptions': (sdk, model) => sdk.audio.transcriptions.create({ model, file: FILE() }),
  'audio.translations': (sdk, model) => sdk.audio.translations.create({ model, file: FILE() }),
  // OpenAI has no such endpoint; its path and form are Cohere's and Jina's.
  rerank: (sdk, model, asked) => sdk.post('/rerank', { body: { query: 'fox', documents: ['a fox', 'a dog'], ...asked, model } }),
}

/** What the SDK returns of an upstream with OpenAI's API. */
function wantedOf(name: FixedEndpoint): object {
  const { whole } = ENDPOINT_REPLIES[name]
  return typeof whole === 'string' ? { type: 'audio/mpeg', sound: whole } : whole
}

/** Cases for the endpoints, other than chat completions and embeddings, that the provider serves, or refuses by name. */
export function describePassedEndpoints(suite: Suite): void {
  describe('serves other endpoints, or refuses them by name', () => {
    for (const name of Object.keys(CALLS) as FixedEndpoint[]) {
      itWithSdk(name, () => expectServed(suite, name))
      describeEndpointStream(suite, name)
    }
  })
}

async function expectServed(suite: Suite, name: FixedEndpoint): Promise<void> {
  const { harness, subject } = suite
  const handler = harness.provider.endpoints?.[name]
  const model = modelOf(subject, name)
  if (handler === undefined || handler.serves?.(model) === false) {
    const { status, code } = await caught(CALLS[name](harness.sdk, `${NAMESPACE}/${model}`))
    assert.deepEqual([status, code], [400, 'unsupported_endpoint'])
    return
  }
  if (handler.reply !== undefined)
    assert.ok(subject.endpoints?.[name], `a provider that translates the replies of ${name} has a fixture in \`endpoints\``)
  await expectReply(suite, name)
  if (subject.local) return
  await expectFailures(suite, name)
}

/** The call with the fields of the fixture. */
const calling = ({ harness, subject }: Suite, name: FixedEndpoint): PromiseLike<object> =>
  CALLS[name](harness.sdk, `${NAMESPACE}/${modelOf(subject, name)}`, subject.endpoints?.[name]?.asked)

async function expectReply(suite: Suite, name: FixedEndpoint): Promise<void> {
  const { harness, subject } = suite
  const { whole, says } = subject.endpoints?.[name] ?? {}
  harness.answer(whole === undefined ? wholeReplyOf(name) : json(whole))
  const got = await calling(suite, name)
  if (says !== undefined) assert.partialDeepStrictEqual(got, says)
  else assert.deepEqual({ ...got }, wantedOf(name))
  if (subject.local) return
  const { body, path, headers } = harness.received.at(-1)!
  const model = modelOf(subject, name)
  assert.ok(!body.includes(`${NAMESPACE}/`), 'the model has its upstream name')
  assert.ok(`${decodeURIComponent(path)}${body.toString('latin1')}`.includes(model), 'the model is named')
  assert.ok(!JSON.stringify(headers).includes(CLIENT_KEY), "the client's key is not sent")
}

/** A reply of another form than the endpoint's, and a limit of the rate, are errors. */
async function expectFailures(suite: Suite, name: FixedEndpoint): Promise<void> {
  const { harness, subject } = suite
  harness.answer(json({ hello: 'world' }))
  const { status, code } = await caught(calling(suite, name))
  assert.deepEqual([status, code], [502, 'upstream_invalid_response'], 'a reply of another form')
  const { errors, noEndpoint } = subject
  if (!isAbsent(errors.rateLimit)) await expectError(errors.rateLimit, [429, 'rate_limit_exceeded'])
  if (noEndpoint !== undefined) await expectError(noEndpoint, [400, 'unsupported_endpoint'])

  async function expectError(fixture: ErrorFixture, wanted: readonly [status: number, code: string]): Promise<void> {
    harness.answer(errorScript(fixture))
    const refused = await caught(calling(suite, name))
    assert.deepEqual([refused.status, refused.code], wanted)
  }
}
