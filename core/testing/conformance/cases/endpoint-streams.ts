import assert from 'node:assert/strict'
import { readText } from '../../gateway/client-reply.ts'
import { DONE, event } from '../../upstream/replies.ts'
import { FIN } from '../../upstream/script.ts'
import { type FixedEndpoint, modelOf } from '../endpoint-fixtures.ts'
import { NAMESPACE, type Suite } from '../harness.ts'
import { streamScript } from '../scripts.ts'

/** A streamed reply of an upstream with OpenAI's API. */
interface StreamCase {
  readonly path: string
  /** The fields of a request besides `model`. */
  readonly asked: Readonly<Record<string, string | boolean | Blob>>
  readonly isForm?: true
  /** The last one ends the stream. */
  readonly events: readonly string[]
}

const FILE = new Blob([Buffer.from([0xff, 0xfb, 0, 1])], { type: 'audio/mpeg' })
const HEAD = { id: 'cmpl-1', object: 'text_completion', created: 1, model: 'm' }
const USAGE = { input_tokens: 5, output_tokens: 7, total_tokens: 12 }

const typed = (type: string, members: object): string => event({ type, ...members }, type)
const words = (text: string, finish_reason: string | null): string =>
  event({ ...HEAD, choices: [{ text, index: 0, logprobs: null, finish_reason }] })

/** The endpoints that stream ("Streaming events", developers.openai.com). */
const STREAMS: Readonly<Partial<Record<FixedEndpoint, StreamCase>>> = {
  completions: {
    path: '/v1/completions',
    asked: { prompt: 'Hello', stream: true },
    events: [words('Hi', null), words(' there', null), words('', 'stop'), DONE],
  },
  'images.generations': {
    path: '/v1/images/generations',
    asked: { prompt: 'A fox', stream: true },
    events: [
      typed('image_generation.partial_image', { partial_image_index: 0, b64_json: 'Zg==' }),
      typed('image_generation.completed', { b64_json: 'Zm94', usage: USAGE }),
    ],
  },
  'images.edits': {
    path: '/v1/images/edits',
    asked: { prompt: 'A fox', stream: 'true', image: FILE },
    isForm: true,
    events: [
      typed('image_edit.partial_image', { partial_image_index: 0, b64_json: 'Zg==' }),
      typed('image_edit.completed', { b64_json: 'Zm94', usage: USAGE }),
    ],
  },
  'audio.speech': {
    path: '/v1/audio/speech',
    asked: { input: 'Hello', voice: 'alloy', stream_format: 'sse' },
    events: [typed('speech.audio.delta', { audio: 'c291' }), typed('speech.audio.done', { usage: USAGE })],
  },
  'audio.transcriptions': {
    path: '/v1/audio/transcriptions',
    asked: { file: FILE, stream: 'true' },
    isForm: true,
    events: [typed('transcript.text.delta', { delta: 'Hi' }), typed('transcript.text.done', { text: 'Hi', usage: USAGE })],
  },
}

/** Cases for the streamed replies of an endpoint, if its upstream's are passed on. */
export function describeEndpointStream(suite: Suite, name: FixedEndpoint): void {
  const one = STREAMS[name]
  if (one === undefined || suite.subject.local) return
  it(`${name}, streamed`, async () => {
    const operation = suite.harness.provider.endpoints?.[name]
    const model = modelOf(suite.subject, name)
    const isServed = operation !== undefined && operation.serves?.(model) !== false
    if (!isServed || operation.reply !== undefined) await expectRefusal(suite, name, one)
    else await expectStreams(suite, name, one)
  })
}

/** A translated endpoint does not stream: it names the parameter. */
async function expectRefusal(suite: Suite, name: FixedEndpoint, one: StreamCase): Promise<void> {
  const before = suite.harness.received.length
  const got = await ask(suite, name, one)
  const { error } = (await got.json()) as { readonly error: { readonly code: string; readonly param: string } }
  assert.equal(got.status, 400)
  assert.ok(['unsupported_endpoint model', 'unsupported_parameter stream'].includes(`${error.code} ${error.param}`), error.code)
  assert.equal(suite.harness.received.length, before, 'nothing is sent')
}

/** The events reach the client as they are, and a stream that breaks off ends with an error. */
async function expectStreams(suite: Suite, name: FixedEndpoint, one: StreamCase): Promise<void> {
  const { harness, subject } = suite
  const { events } = one
  harness.answer(streamScript(subject, events))
  assert.equal(await readText(await ask(suite, name, one)), events.join(''))
  for (let count = 1; count < events.length; count++) {
    const begun = events.slice(0, count)
    // A stream of text is complete with its last choice.
    if (begun.join('').includes('"stop"')) continue
    harness.answer(streamScript(subject, [...begun, FIN]))
    const text = await readText(await ask(suite, name, one))
    assert.ok(text.startsWith(begun.join('')), text)
    assert.match(text.slice(begun.join('').length), /^data: \{"error":\{.*"code":"upstream_disconnected"\}\}\n\n$/)
  }
}

function ask({ harness, subject }: Suite, name: FixedEndpoint, { path, asked, isForm }: StreamCase): Promise<Response> {
  const body = { ...asked, model: `${NAMESPACE}/${modelOf(subject, name)}` }
  if (!isForm) return harness.post(body, { path })
  const form = new FormData()
  for (const [field, value] of Object.entries(body)) form.append(field, value as string)
  return harness.post(form, { path })
}
