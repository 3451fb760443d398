import type { PicturePrice } from '../../../core/prices/price.ts'
import { isRecord } from '../../../core/sdk/json.ts'
import { json, type ReceivedRequest, reply, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'

/** A request of an attacker, by which a call may cost far more than it seems to. */
export interface Attack {
  readonly path: string
  /** The members that cost. */
  readonly title: string
  readonly body: Readonly<Record<string, unknown>>
}

/** The members of an endpoint: the least that it requires, and what may be added, each beside each. */
interface Surface {
  readonly path: string
  readonly model: string
  readonly least: Readonly<Record<string, unknown>>
  readonly costly: readonly Readonly<Record<string, unknown>>[]
}

const PICTURE = 'https://pictures.example/1.png'
const TIERS = [{ service_tier: 'priority' }, { service_tier: 'flex' }]

const chatWith = (...parts: object[]) => ({ messages: [{ role: 'user', content: parts }] })

const SURFACES: readonly Surface[] = [
  {
    path: '/v1/chat/completions',
    model: 'up/text',
    least: { messages: [{ role: 'user', content: 'Hi.' }] },
    costly: [
      { max_tokens: 2000 },
      { max_completion_tokens: 500 },
      { max_output_tokens: 1 },
      { n: 5 },
      { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
      { prediction: { type: 'content', content: 'as it was '.repeat(500) } },
      chatWith({ type: 'image_url', image_url: { url: PICTURE } }, { type: 'image_url', image_url: { url: PICTURE } }),
      chatWith({ type: 'file', file: { file_id: 'file-1' } }),
      { web_search_options: {} },
      { tools: [{ type: 'web_search' }] },
      ...TIERS,
    ],
  },
  {
    path: '/v1/messages',
    model: 'claude/text',
    least: { max_tokens: 1000, messages: [{ role: 'user', content: 'Hi.' }] },
    costly: [
      { max_tokens: 100_000 },
      { speed: 'fast' },
      { inference_geo: 'us' },
      { service_tier: 'priority' },
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      { mcp_servers: [{ type: 'url', url: 'https://mcp.example', name: 'm' }] },
      chatWith({ type: 'image', source: { type: 'url', url: PICTURE } }, { type: 'text', text: 'What is it?' }),
      chatWith({ type: 'document', source: { type: 'url', url: 'https://files.example/1.pdf' } }),
    ],
  },
  {
    path: '/v1/responses',
    model: 'up/text',
    least: { input: 'Hi.' },
    costly: [
      { max_output_tokens: 3000 },
      { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
      { tools: [{ type: 'image_generation' }] },
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: PICTURE }] }] },
      { input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://files.example/1.pdf' }] }] },
      ...TIERS,
    ],
  },
  {
    path: '/v1/completions',
    model: 'up/text',
    least: { prompt: 'Once' },
    costly: [
      { max_tokens: 900 },
      { prompt: Array.from({ length: 20 }, () => 'Once') },
      { prompt: [[1, 2, 3], [4, 5], [6]] },
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
    path: '/v1/embeddings',
    model: 'up/vector',
    least: { input: 'Hi.' },
    costly: [{ input: Array.from({ length: 3000 }, () => 1) }, { input: 'word '.repeat(10_000) }, ...TIERS],
  },
  {
    path: '/v1/audio/speech',
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

/** All calls with at most two costly members. */
export const ATTACKS: readonly Attack[] = SURFACES.flatMap(({ path, model, least, costly }) => {
  const pairs = costly.flatMap((first, at) => [first, ...costly.slice(at + 1).map((second) => ({ ...first, ...second }))])
  return [{}, ...pairs].map((members: Readonly<Record<string, unknown>>) => ({
    path,
    title: JSON.stringify(members).slice(0, 100),
    body: { model, ...least, ...members },
  }))
})

/** US dollars: per million tokens, for a picture by size and quality, for a search. */
const [INPUT, OUTPUT, AUDIO, PICTURES, SEARCH] = [
  5,
  20,
  80,
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

/** The prices of the models of `ATTACKS`, as routes.yaml has them. */
export const PRICES = {
  'up/text': { input: INPUT, output: OUTPUT, outputAudio: AUDIO, variants: { service_tier: FACTORS.service_tier } },
  'claude/text': { input: INPUT, output: OUTPUT, variants: { speed: FACTORS.speed, inference_geo: FACTORS.inference_geo } },
  'up/picture': { input: INPUT, output: 0, pictures: PICTURES },
  'up/vector': { input: INPUT, output: 0, variants: { service_tier: FACTORS.service_tier } },
  'up/speech': { input: INPUT, output: OUTPUT, outputAudio: AUDIO },
  'up/rank': { input: INPUT, output: 0, search: SEARCH },
}

/** A vendor that bills the worst which each request allows. */
export interface DearUpstream {
  readonly upstream: ScriptedUpstream
  /** US dollars that it has billed. */
  readonly billed: () => number
  close(): Promise<void>
}

/** What the largest picture and a file cost, in tokens: what the vendors' pages say, and a book. */
const [PICTURE_TOKENS, FILE_TOKENS, UNCAPPED_TOKENS] = [4784, 150_000, 100_000]

/** `honoursCaps`: whether it writes no more than a request allows. */
export async function dearUpstream({ honoursCaps }: { readonly honoursCaps: boolean }): Promise<DearUpstream> {
  const upstream = await scriptedUpstream()
  let billed = 0
  upstream.on((request) => {
    const { usd, reply: body } = worstOf(request, honoursCaps)
    billed += usd
    return body === SOUND ? reply([SOUND], { headers: { 'content-type': 'audio/mpeg' } }) : json(body)
  })
  return { upstream, billed: () => billed, close: () => upstream.close() }
}

type Body = Readonly<Record<string, unknown>>

/** A recording: its reply reports no usage. */
const SOUND = Buffer.from('sound')

function worstOf(request: ReceivedRequest & { json(): unknown }, honoursCaps: boolean): { usd: number; reply: object } {
  const body = request.json() as Body
  const count = (name: string): number => (typeof body[name] === 'number' ? (body[name] as number) : 1)
  const factor = Object.entries(FACTORS).reduce((product, [name, values]) => {
    const factors: Readonly<Record<string, number>> = values
    return product * (factors[String(body[name])] ?? 1)
  }, 1)
  const caps = ['max_completion_tokens', 'max_output_tokens', 'max_tokens'].map((name) => body[name])
  const cap = request.path.includes('chat') ? (caps[2] ?? caps[0]) : (caps[1] ?? caps[2])
  const output = honoursCaps && typeof cap === 'number' ? cap : UNCAPPED_TOKENS
  const input = promptTokens(body)
  const usdOf = (answer: number, rate: number = OUTPUT) => ((input * INPUT + answer * rate) / 1e6) * factor

  if (request.path.endsWith('/messages')) {
    const usage = { input_tokens: input, output_tokens: output }
    return {
      usd: usdOf(output),
      reply: { id: 'msg_1', type: 'message', role: 'assistant', model: 'text', content: [], stop_reason: 'max_tokens', usage },
    }
  }
  if (request.path.endsWith('/responses')) {
    const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output }
    return { usd: usdOf(output), reply: { id: 'resp_1', object: 'response', status: 'completed', output: [], usage } }
  }
  if (request.path.endsWith('/images/generations')) {
    const fits = PICTURES.find((price: PicturePrice) =>
      (['size', 'quality'] as const).every((name) => price[name] === undefined || price[name] === body[name]),
    )!
    const usd = body.size === 'unheard of' && body.quality !== 'low' ? 0.12 : fits.usd
    return {
      usd: (input * INPUT) / 1e6 + usd * count('n'),
      reply: { created: 1, data: [{ url: PICTURE }], usage: mediaUsage(input, 0) },
    }
  }
  if (request.path.endsWith('/embeddings')) {
    const usage = { prompt_tokens: input, total_tokens: input }
    return {
      usd: usdOf(0),
      reply: { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0] }], model: 'vector', usage },
    }
  }
  if (request.path.endsWith('/rerank')) {
    const documents = (body.documents as readonly string[]).length
    const searches = Math.ceil(documents / 100)
    const tokens = documents * Math.ceil(String(body.query).length / 4) + input
    return {
      usd: searches * SEARCH + (tokens * INPUT) / 1e6,
      reply: { results: [{ index: 0, relevance_score: 1 }], usage: { total_tokens: tokens } },
    }
  }
  if (request.path.endsWith('/speech')) return { usd: usdOf(String(body.input).length * 4, AUDIO), reply: SOUND }
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
  const object = request.path.includes('chat') ? 'chat.completion' : 'text_completion'
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

/** A list of tokens has its length, other texts a token for four bytes; media cost what they cost at most. */
function promptTokens(body: Body): number {
  if (Array.isArray(body.input) && typeof body.input[0] === 'number') return body.input.length
  const parts = ['messages', 'input'].flatMap((name) => (Array.isArray(body[name]) ? (body[name] as readonly unknown[]) : []))
  const types = parts
    .flatMap((part) => (isRecord(part) && Array.isArray(part.content) ? part.content : []))
    .map(({ type }) => String(type))
  const pictures = types.filter((type) => type.includes('image')).length
  const files = types.filter((type) => type.includes('file') || type === 'document').length
  const { messages, input, prompt, system, instructions } = body
  const text = JSON.stringify([messages, input, prompt, system, instructions].filter((each) => each !== undefined))
  return Math.floor(text.length / 4) + pictures * PICTURE_TOKENS + files * FILE_TOKENS
}
