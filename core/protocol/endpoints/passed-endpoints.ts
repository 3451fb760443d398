import { type Call, type EndpointName, promptsOf, type Usage } from '../../sdk/api.ts'
import { isRecord } from '../../sdk/json.ts'
import { refusalOf } from '../../sdk/refusals.ts'
import { chatReply } from '../chat-completions.ts'
import { MEDIA_BYTES, type ModelEndpoint, type ReplyFormat, type ReplyKind, type WholeReply } from '../format.ts'
import type { ScannedReply } from '../upstream-json.ts'
import { type MadeTokens, readUsage } from '../usage.ts'
import { checkOf } from '../validation.ts'
import { MediaEventReader, type MediaEvents } from './event-reader.ts'

/** How an endpoint replies, to clients and by its upstreams. */
interface Replies {
  /** Whether a JSON object has what clients read of a reply. Absent: replies are not JSON. */
  isReply?(reply: ScannedReply): boolean
  /** Absent: the endpoint never streams events. */
  readonly events?: MediaEvents
  /** The content types of replies that are neither JSON nor events. */
  readonly bytes?: RegExp
  /** Absent: events if the client asked for a stream, else JSON. */
  kind?(call: Call): ReplyKind
  usage(reply: object): unknown
  /** Completes a reply that a provider has translated. */
  normalise?(translated: object, call: Call): object
  /** The tokens of the pictures or the sound that replies contain. */
  readonly makes?: MadeTokens
  /** True if a model writes text: then a reply without usage is charged by its length. */
  readonly writes?: true
}

/** An endpoint of OpenAI's API whose requests and replies are passed through. */
interface PassedEndpoint {
  readonly name: EndpointName
  readonly path: string
  readonly form?: ModelEndpoint['form']
  /** The members of a request that every upstream reads alike, as JSON Schema; `required` besides `model`. The upstream checks the rest. */
  readonly request: { readonly required: readonly string[]; readonly properties: Readonly<Record<string, object>> }
  readonly replies: Replies | ReplyFormat
}

const string = { type: 'string' }
const boolean = { type: 'boolean' }
const count = { type: 'integer', minimum: 1 }
const text = { type: ['string', 'array'] }

const image = { prompt: string, n: count, stream: boolean, user: string }

/** Whether a member is a list of these. A long one is not looked through. */
function lists(reply: ScannedReply, key: string, isElement: (element: Readonly<Record<string, unknown>>) => boolean): boolean {
  const elements = reply.get(key) ?? []
  return reply.listsObjects(key) && Array.isArray(elements) && elements.every((each) => isRecord(each) && isElement(each))
}

/** Text completions have the form of chat completions, but a text in the place of a message. */
const completionReply: ReplyFormat = {
  ...chatReply,
  endpoint: 'completions',
  reader: (call) =>
    chatReply.reader!({
      includeUsage: call.includeUsage,
      size: call.size,
      choices: call.choices * promptsOf(call.member?.('prompt')),
    }),
  whole(reply) {
    const facts = chatReply.whole(reply)
    const isReply = facts?.refusal !== undefined || lists(reply, 'choices', ({ text: words }) => typeof words === 'string')
    return isReply ? facts : undefined
  },
}

const imageReplies: Replies = {
  isReply: (reply) => lists(reply, 'data', ({ b64_json, url }) => typeof (b64_json ?? url) === 'string'),
  events: { part: '.partial_image', last: '.completed', content: ['b64_json', 'url'] },
  usage: (reply) => mediaUsage(reply, 'image_tokens'),
  makes: 'image_tokens',
}

/** Some upstreams take a `url` instead of a `file`. */
const recording = { prompt: string, response_format: string, stream: boolean }

/** Formats of transcripts that are no JSON. */
const TEXTS = new Set<unknown>(['text', 'srt', 'vtt'])

const transcripts: Replies = {
  isReply: (reply) => reply.isText('text'),
  events: { part: '.delta', last: '.done', content: ['delta', 'text'] },
  bytes: /^(?:text\/(?:plain|vtt|srt)|application\/(?:x-subrip|json|octet-stream))\b/,
  kind: (call) => (call.stream ? 'events' : TEXTS.has(call.member('response_format')) ? 'bytes' : 'whole'),
  usage: (reply) => mediaUsage(reply),
  writes: true,
}

/** The endpoints, each a row: what it reads, and how it replies. */
const ROWS: readonly PassedEndpoint[] = [
  {
    name: 'completions',
    path: '/v1/completions',
    request: {
      required: [],
      properties: {
        prompt: text,
        stream: boolean,
        stream_options: { type: 'object', properties: { include_usage: { type: ['boolean', 'null'] } } },
        n: { ...count, maximum: 128 },
        best_of: { ...count, maximum: 128 },
        max_tokens: { type: 'integer', minimum: 0 },
        temperature: { type: 'number' },
        top_p: { type: 'number' },
        user: string,
      },
    },
    replies: completionReply,
  },
  {
    name: 'moderations',
    path: '/v1/moderations',
    request: { required: ['input'], properties: { input: text, stream: { enum: [false] } } },
    replies: {
      // A client takes what is not flagged for harmless.
      isReply: (reply) => lists(reply, 'results', ({ flagged }) => typeof flagged === 'boolean'),
      usage: (reply) => mediaUsage(reply),
    },
  },
  {
    name: 'images.generations',
    path: '/v1/images/generations',
    request: { required: ['prompt'], properties: image },
    replies: imageReplies,
  },
  {
    // The newest models also take JSON with references to pictures.
    name: 'images.edits',
    path: '/v1/images/edits',
    form: 'maybe',
    request: { required: ['prompt'], properties: image },
    replies: imageReplies,
  },
  {
    name: 'rerank',
    path: '/v1/rerank',
    request: {
      required: ['query', 'documents'],
      properties: {
        query: string,
        documents: { type: 'array', minItems: 1, items: { type: ['string', 'object'] } },
        top_n: count,
        return_documents: boolean,
        stream: { enum: [false] },
      },
    },
    replies: {
      isReply: (reply) =>
        lists(reply, 'results', ({ index, relevance_score: score }) => Number.isSafeInteger(index) && typeof score === 'number'),
      usage: rerankUsage,
      normalise: completeRanking,
    },
  },
  {
    name: 'audio.speech',
    path: '/v1/audio/speech',
    request: {
      required: ['input'],
      properties: { input: string, stream: boolean, stream_format: string, response_format: string },
    },
    replies: {
      events: { part: '.delta', last: '.done', content: ['audio'] },
      bytes: /^(?:audio\/|application\/octet-stream\b)/,
      kind: (call) => (call.stream || call.member('stream_format') === 'sse' ? 'events' : 'bytes'),
      usage: (reply) => mediaUsage(reply, 'audio_tokens'),
      makes: 'audio_tokens',
    },
  },
  {
    name: 'audio.transcriptions',
    path: '/v1/audio/transcriptions',
    form: 'always',
    request: { required: [], properties: recording },
    replies: transcripts,
  },
  {
    name: 'audio.translations',
    path: '/v1/audio/translations',
    form: 'always',
    request: { required: [], properties: recording },
    replies: transcripts,
  },
]

/** The endpoints of OpenAI's API that providers with such an upstream serve, and no other: nothing is translated. */
export const passedEndpoints: readonly ModelEndpoint[] = ROWS.map(toEndpoint)

function toEndpoint({ name, path, form, request, replies }: PassedEndpoint): ModelEndpoint {
  const { required, properties } = request
  const schema = { type: 'object', required: ['model', ...required], properties: { model: string, ...properties } }
  const reply = 'endpoint' in replies ? replies : toFormat(name, replies)
  return { name, path, check: checkOf(schema), ...(form && { form }), reply }
}

function toFormat(
  endpoint: EndpointName,
  { isReply, events, bytes, kind, usage, normalise, writes, makes }: Replies,
): ReplyFormat {
  return {
    endpoint,
    ...(events && { reader: (call) => new MediaEventReader({ events, usage, makes }, call), typed: true, done: '' }),
    ...(bytes && { bytes }),
    ...(kind && { kind }),
    ...(makes && { maxBytes: MEDIA_BYTES, makes }),
    whole: (reply) => readWhole(reply, isReply, usage),
    usage,
    normalise: normalise ?? ((translated) => translated),
    generates: writes === true,
  }
}

function readWhole(reply: ScannedReply, isReply: Replies['isReply'], usageOf: Replies['usage']): WholeReply | undefined {
  if (reply.has('error')) return { refusal: refusalOf(reply.pick('error')) }
  if (isReply?.(reply) !== true) return undefined
  return { usage: usageOf(reply.pick('usage', 'meta')) }
}

/** Adds what clients of Jina's expect: the model, and the documents if they ask for them. */
function completeRanking(translated: object, call: Call): object {
  const documents = call.member('return_documents') === true ? (call.member('documents') as readonly unknown[]) : undefined
  const { results } = translated as { readonly results: readonly { readonly index: number }[] }
  const ranked = results.map((rank) => ({ ...rank, ...(documents && { document: documentOf(documents[rank.index]) }) }))
  return { object: 'list', model: call.model.id, ...translated, results: ranked }
}

const documentOf = (document: unknown) => (typeof document === 'string' ? { text: document } : document)

/** The usage of images and audio, as OpenAI writes it. Some endpoints name the details of the input in the singular. */
interface MediaUsage {
  readonly input_tokens?: unknown
  readonly output_tokens?: unknown
  readonly total_tokens?: unknown
  readonly input_tokens_details?: object
  readonly input_token_details?: object
  readonly output_tokens_details?: object
}

/**
 * Reads the usage of a reply by the names of chat completions, which limits, metrics, prices and usage rows use. `output`: what the model
 * generates, unless the upstream reports details. Undefined for a usage in seconds, and without one.
 */
function mediaUsage(reply: object, output?: MadeTokens): Partial<Usage> | undefined {
  const { usage } = reply as { readonly usage?: MediaUsage | null }
  if (typeof usage !== 'object' || usage === null) return undefined
  const { input_tokens, output_tokens, total_tokens, output_tokens_details } = usage
  const generated = output && { [output]: output_tokens }
  return readUsage({
    prompt_tokens: input_tokens,
    completion_tokens: output_tokens,
    total_tokens,
    prompt_tokens_details: usage.input_tokens_details ?? usage.input_token_details,
    completion_tokens_details: output_tokens_details ?? generated,
  })
}

/** The tokens that a rerank has read: Jina reports them in `usage`, Cohere in `meta`. Cohere bills searches, which are no tokens. */
function rerankUsage(reply: object): Partial<Usage> | undefined {
  const { usage, meta } = reply as {
    readonly usage?: { readonly total_tokens?: unknown } | null
    readonly meta?: { readonly tokens?: { readonly input_tokens?: unknown } | null } | null
  }
  const tokens = usage?.total_tokens ?? meta?.tokens?.input_tokens
  return readUsage({ prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens })
}
