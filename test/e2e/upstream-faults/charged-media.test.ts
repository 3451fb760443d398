// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import {
  event,
  FIN,
  hold,
  json,
  reply,
  type Script,
  type ScriptedUpstream,
  type Step,
  scriptedUpstream,
  sse,
} from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

/** Tokens that the vendor bills for each of `WAYS`, if the model makes something. */
const FINAL = { prompt: 40, answer: 900 }

/** The text that is read, spoken or heard: 500 tokens. */
const TEXT = 'word '.repeat(400)

/** What an endpoint is sent, and how its upstream replies. */
interface Way {
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  readonly isForm?: true
  /** What the answer is. Absent: the model only reads. */
  readonly makes?: 'picture' | 'sound' | 'text'
  usage(prompt: unknown, answer: unknown): object
  /** Undefined: the reply says nothing of its usage. */
  whole(usage: unknown): Script
  /** Absent: it does not stream. */
  stream?(usage: unknown): readonly string[]
}

const counted: Way['usage'] = (input_tokens, output_tokens) => ({ input_tokens, output_tokens })
const typed = (type: string, more: object): string => event({ type, ...more }, type)

const drawn = (path: string, kind: string): Way => ({
  path,
  body: { prompt: 'A cat.', quality: 'low' },
  makes: 'picture',
  usage: counted,
  whole: (usage) => json({ created: 1, data: [{ b64_json: 'aGk=' }], usage }),
  stream: (usage) => [
    typed(`${kind}.partial_image`, { b64_json: 'aGk=', partial_image_index: 0 }),
    typed(`${kind}.completed`, { b64_json: 'aGk=', usage }),
  ],
})

const heard = (path: string): Way => ({
  path,
  body: { file: new File(['sound'], 'a.mp3') },
  isForm: true,
  makes: 'text',
  usage: counted,
  whole: (usage) => json({ text: TEXT, usage }),
  stream: (usage) => [
    typed('transcript.text.delta', { delta: TEXT.slice(0, 1000) }),
    typed('transcript.text.delta', { delta: TEXT.slice(1000) }),
    typed('transcript.text.done', { text: TEXT, usage }),
  ],
})

const WAYS: readonly Way[] = [
  drawn('/v1/images/generations', 'image_generation'),
  drawn('/v1/images/edits', 'image_edit'),
  heard('/v1/audio/transcriptions'),
  heard('/v1/audio/translations'),
  {
    path: '/v1/audio/speech',
    body: { input: TEXT, voice: 'alloy' },
    makes: 'sound',
    usage: counted,
    // Sound says nothing of its usage.
    whole: () => reply(['sound'], { headers: { 'content-type': 'audio/mpeg' } }),
    stream: (usage) => [
      typed('speech.audio.delta', { audio: 'aGk=' }),
      typed('speech.audio.delta', { audio: 'aGk=' }),
      typed('speech.audio.done', { usage }),
    ],
  },
  {
    path: '/v1/embeddings',
    body: { input: TEXT },
    usage: (prompt_tokens) => ({ prompt_tokens }),
    whole: (usage) => json({ object: 'list', model: 'm', data: [{ object: 'embedding', index: 0, embedding: [0.5] }], usage }),
  },
  {
    path: '/v1/rerank',
    body: { query: 'Which?', documents: [TEXT] },
    usage: (total_tokens) => ({ total_tokens }),
    whole: (usage) => json({ results: [{ index: 0, relevance_score: 1 }], usage }),
  },
  {
    path: '/v1/moderations',
    body: { input: TEXT },
    usage: counted,
    whole: (usage) => json({ id: 'm', model: 'm', results: [{ flagged: false }], usage }),
  },
]

/** A usage that cannot be charged as it is. */
const IMPOSSIBLE: Readonly<Record<string, (write: Way['usage']) => unknown>> = {
  missing: () => undefined,
  null: () => null,
  negative: (write) => write(-5, -7),
  zeros: (write) => write(0, 0),
  '1e300': (write) => write(1e300, 1e300),
  'of words': (write) => write('12', '2000'),
  fractions: (write) => write(0.5, 0.5),
  'beyond any model': (write) => write(1e12, 1e12),
}

/** US dollars per million tokens. */
const PRICE = { input: 1, output: 10, outputAudio: 20, outputImage: 30 }
const OUTPUT = { picture: PRICE.outputImage, sound: PRICE.outputAudio, text: PRICE.output }

interface Charged {
  readonly estimated: boolean
  readonly costUsd?: number
  readonly tokens?: { readonly input: number; readonly output: number }
}

describe(`An upstream that draws, speaks, hears or reads, at ${WAYS.length} endpoints × ${Object.keys(IMPOSSIBLE).length + 1} usages, whole and streamed,`, () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let key: string

  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startTestGateway({
      env: { KEY: 'key-of-the-upstream' },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          up: { provider: 'openai-compatible', breaker: false, config: { baseUrl: `${upstream.origin}/v1` } },
          gemini: { provider: 'gemini', breaker: false, config: { baseUrl: upstream.origin, apiKey: '${env:KEY}' } },
        },
        prices: { models: { '*': PRICE } },
      },
    })
    key = await gateway.key({ budgets: ['10000 USD/day'] })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  function formOf(members: object): FormData {
    const form = new FormData()
    for (const [name, value] of Object.entries(members)) form.append(name, value instanceof File ? value : String(value))
    return form
  }

  /** `leaveAt`: the client leaves when it has read this text. */
  async function chargedFor({ path, body, isForm }: Way, script: Script, stream: boolean, leaveAt?: string): Promise<Charged> {
    upstream.on(() => script)
    const streamed = path === '/v1/audio/speech' ? { stream_format: 'sse' } : { stream: true }
    const members = { model: 'up/m', ...body, ...(stream && streamed) }
    const leaving = new AbortController()
    const asked = isForm ? { method: 'POST', body: formOf(members) } : { json: members }
    const answer = await gateway.fetch(path, { key, signal: leaving.signal, ...asked })
    let text = ''
    try {
      for await (const bytes of answer.body!) {
        text += Buffer.from(bytes).toString('latin1')
        if (leaveAt !== undefined && text.includes(leaveAt)) leaving.abort()
      }
    } catch {}
    return (await gateway.logged(({ id }) => id === answer.headers.get('x-request-id'))) as unknown as Charged
  }

  /** No less than the vendor bills, or, where its text tells, than its length. */
  function expectEstimate({ makes }: Way, { estimated, costUsd, tokens }: Charged, title: string): void {
    expect(estimated, title).to.equal(true)
    expect(tokens!.input, title).to.be.at.least(1)
    if (makes === 'text') expect(tokens!.output, title).to.be.within(500, 600)
    else if (makes === undefined) expect(tokens, title).to.deep.include({ output: 0 })
    else expect(costUsd, title).to.be.at.least((FINAL.answer * OUTPUT[makes] * 0.7) / 1e6)
  }

  for (const way of WAYS) {
    const kinds = [false, ...(way.stream === undefined ? [] : [true])]
    const scriptOf = (usage: unknown, stream: boolean): Script => (stream ? sse([...way.stream!(usage)]) : way.whole(usage))

    describe(way.path, () => {
      it('is charged by the usage that it reports, exactly', async () => {
        for (const stream of kinds) {
          if (way.makes === 'sound' && !stream) continue
          const answer = way.makes === undefined ? 0 : FINAL.answer
          const { estimated, tokens } = await chargedFor(way, scriptOf(way.usage(FINAL.prompt, answer), stream), stream)
          expect({ stream, estimated }).to.deep.equal({ stream, estimated: false })
          expect(tokens).to.include({ input: FINAL.prompt, output: answer })
        }
      })

      it('is charged by estimate if that is impossible, and what it makes as a budget has reserved it', async () => {
        for (const [name, usageOf] of Object.entries(IMPOSSIBLE)) {
          for (const stream of kinds) {
            const charged = await chargedFor(way, scriptOf(usageOf(way.usage), stream), stream)
            expectEstimate(way, charged, `${name}, stream ${stream}`)
          }
        }
      })

      if (way.stream === undefined) return
      const frames: readonly Step[] = way.stream(way.usage(FINAL.prompt, FINAL.answer))
      const isText = way.makes === 'text'

      it('is charged for a stream that breaks off, ends with an error or is left, once there is something', async () => {
        const error = typed('error', { error: { message: 'It failed.', code: 'server_error' } })
        for (const [count] of frames.slice(1).entries()) {
          const sent = frames.slice(0, count + 1)
          for (const [name, end] of Object.entries({ cut: FIN, error, left: hold() } satisfies Record<string, Step>)) {
            const charged = await chargedFor(way, sse([...sent, end]), true, name === 'left' ? 'data: ' : undefined)
            const title = `${name} after ${sent.length}`
            if (!isText) expectEstimate(way, charged, title)
            else expect(charged.tokens?.output, title).to.be.at.least(250)
          }
        }
      })
    })
  }

  const chunk = (delta: object): string =>
    event({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta, finish_reason: null }],
    })
  const picture = 'iVBORw0KGgo'.repeat(1000)
  // A second, in pieces.
  const second = Array.from({ length: 8 }, (_, at) => chunk({ audio: { data: `${'AAAA'.repeat(2000)}${at}` } }))
  for (const [name, { model, frames, last, least }] of Object.entries({
    'draws a picture': {
      model: 'up/m',
      frames: [chunk({ images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } }] })],
      last: 'iVBORw0KGgo',
      least: 1290 * PRICE.outputImage,
    },
    'draws a picture, as Gemini': {
      model: 'gemini/gemini-2.5-flash-image',
      frames: [event({ candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data: picture } }] } }] })],
      last: 'iVBORw0KGgo',
      least: 1290 * PRICE.outputImage,
    },
    speaks: { model: 'up/m', frames: second, last: 'AAAA7', least: 20 * PRICE.outputAudio },
  }))
    it(`is charged for a chat completion that ${name}, and breaks off or is left`, async () => {
      const body = { model, max_tokens: 8000, messages: [{ role: 'user', content: 'Do.' }] }
      const way: Way = { ...WAYS[0]!, path: '/v1/chat/completions', body }
      const said = model === 'up/m' ? [chunk({ role: 'assistant', content: 'Yes.' }), ...frames] : frames
      for (const [end, step] of Object.entries({ cut: FIN, left: hold() } satisfies Record<string, Step>)) {
        const { estimated, costUsd } = await chargedFor(way, sse([...said, step]), true, end === 'left' ? last : undefined)
        expect(estimated, end).to.equal(true)
        expect(costUsd, end).to.be.at.least(least / 1e6)
      }
    })

  it('says of each picture of a stream what that has used', async () => {
    const [way] = WAYS as [Way]
    const last = way.stream!(way.usage(FINAL.prompt, FINAL.answer)).at(-1)!
    const { estimated, tokens } = await chargedFor(way, sse([last, last, last]), true)
    expect({ estimated, ...tokens }).to.include({ estimated: false, input: 3 * FINAL.prompt, output: 3 * FINAL.answer })
  })
})
