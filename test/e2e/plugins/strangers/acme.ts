/** A provider for a made-up service: a JSON API of its own, streams of one JSON object a line, errors of its own. */
import {
  type ChatMessage,
  type ChatRequest,
  type ContentPart,
  chunk,
  defineCallFunction,
  defineProvider,
  dropped,
  droppedInside,
  GatewayError,
  type Model,
  mapped,
  type ParameterSupport,
  refused,
  type Secret,
  secret,
  type TranslatedChunk,
  Type,
  type UpstreamDecoder,
  UpstreamError,
  type UpstreamEvent,
  type UpstreamRefusal,
  type Usage,
} from 'unified-model-gateway/plugin'

const supports = (names: string, support: ParameterSupport) => Object.fromEntries(names.split(' ').map((name) => [name, support]))

const parameters: Readonly<Record<string, ParameterSupport>> = {
  temperature: mapped('creativity'),
  ...supports('max_tokens max_completion_tokens', mapped('words')),
  ...supports('seed top_p frequency_penalty presence_penalty reasoning_effort verbosity prediction', dropped),
  ...supports('service_tier store metadata user safety_identifier', dropped),
  ...supports('prompt_cache_key prompt_cache_retention prompt_cache_options', dropped),
  ...supports('messages.name image_url.detail tools.strict cache_control prompt_cache_breakpoint', dropped),
  ...supports('tools tool_choice parallel_tool_calls functions function_call', refused('Acme calls no tools.')),
  ...supports('n stop logprobs top_logprobs logit_bias response_format', refused('Acme has no such thing.')),
  ...supports('modalities audio web_search_options moderation', refused('Acme has no such thing.')),
}

export default defineProvider({
  apiVersion: 1,
  name: 'acme',
  schema: Type.Object(
    { origin: Type.String(), token: secret({ description: 'A token of Acme.' }) },
    { additionalProperties: false },
  ),

  create({ origin, token }, host) {
    if (!URL.canParse(origin)) throw new Error(`origin: '${origin}' is not a URL; Acme's is https://acme.example`)
    const credentials = { 'x-acme-token': token }
    return {
      parameters,
      async request(call, { model, signal }) {
        const pictures = await host.compute(call, picturesIn, undefined)
        const ids = await Promise.all(pictures.map((picture) => upload(picture, { origin, token, signal })))
        return {
          origin,
          path: `/v9/engines/${encodeURIComponent(model)}/speak`,
          headers: { ...call.headers, ...(call.stream && { accept: 'application/x-ndjson' }), ...credentials },
          ...(await host.compute(call, speakBody, ids)),
        }
      },
      translator: () => ({ completion, event, decoder: () => new LineDecoder() }),
      error: ({ status, headers, body }) => refusalOf({ ...JSON.parse(body).fault, ...waitOf(headers) }, status),
      async models(signal) {
        const listed = (await host.getJson(`${origin}/v9/engines`, { headers: credentials, signal })) as { engine: string }[]
        return listed.map(({ engine }): Model => ({ id: engine, owned_by: 'acme' }))
      },
    }
  },
})

/** The pictures of a request, in base64. */
export const picturesIn = defineCallFunction(import.meta.url, 'picturesIn', ({ body }) =>
  body.messages
    .flatMap(({ content }) => (typeof content === 'object' ? (content ?? []) : []))
    .map(pictureOf)
    .filter((picture) => picture !== undefined),
)

const pictureOf = (part: ContentPart): string | undefined =>
  part.type === 'image_url' ? /^data:image\/png;base64,(.*)$/.exec(part.image_url.url)?.[1] : undefined

interface Acme {
  readonly origin: string
  readonly token: Secret
  readonly signal: AbortSignal
}

/** Acme keeps a picture until it is asked about it. Resolves to its name. */
async function upload(picture: string, { origin, token, signal }: Acme): Promise<string> {
  const headers = { 'x-acme-token': token.reveal(), 'content-type': 'image/png' }
  const body = Buffer.from(picture, 'base64')
  const reply = await fetch(`${origin}/v9/pictures`, { method: 'POST', headers, body, signal })
  if (!reply.ok) throw new GatewayError('upstream_error')
  return ((await reply.json()) as { readonly picture: string }).picture
}

export const speakBody = defineCallFunction(import.meta.url, 'speakBody', ({ body }, pictures: readonly string[]) => ({
  body: Buffer.from(JSON.stringify({ ...speakRequest(body), ...(pictures.length > 0 && { pictures }) })),
  dropped: droppedInside(body, parameters),
}))

const speakRequest = ({ messages, temperature, max_tokens, max_completion_tokens, stream }: Readonly<ChatRequest>) => ({
  lines: messages.map(({ role, content }, index) => `${role}: ${textOf(content, `messages[${index}].content`)}`),
  ...(temperature != null && { creativity: temperature }),
  ...((max_completion_tokens ?? max_tokens) != null && { words: max_completion_tokens ?? max_tokens }),
  live: stream === true,
})

function textOf(content: ChatMessage['content'], param: string): string {
  if (content == null || typeof content === 'string') return content ?? ''
  return content.map((part) => (part.type === 'text' ? part.text : pictureOf(part) === undefined ? noText(param) : '')).join('')
}

function noText(param: string): never {
  throw new GatewayError('unsupported_parameter', { param, values: { detail: ' Acme reads text and PNG only.' } })
}

/** What Acme says: pieces of text, then why it ended and what it cost, or a fault. */
interface Line {
  readonly say?: string
  readonly end?: 'done' | 'words' | 'hush'
  readonly cost?: { readonly heard: number; readonly said: number }
  readonly fault?: Fault
}

interface Fault {
  readonly kind: 'busy' | 'broke' | 'unclear' | 'stranger'
  readonly text: string
  readonly wait?: number
}

const FINISH = { done: 'stop', words: 'length', hush: 'content_filter' } as const

function completion(body: unknown) {
  const line = body as Line
  if (line.fault) throw new UpstreamError(refusalOf(line.fault, 500))
  const { say, end } = line
  if (say === undefined || end === undefined) throw new Error('neither an answer nor a fault')
  return { choices: [{ message: { content: say }, finish_reason: FINISH[end] }], usage: usageOf(line) }
}

function* event({ data }: UpstreamEvent): Iterable<TranslatedChunk> {
  const line = JSON.parse(data) as Line
  if (line.fault) throw new UpstreamError(refusalOf(line.fault, 500))
  if (line.say !== undefined) yield chunk.content(line.say)
  if (line.end !== undefined) yield chunk.finish(FINISH[line.end])
  if (line.cost !== undefined) yield chunk.usage(usageOf(line)!)
}

function usageOf({ cost }: Line): Usage | undefined {
  if (cost === undefined) return undefined
  return { prompt_tokens: cost.heard, completion_tokens: cost.said, total_tokens: cost.heard + cost.said }
}

/** When Acme has time again: in milliseconds since 1970. */
function waitOf({ 'x-acme-reset': reset }: Readonly<Record<string, string>>): Pick<Fault, 'wait'> {
  return reset === undefined ? {} : { wait: Math.ceil((Number(reset) - Date.now()) / 1000) }
}

const STATUS = { busy: 429, broke: 429, unclear: 400, stranger: 401 } as const

const refusalOf = ({ kind, text, wait }: Fault, status: number): UpstreamRefusal => ({
  status: STATUS[kind] ?? status,
  message: text,
  ...(kind === 'broke' && { code: 'insufficient_quota' }),
  ...(wait !== undefined && { retryAfter: wait }),
})

/** One event a line. */
class LineDecoder implements UpstreamDecoder {
  #rest = Buffer.alloc(0)

  push(bytes: Buffer): UpstreamEvent[] {
    const lines: UpstreamEvent[] = []
    let rest = Buffer.concat([this.#rest, bytes])
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      lines.push({ type: '', data: rest.toString('utf8', 0, end) })
      rest = rest.subarray(end + 1)
    }
    this.#rest = rest
    return lines
  }

  end(): UpstreamEvent[] {
    if (this.#rest.length > 0) throw new Error('the last line is not complete')
    return []
  }
}
