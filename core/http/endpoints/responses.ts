import type { UpstreamRefusal, Usage } from '../../plugin/api.ts'
import { refusalOf } from '../../plugin/refusal.ts'
import type { ReplyFormat, StreamReader, Verdict, WholeFacts } from '../../upstream/endpoint.ts'
import { readUsage } from '../../upstream/usage.ts'
import { compileCheck } from '../check.ts'
import type { ModelEndpoint } from './completions.ts'

/** `CreateResponse` of openai-openapi, as far as it must be right for any upstream. */
const schema = {
  type: 'object',
  required: ['model', 'input'],
  properties: {
    model: { type: 'string' },
    input: { type: ['string', 'array'], minItems: 1 },
    stream: { type: 'boolean' },
    max_output_tokens: { type: 'integer', minimum: 0 },
    temperature: { type: 'number' },
    top_p: { type: 'number' },
    tools: { type: 'array' },
    user: { type: 'string' },
  },
}

interface Response {
  readonly object?: unknown
  readonly error?: unknown
  readonly usage?: Readonly<Record<string, unknown>> | null
}

interface Event {
  readonly type?: string
  readonly response?: Response
}

/** `POST /v1/responses`: OpenAI's newer wire, for upstreams that speak it. */
export const responses: ModelEndpoint = {
  name: 'responses',
  path: '/v1/responses',
  check: compileCheck(schema),
  reply: {
    endpoint: 'responses',
    reader: () => new ResponseStreamReader(),
    typed: true,
    // The last event is the stream's end; there is no marker behind it.
    done: '',
    whole,
    usage: usageOf,
    normalise: (translated) => translated,
    generates: true,
  } satisfies ReplyFormat,
}

/** Events that end a stream, each with the whole response in it. */
const LAST = /"type"\s*:\s*"response\.(?:completed|incomplete|failed)"/
const ERROR = /"type"\s*:\s*"error"/
/** Events before the first that carries something. */
const PRELUDE = /"type"\s*:\s*"response\.(?:created|queued|in_progress)"/

/** Watches the events of a streamed response; only the last one is parsed. */
class ResponseStreamReader implements StreamReader {
  finished = false
  usage: Usage | undefined
  refusal: UpstreamRefusal | undefined

  read(data: string): Verdict {
    if (data.trim() === '') return 'drop'
    if (!data.startsWith('{')) return 'malformed'
    const head = data.slice(0, HEAD)
    if (ERROR.test(head)) return this.#refuse(parse(data))
    if (!LAST.test(head)) return 'pass'
    const event = parse(data) as Event | undefined
    if (event?.response === undefined) return 'malformed'
    if (event.type === 'response.failed') return this.#refuse(event.response)
    this.finished = true
    this.usage = usageOf(event.response)
    return 'last'
  }

  isMeaningful(data: string): boolean {
    return !PRELUDE.test(data.slice(0, HEAD))
  }

  #refuse(body: unknown): Verdict {
    this.refusal = refusalOf(body)
    return 'error'
  }
}

/** An event's type stands at its beginning; a text in it may hold anything. */
const HEAD = 100

function whole(bytes: Buffer): WholeFacts | undefined {
  const reply = parse(bytes.toString('latin1')) as Response | undefined
  if (reply?.error != null) return { refusal: refusalOf(reply) }
  return reply?.object === 'response' ? { usage: usageOf(reply) } : undefined
}

/** In the words of chat completions, which limits, metrics and usage rows speak. */
function usageOf({ usage }: Response): Usage | undefined {
  return readUsage(
    usage && {
      prompt_tokens: usage.input_tokens,
      completion_tokens: usage.output_tokens,
      total_tokens: usage.total_tokens,
      prompt_tokens_details: usage.input_tokens_details,
      completion_tokens_details: usage.output_tokens_details,
    },
  )
}

/** Bytes as latin1, as the relay keeps them. */
function parse(data: string): unknown {
  try {
    return JSON.parse(Buffer.from(data, 'latin1').toString('utf8'))
  } catch {
    return undefined
  }
}
