import type { PicturePrice } from '../../../core/limits/prices/price.ts'
import { isRecord } from '../../../core/sdk/json.ts'
import {
  DONE,
  event,
  FIN,
  hold,
  json,
  type ReceivedRequest,
  reply,
  type Script,
  type ScriptedUpstream,
  type Step,
  scriptedUpstream,
  sse,
} from '../../../core/testing/kit.ts'

/** What a response that is complete has. */
const ITEMS = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi', annotations: [] }] }]

/**
 * How a reply ends: whole, streamed to its end, broken off, by an error event, left by the client after some text, or `replaced`: it fails before its
 * first text, says that it has used all that the request allows, and a fallback replies.
 */
export const ENDS = ['whole', 'streamed', 'cut', 'error', 'aborted', 'replaced'] as const
export type End = (typeof ENDS)[number]

/** A request of an attacker, by which a call may cost far more than it seems to. */
export interface Attack {
  readonly path: string
  /** The members that cost. */
  readonly title: string
  readonly body: Readonly<Record<string, unknown>>
  /** Whether the members are parts of a form. */
  readonly isForm: boolean
}

/** The members of an endpoint: the least that it requires, and what may be added, each beside each. */
interface Surface {
  readonly path: string
  readonly isForm?: true
  /** The members by which answers are streamed. Absent: they never are. */
  readonly streams?: Readonly<Record<string, unknown>>
  readonly model: string
  readonly least: Readonly<Record<string, unknown>>
  readonly costly: readonly Readonly<Record<string, unknown>>[]
}

const STREAM = { stream: true }
const PICTURE = 'https://pictures.example/1.png'
const TIERS = [{ service_tier: 'priority' }, { service_tier: 'flex' }]

/** Characters of which each byte is a token. */
const RARE = '\u{12345}'.repeat(2000)

const chatWith = (...parts: object[]) => ({ messages: [{ role: 'user', content: parts }] })

const DRAWN = new File(['a picture'], 'cat.png', { type: 'image/png' })
const SPOKEN = new File(['a recording'], 'said.mp3', { type: 'audio/mpeg' })

const SURFACES: readonly Surface[] = [
  {
    path: '/v1/chat/completions',
    streams: STREAM,
    model: 'up/text',
    least: { messages: [{ role: 'user', content: 'Hi.' }] },
    costly: [
      { max_tokens: 2000 },
      { max_completion_tokens: 500 },
      { max_output_tokens: 1 },
      { n: 5 },
      { best_of: '5' },
      { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
      { prediction: { type: 'content', content: 'as it was '.repeat(500) } },
      chatWith({ type: 'text', text: RARE }),
      chatWith({ type: 'image_url', image_url: { url: PICTURE } }, { type: 'image_url', image_url: { url: PICTURE } }),
      chatWith({ type: 'file', file: { file_id: 'file-1' } }),
      { web_search_options: {} },
      { tools: [{ type: 'web_search' }] },
      ...TIERS,
    ],
  },
  {
    path: '/v1/messages',
    streams: STREAM,
    model: 'claude/text',
    least: { max_tokens: 1000, messages: [{ role: 'user', content: 'Hi.' }] },
    costly: [
      { max_tokens: 100_000 },
      { max_tokens: 1000, thinking: { type: 'enabled', budget_tokens: 60_000 } },
      { speed: 'fast' },
      { inference_geo: 'us' },
      { service_tier: 'priority' },
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      { mcp_servers: [{ type: 'url', url: 'https://mcp.example', name: 'm' }] },
      { system: RARE },
      chatWith({ type: 'image', source: { type: 'url', url: PICTURE } }, { type: 'text', text: 'What is it?' }),
      chatWith({ type: 'document', source: { type: 'url', url: 'https://files.example/1.pdf' } }),
    ],
  },
  {
    path: '/v1/responses',
    streams: STREAM,
    model: 'up/text',
    least: { input: 'Hi.' },
    costly: [
      { max_output_tokens: 3000 },
      { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
      { tools: [{ type: 'image_generation' }] },
      { instructions: RARE },
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: PICTURE }] }] },
      { input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://files.example/1.pdf' }] }] },
      ...TIERS,
    ],
  },
  {
    path: '/v1/completions',
    streams: STREAM,
    model: 'up/text',
    least: { prompt: 'Once' },
    costly: [
      { max_tokens: 900 },
      { prompt: Array.from({ length: 20 }, () => 'Once') },
      { prompt: [[1, 2, 3], [4, 5], [6]] },
      { prompt: RARE },
      { best_of: 20 },
      { n: 4 },
      ...TIERS,
    ],
  },
  {
    path: '/v1/images/generations',
    model: 'up/picture',
    least: { prompt: 'A cat.' },
    costly: [{ n: 10 }, { size: '1024x1792' }, { size: 'unheard of' }, { quality: 'hd' }, { quality: 'low' }, ...TIERS],
  },
  {
    path: '/v1/images/generations',
    streams: STREAM,
    model: 'up/drawn',
    least: { prompt: 'A cat.', quality: 'low' },
    costly: [{ n: 2 }, { quality: 'high' }, { quality: 'auto' }, { partial_images: 3 }],
  },
  {
    path: '/v1/images/edits',
    isForm: true,
    streams: STREAM,
    model: 'up/drawn',
    least: { prompt: 'A cat.', quality: 'low', image: DRAWN },
    costly: [{ n: 2 }, { quality: 'high' }, { input_fidelity: 'high' }, { image: [DRAWN, DRAWN, DRAWN] }],
  },
  {
    path: '/v1/images/edits',
    isForm: true,
    model: 'up/picture',
    least: { prompt: 'A cat.', image: DRAWN },
    costly: [{ n: 10 }, { size: '1024x1792' }, { quality: 'hd' }, { image: [DRAWN, DRAWN, DRAWN] }, { mask: DRAWN }],
  },
  ...['transcriptions', 'translations'].map((name) => ({
    path: `/v1/audio/${name}`,
    isForm: true as const,
    streams: STREAM,
    model: 'up/transcript',
    least: { file: SPOKEN },
    costly: [{ prompt: 'A name. '.repeat(500) }, { response_format: 'verbose_json' }, { language: 'en' }],
  })),
  {
    path: '/v1/embeddings',
    model: 'up/vector',
    least: { input: 'Hi.' },
    costly: [{ input: Array.from({ length: 3000 }, () => 1) }, { input: 'word '.repeat(10_000) }, ...TIERS],
  },
  {
    path: '/v1/moderations',
    model: 'up/rank',
    least: { input: 'Hi.' },
    costly: [{ input: 'word '.repeat(10_000) }, { input: Array.from({ length: 100 }, () => 'Hi.') }],
  },
  {
    path: '/v1/audio/speech',
    streams: { stream_format: 'sse' },
    model: 'up/speech',
    least: { input: 'Hi.', voice: 'alloy' },
    costly: [{ input: 'Read me. '.repeat(100) }, { speed: 0.25 }, { instructions: 'Very slowly.' }],
  },
  {
    path: '/v1/rerank',
    model: 'up/rank',
    least: { query: 'Which?', documents: ['One.'] },
    costly: [{ documents: Array.from({ length: 250 }, () => 'One.') }, { query: 'Which? '.repeat(200) }],
  },
]

const attackOf = ({ path, model, least, isForm }: Surface, members: object): Attack => ({
  path,
  title: JSON.stringify(members).slice(0, 100),
  body: { model, ...least, ...members },
  isForm: isForm === true,
})

/** All calls with at most two costly members. */
export const ATTACKS: readonly Attack[] = SURFACES.flatMap((surface) => {
  const { costly } = surface
  const pairs = costly.flatMap((first, at) => [first, ...costly.slice(at + 1).map((second) => ({ ...first, ...second }))])
  return [{}, ...pairs].map((members) => attackOf(surface, members))
})

/** All streams with at most one costly member. */
const STREAMS: readonly Attack[] = SURFACES.filter(({ streams }) => streams).flatMap((surface) =>
  [{}, ...surface.costly].map((members) => attackOf(surface, { ...members, ...surface.streams })),
)

/** Those whose cost can be known if they break off: the length of a prompt of rare characters tells too little of its tokens. */
export const STREAMED: readonly Attack[] = STREAMS.filter(({ body }) => !JSON.stringify(body).includes(RARE))

/** Those that write text, to models that have a fallback, `either/up` and `either/claude`, whole and streamed. */
export const REPLACED: readonly Attack[] = STREAMS.filter(({ body }) => String(body.model).endsWith('/text')).flatMap((each) => {
  const body = { ...each.body, model: String(each.body.model).replace(/^(.*)\/text$/, 'either/$1') }
  return [true, false].map((stream) => ({ ...each, title: `${each.title} ${stream}`, body: { ...body, stream } }))
})

/** US dollars: per million tokens, for a picture by size and quality, for a search. */
const [INPUT, OUTPUT, AUDIO, DRAWN_RATE, PICTURES, SEARCH] = [
  5,
  20,
  80,
  40,
  [
    { usd: 0.12, size: '1024x1792', quality: 'hd' },
    { usd: 0.08, size: '1024x1792' },
    { usd: 0.08, quality: 'hd' },
    { usd: 0.02, quality: 'low' },
    { usd: 0.04 },
  ],
  0.002,
] as const
const FACTORS = { service_tier: { priority: 2, flex: 0.5 }, speed: { fast: 6 }, inference_geo: { us: 1.1 } }

const TEXT = { input: INPUT, output: OUTPUT, outputAudio: AUDIO, variants: { service_tier: FACTORS.service_tier } }
const CLAUDE = { input: INPUT, output: OUTPUT, variants: { speed: FACTORS.speed, inference_geo: FACTORS.inference_geo } }

/** The prices of the models of `ATTACKS`, as routes.yaml has them. */
export const PRICES = {
  'up/text': TEXT,
  'again/text': TEXT,
  'claude/text': CLAUDE,
  'claude-again/text': CLAUDE,
  'up/picture': { input: INPUT, output: 0, pictures: PICTURES },
  'up/drawn': { input: INPUT, output: OUTPUT, outputImage: DRAWN_RATE },
  'up/transcript': { input: 0.1, inputAudio: 0.2, output: 1 },
  'up/vector': { input: INPUT, output: 0, variants: { service_tier: FACTORS.service_tier } },
  'up/speech': { input: INPUT, output: OUTPUT, outputAudio: AUDIO },
  'up/rank': { input: INPUT, output: 0, search: SEARCH },
}

/** A vendor that bills the worst which each request allows. */
export interface DearUpstream {
  readonly upstream: ScriptedUpstream
  /** US dollars that it has billed. */
  readonly billed: () => number
  /** How its streams end from now on. */
  endWith(end: End): void
  close(): Promise<void>
}

/** What the largest picture and a file cost, in tokens: what the vendors' pages say, and a book. */
const [PICTURE_TOKENS, FILE_TOKENS, UNCAPPED_TOKENS] = [4784, 150_000, 100_000]

/** `honoursCaps`: whether it writes no more than a request allows. */
export async function dearUpstream({ honoursCaps }: { readonly honoursCaps: boolean }): Promise<DearUpstream> {
  const upstream = await scriptedUpstream()
  let billed = 0
  let end: End = 'whole'
  upstream.on(async (request) => {
    const asked = await bodyOf(request)
    const { usd, input, begun, reply: body } = worstOf(request.path, asked, honoursCaps)
    const isFailing = end === 'replaced' && !request.path.startsWith('/again/')
    const isWhole = end === 'whole' || end === 'streamed' || end === 'replaced'
    // Of an answer that is not finished, the vendor bills the prompt and what it has written.
    billed += isWhole ? usd : begun
    const ending = end === 'replaced' && !isFailing ? 'whole' : end
    if (String(asked.stream) === 'true' || asked.stream_format === 'sse')
      return streamOf(request.path, { input, reply: body, end: ending })
    if (isFailing) return json({ ...body, ...FAILURE })
    return request.path.endsWith('/speech') ? reply(['sound'], { headers: { 'content-type': 'audio/mpeg' } }) : json(body)
  })
  return {
    upstream,
    billed: () => billed,
    endWith(next) {
      end = next
    },
    close: () => upstream.close(),
  }
}

type Body = Readonly<Record<string, unknown>>

/** The members of a request. Of a form, those of one name are a list. */
async function bodyOf({ headers, body }: ReceivedRequest): Promise<Body> {
  const type = headers['content-type']!
  if (!type.startsWith('multipart/')) return JSON.parse(body.toString()) as Body
  const form = await new Response(body, { headers: { 'content-type': type } }).formData()
  return Object.fromEntries(
    [...new Set(form.keys())].map((name) => {
      const [first, ...others] = form.getAll(name).map((value) => (/^\d+$/.test(String(value)) ? Number(value) : value))
      return [name.replace('[]', ''), others.length === 0 ? first : [first, ...others]]
    }),
  )
}

/** What a stream says before it ends too early. */
export const SAID = 'word '.repeat(200)
const SAID_TOKENS = 250

/** The events of a stream with this end. `reply`: what it would have replied as a whole, with its usage. */
function streamOf(path: string, { input, reply: whole, end }: { input: number; reply: object; end: End }): Script {
  const { begin, last, error, used } = eventsOf(path, input, whole)
  if (end === 'replaced') return sse([used, error])
  const ending = { whole: last, streamed: last, cut: [FIN], error: [error], aborted: [hold()] } satisfies Record<string, Step[]>
  return sse([...begin, ...ending[end]])
}

const MESSAGE = 'The server had an error.'
/** In a reply that is no stream. */
const FAILURE = { error: { message: MESSAGE, type: 'api_error', code: 500 } }

const named = (data: { readonly type: string; readonly [member: string]: unknown }): string => event(data, data.type)

/** The events of a stream: its begin, its end, an error, and one that says before any text what has been used. */
interface Events {
  readonly begin: string[]
  readonly last: string[]
  readonly error: string
  readonly used: string
}

function eventsOf(path: string, input: number, whole: object): Events {
  const { usage } = whole as { usage: object }
  const message = MESSAGE
  if (path.endsWith('/messages')) {
    const started = { ...whole, usage: { input_tokens: input, output_tokens: 1 } }
    return {
      begin: [
        named({ type: 'message_start', message: started }),
        named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
        named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: SAID } }),
      ],
      last: [
        named({ type: 'content_block_stop', index: 0 }),
        named({ type: 'message_delta', delta: { stop_reason: 'max_tokens' }, usage }),
        named({ type: 'message_stop' }),
      ],
      error: named({ type: 'error', error: { type: 'api_error', message } }),
      used: named({ type: 'message_start', message: whole }),
    }
  }
  if (path.endsWith('/responses')) {
    return {
      begin: [
        named({ type: 'response.created', response: { ...whole, status: 'in_progress', usage: null } }),
        named({ type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta: SAID }),
      ],
      last: [named({ type: 'response.completed', response: whole })],
      error: named({ type: 'error', code: 'server_error', message }),
      used: named({ type: 'response.created', response: { ...whole, status: 'in_progress' } }),
    }
  }
  const { type, content } = MEDIA_EVENTS.find(([end]) => path.endsWith(end))?.[1] ?? {}
  if (type !== undefined && content !== undefined) {
    const { data } = whole as { readonly data?: readonly object[] }
    const pictures = data ?? [{}]
    return {
      begin: [named({ type: type.begun, [content]: SAID })],
      // Each picture says what it has used.
      last: pictures.map(() => named({ type: type.last, [content]: SAID, usage: shareOf(usage, pictures.length) })),
      error: named({ type: 'error', error: { message } }),
      used: '',
    }
  }
  const chunk = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'text' }
  const sayAs = (text: string): object => (path.includes('chat') ? { delta: { content: text } } : { text })
  const choice = (said: string, finish_reason: string | null) => ({
    ...chunk,
    choices: [{ index: 0, ...sayAs(said), finish_reason }],
  })
  return {
    begin: [event(choice(SAID, null))],
    last: [event(choice('', 'length')), event({ ...chunk, choices: [], usage }), DONE],
    error: event({ error: { message, code: 500 } }),
    used: event({ ...chunk, choices: [], usage }),
  }
}

/** By the end of the path: the types of the first and the last events of what is no text, or was none, and the member with its content. */
const MEDIA_EVENTS = Object.entries({
  generations: { type: { begun: 'image_generation.partial_image', last: 'image_generation.completed' }, content: 'b64_json' },
  edits: { type: { begun: 'image_edit.partial_image', last: 'image_edit.completed' }, content: 'b64_json' },
  transcriptions: { type: { begun: 'transcript.text.delta', last: 'transcript.text.done' }, content: 'delta' },
  translations: { type: { begun: 'transcript.text.delta', last: 'transcript.text.done' }, content: 'delta' },
  speech: { type: { begun: 'speech.audio.delta', last: 'speech.audio.done' }, content: 'audio' },
})

/** The part of a usage that one of so many pictures has. */
const shareOf = (usage: object, pictures: number): object =>
  pictures === 1
    ? usage
    : Object.fromEntries(Object.entries(usage).map(([name, tokens]) => [name, Math.ceil(Number(tokens) / pictures)]))

/** What a vendor bills for a call. */
interface Worst {
  readonly usd: number
  /** Tokens of the prompt. */
  readonly input: number
  /** US dollars for the prompt and what the begin of a stream says. */
  readonly begun: number
  readonly reply: object
}

function worstOf(path: string, body: Body, honoursCaps: boolean): Worst {
  const input = promptTokens(body)
  const {
    usd,
    begun = ((input * INPUT + SAID_TOKENS * OUTPUT) / 1e6) * factorOf(body),
    reply: said,
  } = billOf(path, body, honoursCaps)
  return { usd, input, begun, reply: said }
}

const factorOf = (body: Body): number =>
  Object.entries(FACTORS).reduce((product, [name, values]) => {
    const factors: Readonly<Record<string, number>> = values
    return product * (factors[String(body[name])] ?? 1)
  }, 1)

/** Tokens of a picture by quality. */
const DRAWN_TOKENS: Readonly<Record<string, number>> = { low: 408, medium: 1584, high: 6240 }

function billOf(path: string, body: Body, honoursCaps: boolean): Pick<Worst, 'usd' | 'reply'> & { readonly begun?: number } {
  const count = (name: string): number => Number(body[name] ?? 1)
  const factor = factorOf(body)
  const caps = ['max_completion_tokens', 'max_output_tokens', 'max_tokens'].map((name) => body[name])
  const cap = path.includes('chat') ? (caps[2] ?? caps[0]) : (caps[1] ?? caps[2])
  const output = honoursCaps && typeof cap === 'number' ? cap : UNCAPPED_TOKENS
  const input = promptTokens(body)
  const usdOf = (answer: number, rate: number = OUTPUT) => ((input * INPUT + answer * rate) / 1e6) * factor

  if (path.endsWith('/messages')) {
    const { budget_tokens: thoughts = 0 } = (body.thinking ?? {}) as { readonly budget_tokens?: number }
    // Between the calls of tools Claude may think beyond the cap.
    const written = thoughts >= output ? output + thoughts : output
    const usage = { input_tokens: input, output_tokens: written }
    return {
      usd: usdOf(written),
      reply: { id: 'msg_1', type: 'message', role: 'assistant', model: 'text', content: [], stop_reason: 'max_tokens', usage },
    }
  }
  if (path.endsWith('/responses')) {
    const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output }
    return { usd: usdOf(output), reply: { id: 'resp_1', object: 'response', status: 'completed', output: ITEMS, usage } }
  }
  if (body.file !== undefined) {
    const usage = { ...mediaUsage(input, 2000), input_token_details: { audio_tokens: input } }
    return { usd: (input * 0.2 + 2000) / 1e6, begun: (input * 0.2 + SAID_TOKENS) / 1e6, reply: { text: 'so', usage } }
  }
  if (body.model === 'drawn') {
    const tokens = (DRAWN_TOKENS[String(body.quality)] ?? 14_000) * count('n')
    const usd = (input * INPUT + tokens * DRAWN_RATE) / 1e6
    const data = Array.from({ length: count('n') }, () => ({ url: PICTURE }))
    // What is begun is drawn to its end.
    return { usd, begun: usd, reply: { created: 1, data, usage: mediaUsage(input, tokens) } }
  }
  if (path.includes('/images/')) {
    const fits = PICTURES.find((price: PicturePrice) =>
      (['size', 'quality'] as const).every((name) => price[name] === undefined || price[name] === body[name]),
    )!
    const usd = body.size === 'unheard of' && body.quality !== 'low' ? 0.12 : fits.usd
    return {
      usd: (input * INPUT) / 1e6 + usd * count('n'),
      reply: { created: 1, data: [{ url: PICTURE }], usage: mediaUsage(input, 0) },
    }
  }
  if (path.endsWith('/embeddings')) {
    const usage = { prompt_tokens: input, total_tokens: input }
    return {
      usd: usdOf(0),
      reply: { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0] }], model: 'vector', usage },
    }
  }
  if (path.endsWith('/rerank')) {
    const documents = (body.documents as readonly string[]).length
    const searches = Math.ceil(documents / 100)
    const tokens = documents * Math.ceil(String(body.query).length / 4) + input
    return {
      usd: searches * SEARCH + (tokens * INPUT) / 1e6,
      reply: { results: [{ index: 0, relevance_score: 1 }], usage: { total_tokens: tokens } },
    }
  }
  if (path.endsWith('/moderations')) {
    const results = [{ flagged: false }]
    return { usd: usdOf(0), reply: { id: 'm', model: 'm', results, usage: mediaUsage(input, 0) } }
  }
  if (path.endsWith('/speech')) {
    const tokens = String(body.input).length * 4
    const usd = usdOf(tokens, AUDIO)
    return { usd, begun: usd, reply: { usage: mediaUsage(input, tokens) } }
  }
  const prompts = Array.isArray(body.prompt) ? body.prompt.length : 1
  const rejected = body.prediction === undefined ? 0 : Math.ceil(JSON.stringify(body.prediction).length / 4)
  const written = output * Math.max(count('n'), count('best_of')) * prompts + rejected
  const isSound = body.modalities !== undefined
  const usage = {
    prompt_tokens: input,
    completion_tokens: written,
    total_tokens: input + written,
    ...(isSound && { completion_tokens_details: { audio_tokens: written } }),
  }
  const choice = { index: 0, finish_reason: 'length', message: { role: 'assistant', content: 'so' }, text: 'so' }
  const object = path.includes('chat') ? 'chat.completion' : 'text_completion'
  return {
    usd: usdOf(written, isSound ? AUDIO : OUTPUT),
    reply: { id: 'x', object, created: 1, model: 'text', choices: [choice], usage },
  }
}

const mediaUsage = (input: number, output: number) => ({
  input_tokens: input,
  output_tokens: output,
  total_tokens: input + output,
})

/** A token for four letters, and for each byte of a rare character. */
function tokensOf(text: string): number {
  const letters = text.replace(/\P{ASCII}/gu, '').length
  return Math.floor(letters / 4) + Buffer.byteLength(text) - letters
}

/** A list of tokens has its length; media cost what they cost at most. */
function promptTokens(body: Body): number {
  if (Array.isArray(body.input) && typeof body.input[0] === 'number') return body.input.length
  const parts = ['messages', 'input'].flatMap((name) => (Array.isArray(body[name]) ? (body[name] as readonly unknown[]) : []))
  const types = parts
    .flatMap((part) => (isRecord(part) && Array.isArray(part.content) ? part.content : []))
    .map(({ type }) => String(type))
  const drawn = [body.image, body.mask].flat().filter((part) => part instanceof File).length
  const pictures = types.filter((type) => type.includes('image')).length + drawn
  const files = types.filter((type) => type.includes('file') || type === 'document').length + (body.file === undefined ? 0 : 1)
  const { messages, input, prompt, system, instructions } = body
  const text = JSON.stringify([messages, input, prompt, system, instructions].filter((each) => each !== undefined))
  return tokensOf(text) + pictures * PICTURE_TOKENS + files * FILE_TOKENS
}
