import assert from 'node:assert/strict'
import type OpenAI from 'openai'
import { json, reply } from '../../upstream/replies.ts'
import type { Script } from '../../upstream/script.ts'
import { NAMESPACE, type Suite } from '../harness.ts'
import { type ErrorFixture, isAbsent } from '../provider-under-test.ts'
import { errorScript } from '../scripts.ts'
import { caught, itWithSdk } from '../sdk.ts'

/** A call to an endpoint by the official SDK, and what an upstream with OpenAI's API replies. */
interface PassedCase {
  ask(sdk: OpenAI, model: string): PromiseLike<unknown>
  readonly script: Script
  /** What the SDK returns. */
  readonly wanted: unknown
}

const RECORDING = () => new File([Buffer.from([0xff, 0xfb, 0, 1])], 'a.mp3', { type: 'audio/mpeg' })
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

const CASES = {
  completions: {
    ask: (sdk, model) => sdk.completions.create({ model, prompt: 'Hello' }),
    script: json(COMPLETION),
    wanted: COMPLETION,
  },
  moderations: { ask: (sdk, model) => sdk.moderations.create({ model, input: 'Hello' }), script: json(JUDGED), wanted: JUDGED },
  'images.generations': {
    ask: (sdk, model) => sdk.images.generate({ model, prompt: 'A fox' }),
    script: json(PICTURES),
    wanted: PICTURES,
  },
  'images.edits': {
    ask: (sdk, model) => sdk.images.edit({ model, prompt: 'A fox', image: RECORDING() }),
    script: json(PICTURES),
    wanted: PICTURES,
  },
  'audio.speech': {
    ask: async (sdk, model) => (await sdk.audio.speech.create({ model, input: 'Hello', voice: 'alloy' })).text(),
    script: reply(['sound'], { headers: { 'content-type': 'audio/mpeg' } }),
    wanted: 'sound',
  },
  'audio.transcriptions': {
    ask: (sdk, model) => sdk.audio.transcriptions.create({ model, file: RECORDING() }),
    script: json({ text: 'Hi' }),
    wanted: { text: 'Hi' },
  },
  'audio.translations': {
    ask: (sdk, model) => sdk.audio.translations.create({ model, file: RECORDING() }),
    script: json({ text: 'Hi' }),
    wanted: { text: 'Hi' },
  },
} as const satisfies Readonly<Record<string, PassedCase>>

/** Cases for the endpoints of OpenAI's API that the provider passes on, or refuses by name. */
export function describePassedEndpoints(suite: Suite): void {
  const { subject } = suite
  describe('serves other endpoints of the official SDK as they are, or refuses them', () => {
    for (const [name, { ask, script, wanted }] of Object.entries(CASES)) {
      itWithSdk(name, async () => {
        const { harness } = suite
        const model = `${NAMESPACE}/${subject.model}`
        harness.answer(script)
        const operation = harness.provider.endpoints?.[name as keyof typeof CASES]
        if (operation === undefined || operation.serves?.(subject.model) === false) {
          const { status, code } = await caught(ask(harness.sdk, model))
          assert.deepEqual([status, code], [400, 'unsupported_endpoint'])
          return
        }
        const got = await ask(harness.sdk, model)
        assert.deepEqual(typeof got === 'object' ? { ...got } : got, wanted)
        const { body, path } = harness.received.at(-1)!
        assert.ok(!body.includes(model), 'the model has its upstream name')
        assert.ok(`${path}${body.toString('latin1')}`.includes(subject.model), 'the model is named')
        const { errors, noEndpoint } = subject
        if (!isAbsent(errors.rateLimit)) await expectError(errors.rateLimit, [429, 'rate_limit_exceeded'])
        if (noEndpoint !== undefined) await expectError(noEndpoint, [400, 'unsupported_endpoint'])

        async function expectError(fixture: ErrorFixture, wanted: readonly [status: number, code: string]): Promise<void> {
          harness.answer(errorScript(fixture))
          const { status, code } = await caught(ask(harness.sdk, model))
          assert.deepEqual([status, code], wanted)
        }
      })
    }
  })
}
