import { type ChatRequest, GatewayError, invalidValue, isRecord, type ResponseFormat } from 'unified-model-gateway/plugin'
import { toMessages } from './messages.ts'
import { toTools } from './tools.ts'
import type { ChatBody, Think } from './wire.ts'

/** What the operator wants of every call. */
export interface Defaults {
  /** Ollama's name of the model. */
  readonly model: string
  /** Go before the model's own, and after the client's. */
  readonly options?: Readonly<Record<string, unknown>>
  readonly keepAlive?: string | number
}

/** A chat completion request as one for `POST /api/chat`. Throws `GatewayError` (400) for what cannot be honoured. */
export function toChatBody(body: Readonly<ChatRequest>, { model, options: own, keepAlive }: Defaults): ChatBody {
  const tools = toTools(body)
  const format = toFormat(body.response_format ?? undefined)
  const think = toThink(body.reasoning_effort ?? undefined)
  const options = { ...own, ...toOptions(body) }
  return {
    model,
    messages: toMessages(body.messages),
    stream: body.stream === true,
    ...(tools.length > 0 && { tools }),
    ...(format !== undefined && { format }),
    ...(think !== undefined && { think }),
    ...toLogprobs(body),
    ...(Object.keys(options).length > 0 && { options }),
    ...(keepAlive !== undefined && { keep_alive: keepAlive }),
  }
}

/** Numbers that have the same name in Ollama's options. Those OpenAI does not know clients send all the same. */
const NUMBERS = [
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'frequency_penalty',
  'presence_penalty',
  'repeat_penalty',
  'seed',
] as const

function toOptions(body: Readonly<ChatRequest>): Readonly<Record<string, unknown>> {
  const numbers = NUMBERS.filter((name) => typeof body[name] === 'number').map((name) => [name, body[name]] as const)
  const most = body.max_completion_tokens ?? body.max_tokens
  const stop = (typeof body.stop === 'string' ? [body.stop] : (body.stop ?? [])).filter((sequence) => sequence !== '')
  return { ...Object.fromEntries(numbers), ...(most != null && { num_predict: most }), ...(stop.length > 0 && { stop }) }
}

/** Per OpenAI effort: Ollama's (`thinkFromReasoningEffort`, openai/openai.go). */
const THINK: ReadonlyMap<string, Think> = new Map<string, Think>([
  ['none', false],
  ['minimal', 'low'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'max'],
  ['max', 'max'],
])

function toThink(effort: string | undefined): Think | undefined {
  if (effort === undefined) return undefined
  const think = THINK.get(effort)
  if (think === undefined) throw invalidValue('reasoning_effort', `expected one of ${[...THINK.keys()].join(', ')}`)
  return think
}

function toLogprobs({ logprobs, top_logprobs: top }: Readonly<ChatRequest>): Pick<ChatBody, 'logprobs' | 'top_logprobs'> {
  if (logprobs !== true) return {}
  return { logprobs, ...(typeof top === 'number' && top > 0 && { top_logprobs: top }) }
}

function toFormat(format: ResponseFormat | undefined): ChatBody['format'] {
  if (format === undefined || format.type === 'text') return undefined
  if (format.type === 'json_object') return 'json'
  const { schema } = format.json_schema
  if (!isRecord(schema)) throw new GatewayError('missing_required_parameter', { param: 'response_format.json_schema.schema' })
  return schema
}
