// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import { event, json, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { rawHttp } from '../../support/raw-http.ts'
import { onGoogleCloud } from '../clients/fixture.ts'
import { mutantsOf, streamMutantsOf } from './mutants.ts'

// biome-ignore lint/suspicious/noExplicitAny: the tests read a few members of the replies of many endpoints
type Members = Readonly<Record<string, any>>

/** An endpoint beside those of chats, and what a client reads of its replies. */
interface Endpoint {
  readonly path: string
  readonly body: object
  /** Sent as a form. */
  readonly form?: true
  readonly whole: object
  readonly stream?: readonly object[]
  /** What the client uses of the spare's answer. Absent: the same. */
  readonly spare?: unknown
  /** What a client uses of a whole reply. Throws for a reply that it cannot use. */
  read(reply: Members): unknown
  /** The same, of the events of a stream. */
  readEvents?(events: readonly Members[]): unknown
}

const text = (value: unknown): string => {
  expect(value).to.be.a('string')
  return value as string
}
const number = (value: unknown): number => {
  expect(value).to.satisfy(Number.isFinite)
  return value as number
}
const some = (list: unknown): readonly Members[] => {
  expect(list).to.be.an('array').that.is.not.empty
  return list as readonly Members[]
}

const floats = (...values: number[]): string => Buffer.from(Float32Array.from(values).buffer).toString('base64')
const list = (...embeddings: unknown[]) => ({
  object: 'list',
  data: embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding })),
  model: 'm',
  usage: { prompt_tokens: 5, total_tokens: 5 },
})
/** The numbers of vectors, each of two. */
const vectors = ({ data }: Members, vectorOf: (embedding: unknown) => readonly number[]) =>
  some(data).map(({ embedding }) => {
    const vector = vectorOf(embedding)
    expect(vector).to.have.length(2)
    return vector.map(number)
  })
const decoded = (embedding: unknown): number[] => {
  const bytes = Buffer.from(text(embedding), 'base64')
  return [0, 4].map((at) => bytes.readFloatLE(at))
}

const picture = { path: '', body: { prompt: 'A fox' }, whole: { created: 1, data: [{ b64_json: 'Zm94' }] } }
const readPictures = ({ data }: Members) => some(data).map(({ b64_json, url }) => text(b64_json ?? url))
const TRANSCRIPT = {
  form: true as const,
  body: {},
  whole: { text: 'Hello', usage: { type: 'tokens', input_tokens: 3, output_tokens: 1, total_tokens: 4 } },
  stream: [
    { type: 'transcript.text.delta', delta: 'Hel' },
    { type: 'transcript.text.done', text: 'Hello' },
  ],
  read: (reply: Members) => text(reply.text),
  readEvents: (events: readonly Members[]) =>
    text(
      events.findLast(({ text: whole }) => whole != null)?.text ??
        events
          .flatMap(({ delta }) => delta ?? [])
          .map(text)
          .join(''),
    ),
}

const ENDPOINTS = {
  completions: {
    path: '/v1/completions',
    body: { prompt: 'Once' },
    whole: { id: 'cmpl-1', object: 'text_completion', choices: [{ index: 0, text: ' upon', finish_reason: 'stop' }] },
    read: ({ choices }) => some(choices).map(({ text: written }) => text(written)),
  },
  'counts of tokens': {
    path: '/v1/messages/count_tokens',
    body: { messages: [{ role: 'user', content: 'Hi' }] },
    whole: { input_tokens: 14 },
    spare: [8],
    read: ({ input_tokens: count }) => [number(count)],
  },
  embeddings: {
    path: '/v1/embeddings',
    body: { input: ['a', 'b'], encoding_format: 'float' },
    whole: list([0.25, 0.5], [1, 2]),
    read: (reply) => vectors(reply, (embedding) => embedding as number[]),
  },
  'embeddings in base64': {
    path: '/v1/embeddings',
    body: { input: ['a', 'b'], encoding_format: 'base64' },
    whole: list(floats(0.25, 0.5), floats(1, 2)),
    read: (reply) => vectors(reply, decoded),
  },
  rerank: {
    path: '/v1/rerank',
    body: { query: 'fox', documents: ['a fox', 'a dog'] },
    whole: { results: [0, 1].map((index) => ({ index, relevance_score: 0.75 - index / 2 })), usage: { total_tokens: 8 } },
    read: ({ results }) => some(results).map(({ index, relevance_score }) => [number(index), number(relevance_score)]),
  },
  moderations: {
    path: '/v1/moderations',
    body: { input: 'I hate this' },
    whole: { id: 'modr-1', model: 'm', results: [{ flagged: true, categories: { hate: true } }] },
    read: ({ results }) =>
      some(results).map(({ flagged }) => {
        expect(flagged).to.be.a('boolean')
        return flagged
      }),
  },
  images: {
    ...picture,
    path: '/v1/images/generations',
    stream: [
      { type: 'image_generation.partial_image', b64_json: 'Zm9', partial_image_index: 0 },
      { type: 'image_generation.completed', b64_json: 'Zm94', usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } },
    ],
    read: readPictures,
    readEvents: (events) => text(events.findLast(({ b64_json }) => b64_json != null)?.b64_json),
  },
  'edits of images': { ...picture, path: '/v1/images/edits', body: { prompt: 'A fox', images: [] }, read: readPictures },
  transcriptions: { ...TRANSCRIPT, path: '/v1/audio/transcriptions' },
  translations: { ...TRANSCRIPT, path: '/v1/audio/translations' },
  speech: {
    path: '/v1/audio/speech',
    body: { input: 'Hello', voice: 'alloy', stream_format: 'sse' },
    whole: {},
    stream: [
      { type: 'speech.audio.delta', audio: 'Zm94' },
      { type: 'speech.audio.done', usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } },
    ],
    read: () => undefined,
    readEvents: (events) => events.flatMap(({ audio }) => audio ?? []).map(text),
  },
} as const satisfies Readonly<Record<string, Endpoint>>

/** An upstream, and its replies to the endpoints that it serves in a format of its own. */
interface Upstream {
  readonly provider: string
  config(origin: string): object
  /** Members within a content that is passed on byte for byte: they are between upstream and client. */
  readonly own?: RegExp
  readonly serves: Readonly<
    Partial<Record<keyof typeof ENDPOINTS, { readonly model: string; readonly whole?: object; readonly body?: object }>>
  >
}

const KEY = '${env:KEY}'
const GOOGLE = {
  candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'Zm94' } }] }, finishReason: 'STOP' }],
}
const RANKING = { id: 'r', results: [0, 1].map((index) => ({ index, relevance_score: 0.75 - index / 2 })) }

const UPSTREAMS: Readonly<Record<string, Upstream>> = {
  'openai-compatible': {
    provider: 'openai-compatible',
    config: (origin) => ({ baseUrl: `${origin}/v1`, apiKey: KEY }),
    own: /^data\[\d\]\.embedding\[\d\]$/,
    serves: Object.fromEntries(
      Object.keys(ENDPOINTS)
        .filter((name) => name !== 'counts of tokens')
        .map((name) => [name, { model: 'm' }]),
    ),
  },
  gemini: {
    provider: 'gemini',
    config: (origin) => ({ baseUrl: origin, apiKey: KEY }),
    serves: {
      embeddings: { model: 'gemini-embedding-001', whole: { embeddings: [{ values: [0.25, 0.5] }, { values: [1, 2] }] } },
      'embeddings in base64': {
        model: 'gemini-embedding-001',
        whole: { embeddings: [{ values: [0.25, 0.5] }, { values: [1, 2] }] },
      },
      images: { model: 'gemini-2.5-flash-image', whole: GOOGLE },
      'counts of tokens': { model: 'gemini-2.5-pro', whole: { totalTokens: 7 } },
    },
  },
  anthropic: {
    provider: 'anthropic',
    config: (origin) => ({ baseUrl: origin, apiKey: KEY }),
    serves: { 'counts of tokens': { model: 'claude-haiku-4-5' } },
  },
  vertex: {
    provider: 'vertex',
    config: (origin) => ({ project: 'acme-ai', region: 'us-east5', baseUrl: origin }),
    serves: {
      'counts of tokens': { model: 'claude-haiku-4-5@20251001' },
      embeddings: {
        model: 'text-embedding-005',
        whole: {
          predictions: [
            [0.25, 0.5],
            [1, 2],
          ].map((values) => ({ embeddings: { values, statistics: { token_count: 2 } } })),
        },
      },
    },
  },
  cohere: {
    provider: 'cohere',
    config: (origin) => ({ baseUrl: origin, apiKey: KEY }),
    serves: {
      embeddings: {
        model: 'embed-v4.0',
        whole: {
          embeddings: {
            float: [
              [0.25, 0.5],
              [1, 2],
            ],
          },
        },
      },
      rerank: { model: 'rerank-v4.0', whole: RANKING },
    },
  },
  bedrock: {
    provider: 'bedrock',
    config: (origin) => ({ region: 'us-east-1', baseUrl: origin, apiKey: KEY }),
    serves: {
      'counts of tokens': { model: 'us.anthropic.claude-sonnet-4-6', whole: { inputTokens: 7 } },
      embeddings: {
        model: 'cohere.embed-v4:0',
        whole: {
          embeddings: {
            float: [
              [0.25, 0.5],
              [1, 2],
            ],
          },
        },
      },
      rerank: { model: 'cohere.rerank-v3-5:0', whole: RANKING },
    },
  },
}

describe('A reply of another endpoint with a member of a wrong type is read right, or another target answers', () => {
  let gateway: TestGateway
  let spare: ScriptedUpstream
  const upstreams = new Map<string, ScriptedUpstream>()
  const opened = new AsyncDisposableStack()

  before(async () => {
    const start = async () => opened.adopt(await scriptedUpstream(), (upstream) => upstream.close())
    opened.defer(onGoogleCloud(await start()))
    spare = await start()
    const namespaces: Record<string, object> = {
      spare: { provider: 'openai-compatible', breaker: false, config: { baseUrl: `${spare.origin}/v1` } },
    }
    const models: Record<string, object> = {}
    for (const [name, { provider, config, serves }] of Object.entries(UPSTREAMS)) {
      const upstream = await start()
      upstreams.set(name, upstream)
      namespaces[name] = { provider, breaker: false, config: config(upstream.origin) }
      for (const [endpoint, { model }] of Object.entries(serves))
        models[modelOf(name, endpoint)] = { targets: [{ model: `${name}/${model}` }], fallbacks: ['spare/m'] }
    }
    const routes = { chain: [{ plugin: 'auth' }], namespaces: { ...namespaces, acme: { models } } }
    gateway = await startTestGateway({ env: { KEY: 'sk-of-the-upstream' }, routes })
    opened.defer(() => gateway.stop())
  })
  after(() => opened.disposeAsync())

  const modelOf = (upstream: string, endpoint: string) => `${upstream}-${endpoint.replaceAll(' ', '-')}`

  /** What the client uses of the reply, or the code of the error. */
  async function ask(name: string, { path, body, form, read, readEvents }: Endpoint, stream: boolean): Promise<string> {
    const asked = { ...body, model: `acme/${name}`, ...(stream && { stream }) }
    const parts = new FormData()
    for (const [key, value] of Object.entries(asked)) parts.append(key, String(value))
    if (form) parts.append('file', new Blob(['sound']), 'a.mp3')
    const encoded = new Response(form ? parts : JSON.stringify(asked))
    const reply = await rawHttp(`${gateway.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.liveKey}`,
        'content-type': form ? encoded.headers.get('content-type')! : 'application/json',
      },
      body: await encoded.text(),
    })
    const got = await reply.text()
    if (reply.status !== 200) return `${reply.status}`
    if (!stream) return JSON.stringify(read(JSON.parse(got)))
    const events: Members[] = got.split('\n\n').flatMap(
      (frame) =>
        /^data: (\{.*)$/m
          .exec(frame)
          ?.slice(1)
          .map((data) => JSON.parse(data)) ?? [],
    )
    const failed = events.find(({ error }) => error != null)
    return failed === undefined ? JSON.stringify(readEvents!(events)) : String(failed.error.code)
  }

  for (const named of ['images', 'transcriptions', 'translations', 'speech'] as const) {
    it(`openai-compatible: ${named}, streamed, with its last event or its parts under another name`, async () => {
      const endpoint: Endpoint = ENDPOINTS[named]
      const events = endpoint.stream as readonly Members[]
      const framed = (sent: readonly Members[]) => sent.map((one) => event(one, one.type))
      const riddle = (one: Members) => ({ ...one, type: 'riddle' })
      const answer = async (sent: readonly string[]) => {
        upstreams.get('openai-compatible')!.on(() => sse(sent))
        return await ask(modelOf('openai-compatible', named), endpoint, true)
      }
      spare.on(() => sse(framed(events)))
      const last = events.length - 1
      const renamed = events.map((one, index) => (index === last ? riddle(one) : one))
      const lost = events.slice(0, last).map(riddle)
      for (const end of [[], ['data: [DONE]\n\n']]) {
        expect(await answer([...framed(renamed), ...end]), 'the last event renamed').to.match(/^upstream_/)
        expect(await answer([...framed(lost), ...end]), 'nothing known').to.equal(await answer(framed(events)))
      }
    })
  }

  for (const [name, { own: between, serves }] of Object.entries(UPSTREAMS)) {
    for (const [named, own] of Object.entries(serves)) {
      const endpoint: Endpoint = ENDPOINTS[named as keyof typeof ENDPOINTS]
      for (const stream of endpoint.stream === undefined || own.whole !== undefined ? [false] : [false, true]) {
        if (!stream && named === 'speech') continue
        it(`${name}: ${named}${stream ? ', streamed' : ''}`, async () => {
          const framed = (endpoint.stream ?? []).map((one) => event(one, (one as Members).type))
          spare.on(() => (stream ? sse(framed) : json(endpoint.whole)))
          const problems: string[] = []
          const answer = async (value: unknown) => {
            upstreams.get(name)!.on(() => (stream ? sse(value as string[]) : json(value)))
            return await ask(modelOf(name, named), endpoint, stream)
          }
          const good = await answer(stream ? framed : (own.whole ?? endpoint.whole))
          expect(good, 'the good reply').to.match(/^[["t]/)
          for (const mutant of stream ? streamMutantsOf(framed) : mutantsOf(own.whole ?? endpoint.whole)) {
            if (between?.test(mutant.path)) continue
            try {
              const heard = await answer(mutant.value)
              // A value of the right type is the upstream's own, and a stream may have begun.
              const isOwn = !mutant.isWrong || /index|score|flagged/.test(mutant.member)
              const isSpare = heard === JSON.stringify(endpoint.spare)
              if (heard !== good && !isSpare && !isOwn && !(stream && heard.startsWith('upstream_')))
                problems.push(`${mutant.name} → ${heard}`)
              if (/^(?:4|500)/.test(heard)) problems.push(`${mutant.name} → ${heard}`)
            } catch (error) {
              problems.push(`${mutant.name} → ${String((error as Error).message).split('\n')[0]}`)
            }
          }
          expect(problems.join('\n')).to.equal('')
        }).timeout(60_000)
      }
    }
  }
})
