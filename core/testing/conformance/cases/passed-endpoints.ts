import assert from 'node:assert/strict'
import type OpenAI from 'openai'
import { json, reply } from '../../upstream/replies.ts'
import type { Script } from '../../upstream/script.ts'
import { type FixedEndpoint, modelOf } from '../endpoint-fixtures.ts'
import { CLIENT_KEY, NAMESPACE, type Suite } from '../harness.ts'
import { type ErrorFixture, isAbsent } from '../provider-under-test.ts'
import { errorScript } from '../scripts.ts'
import { caught, itWithSdk } from '../sdk.ts'
import { describeEndpointStream } from './endpoint-streams.ts'

/** A call to an endpoint by the official SDK, and what an upstream with OpenAI's API replies. */
interface PassedCase {
  /** `asked`: the fields of a fixture. */
  ask(sdk: OpenAI, model: string, asked?: object): PromiseLike<object>
  readonly script: Script
  /** What the SDK returns. */
  readonly wanted: object
}

const FILE = () => new File([Buffer.from([0xff, 0xfb, 0, 1])], 'a.mp3', { type: 'audio/mpeg' })
const PICTURE = () => new File([Buffer.from([0x89, 0x50, 0x4e, 0x47])], 'a.png', { type: 'image/png' })
const JUDGED = { id: 'modr-1', model: 'm', results: [{ flagged: false }] }
const PICTURES = { created: 1, data: [{ b64_json: 'Zm94' }] }
const COMPLETION = {
  id: 'cmpl-1',
  object: 'text_completion',
  created: 1,
  model: 'm',
  choices: [{ text: 'Hi', index: 0, logprobs: null, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}
const RANKED = {
  model: 'm',
  object: 'list',
  usage: { total_tokens: 9, prompt_tokens: 9 },
  results: [{ index: 0, relevance_score: 0.5 }],
}

const CASES: Readonly<Record<FixedEndpoint, PassedCase>> = {
  completions: {
    ask: (sdk, model) => sdk.completions.create({ model, prompt: 'Hello' }),
    script: json(COMPLETION),
    wanted: COMPLETION,
  },
  moderations: { ask: (sdk, model) => sdk.moderations.create({ model, input: 'Hello' }), script: json(JUDGED), wanted: JUDGED },
  'images.generations': {
    ask: (sdk, model, asked) => sdk.images.generate({ prompt: 'A fox', ...asked, model }),
    script: json(PICTURES),
    wanted: PICTURES,
  },
  'images.edits': {
    ask: (sdk, model, asked) => sdk.images.edit({ prompt: 'A fox', image: PICTURE(), ...asked, model }),
    script: json(PICTURES),
    wanted: PICTURES,
  },
  'audio.speech': {
    ask: async (sdk, model) => {
      const got = await sdk.audio.speech.create({ model, input: 'Hello', voice: 'alloy' })
      return { type: got.headers.get('content-type'), sound: await got.text() }
    },
    script: reply(['sound'], { headers: { 'content-type': 'audio/mpeg' } }),
    wanted: { type: 'audio/mpeg', sound: 'sound' },
  },
  'audio.transcriptions': {
    ask: (sdk, model) => sdk.audio.transcriptions.create({ model, file: FILE() }),
    script: json({ text: 'Hi' }),
    wanted: { text: 'Hi' },
  },
  'audio.translations': {
    ask: (sdk, model) => sdk.audio.translations.create({ model, file: FILE() }),
    script: json({ text: 'Hi' }),
    wanted: { text: 'Hi' },
  },
  // OpenAI has no such endpoint; its path and form are Cohere's and Jina's.
  rerank: {
    ask: (sdk, model, asked) => sdk.post('/rerank', { body: { query: 'fox', documents: ['a fox', 'a dog'], ...asked, model } }),
    script: json(RANKED),
    wanted: RANKED,
  },
}

/** Cases for the endpoints beside chat completions and embeddings that the provider serves, or refuses by name. */
export function describePassedEndpoints(suite: Suite): void {
  describe('serves other endpoints, or refuses them by name', () => {
    for (const [name, one] of Object.entries(CASES) as [FixedEndpoint, PassedCase][]) {
      itWithSdk(name, () => expectServed(suite, name, one))
      describeEndpointStream(suite, name)
    }
  })
}

async function expectServed(suite: Suite, name: FixedEndpoint, one: PassedCase): Promise<void> {
  const { harness, subject } = suite
  const operation = harness.provider.endpoints?.[name]
  const model = modelOf(subject, name)
  if (operation === undefined || operation.serves?.(model) === false) {
    const { status, code } = await caught(one.ask(harness.sdk, `${NAMESPACE}/${model}`))
    assert.deepEqual([status, code], [400, 'unsupported_endpoint'])
    return
  }
  if (operation.reply !== undefined)
    assert.ok(subject.endpoints?.[name], `a provider that translates the replies of ${name} has a fixture in \`endpoints\``)
  await expectReply(suite, name, one)
  if (subject.local) return
  await expectFailures(suite, name, one)
}

/** The call of a case with the fields of the fixture. */
const calling = ({ harness, subject }: Suite, name: FixedEndpoint, { ask }: PassedCase): PromiseLike<object> =>
  ask(harness.sdk, `${NAMESPACE}/${modelOf(subject, name)}`, subject.endpoints?.[name]?.asked)

async function expectReply(suite: Suite, name: FixedEndpoint, one: PassedCase): Promise<void> {
  const { harness, subject } = suite
  const { whole, says } = subject.endpoints?.[name] ?? {}
  harness.answer(whole === undefined ? one.script : json(whole))
  const got = await calling(suite, name, one)
  if (says !== undefined) assert.partialDeepStrictEqual(got, says)
  else assert.deepEqual({ ...got }, one.wanted)
  if (subject.local) return
  const { body, path, headers } = harness.received.at(-1)!
  const model = modelOf(subject, name)
  assert.ok(!body.includes(`${NAMESPACE}/`), 'the model has its upstream name')
  assert.ok(`${decodeURIComponent(path)}${body.toString('latin1')}`.includes(model), 'the model is named')
  assert.ok(!JSON.stringify(headers).includes(CLIENT_KEY), "the client's key is not sent")
}

/** A reply of another form than the endpoint's, and a limit of the rate, are errors. */
async function expectFailures(suite: Suite, name: FixedEndpoint, one: PassedCase): Promise<void> {
  const { harness, subject } = suite
  harness.answer(json({ hello: 'world' }))
  const { status, code } = await caught(calling(suite, name, one))
  assert.deepEqual([status, code], [502, 'upstream_invalid_response'], 'a reply of another form')
  const { errors, noEndpoint } = subject
  if (!isAbsent(errors.rateLimit)) await expectError(errors.rateLimit, [429, 'rate_limit_exceeded'])
  if (noEndpoint !== undefined) await expectError(noEndpoint, [400, 'unsupported_endpoint'])

  async function expectError(fixture: ErrorFixture, wanted: readonly [status: number, code: string]): Promise<void> {
    harness.answer(errorScript(fixture))
    const refused = await caught(calling(suite, name, one))
    assert.deepEqual([refused.status, refused.code], wanted)
  }
}
