import {
  type AskedThinking,
  type ChatRequest,
  defineCallFunction,
  dropped,
  droppedInside,
  type FormatMembers,
  type FormatPlan,
  fitFormat,
  invalidValue,
  lostFormat,
  mapped,
  onlyOpenai,
  type ParameterSupport,
  planFormat,
  readResponseFormat,
  readThinking,
  readToolChoice,
  refused,
} from 'unified-model-gateway/plugin'
import { toMessages } from './messages.ts'
import { toToolset } from './tools.ts'
import type { ChatBody, Think } from './wire.ts'

/** The support of each field of a chat completion request. docs/providers/ollama.md is compared with it by a test. */
export const parameters: Readonly<Record<string, ParameterSupport>> = {
  model: mapped('model'),
  messages: mapped('messages'),
  stream: mapped('stream'),
  stream_options: mapped('the usage chunk, which the gateway writes'),
  max_tokens: mapped('options.num_predict'),
  max_completion_tokens: mapped('options.num_predict'),
  temperature: mapped('options.temperature'),
  top_p: mapped('options.top_p'),
  top_k: mapped('options.top_k'),
  min_p: mapped('options.min_p'),
  frequency_penalty: mapped('options.frequency_penalty'),
  presence_penalty: mapped('options.presence_penalty'),
  repeat_penalty: mapped('options.repeat_penalty'),
  seed: mapped('options.seed'),
  stop: mapped('options.stop'),
  logprobs: mapped('logprobs'),
  top_logprobs: mapped('top_logprobs'),
  tools: mapped('tools'),
  tool_choice: mapped('tools, format'),
  response_format: mapped('format, messages'),
  reasoning_effort: mapped('think'),
  thinking: mapped('think'),
  reasoning: mapped('think'),

  parallel_tool_calls: dropped,
  cache_control: dropped,

  n: refused('Ollama gives one choice a call; call it several times.'),
  logit_bias: refused('Ollama takes no logit biases.'),

  ...onlyOpenai,
}

/** The model of a request, and the operator's settings for every call. */
export interface Target {
  /** Ollama's name of the model. */
  readonly model: string
  /** Override the model's own; the client's override them. */
  readonly options?: Readonly<Record<string, unknown>>
  readonly keepAlive?: string | number
  /** Whether the model thinks: Ollama answers 400 to `think` for one that does not. */
  readonly thinks: boolean
}

/** An upstream request, and the parameters that are left out. */
export interface Translated {
  readonly request: ChatBody
  readonly dropped: readonly string[]
}

/** The body of `POST /api/chat`, and the parameters that are left out. */
export const chatBody = defineCallFunction(import.meta.url, 'chatBody', (call, target: Target) => {
  const { request, dropped } = toChatBody(call.body, target)
  return { body: Buffer.from(JSON.stringify(request)), dropped }
})

/**
 * How the format of a request is served: with a format Ollama calls no tools (github.com/ollama/ollama/issues/8095 and 13750, of 2026-01), so that beside
 * tools the format is that of a call. An object without a schema is asked for by an instruction there.
 */
export const formatPlan = (request: FormatMembers): FormatPlan | undefined =>
  planFormat(request, () => {
    const native = (request.tools ?? []).length === 0 || readToolChoice(request.tool_choice).mode === 'none'
    return { schema: native, object: native, forcedTools: true }
  })

/** Translates a chat completion request for `POST /api/chat`. Throws `GatewayError` (400) for parameters that Ollama cannot honour. */
export function toChatBody(asked: Readonly<ChatRequest>, { model, options: own, keepAlive, thinks }: Target): Translated {
  const plan = formatPlan(asked)
  const body = fitFormat(asked, plan)
  const { tools, required } = toToolset(body)
  const format = required?.format ?? toFormat(body)
  const messages = toMessages(body.messages)
  const thinking = readThinking(body)
  const asksToThink = toThink(thinking)
  const think = thinks || asksToThink === false ? asksToThink : undefined
  const options = { ...own, ...toOptions(body) }
  return {
    request: {
      model,
      messages: required ? [required.instruction, ...messages] : messages,
      stream: body.stream === true,
      ...(tools.length > 0 && { tools }),
      ...(format !== undefined && { format }),
      ...(think !== undefined && { think }),
      ...toLogprobs(body),
      ...(Object.keys(options).length > 0 && { options }),
      ...(keepAlive !== undefined && { keep_alive: keepAlive }),
    },
    dropped: [
      ...lostFormat(plan),
      // A number of tokens becomes the nearest effort.
      ...(thinking && (think !== asksToThink || thinking.budget !== undefined) ? [thinking.param] : []),
      ...droppedInside(asked, parameters),
    ],
  }
}

/** Numbers with the same name in Ollama's options. Clients also send those that OpenAI does not define. */
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
  const stop = [body.stop ?? []].flat().filter((sequence) => sequence !== '')
  return { ...Object.fromEntries(numbers), ...(most != null && { num_predict: most }), ...(stop.length > 0 && { stop }) }
}

/** Ollama's `think` per OpenAI effort (`thinkFromReasoningEffort`, openai/openai.go). */
const THINK: ReadonlyMap<string, Think> = new Map<string, Think>([
  ['none', false],
  ['minimal', 'low'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'max'],
  ['max', 'max'],
])

function toThink(asked: AskedThinking | undefined): Think | undefined {
  if (asked === undefined) return undefined
  const think = THINK.get(asked.effort)
  if (think === undefined) throw invalidValue(asked.param, `expected one of ${[...THINK.keys()].join(', ')}`)
  return think
}

function toLogprobs({ logprobs, top_logprobs: top }: Readonly<ChatRequest>): Pick<ChatBody, 'logprobs' | 'top_logprobs'> {
  if (logprobs !== true) return {}
  return { logprobs, ...(typeof top === 'number' && top > 0 && { top_logprobs: top }) }
}

function toFormat(body: Readonly<ChatRequest>): ChatBody['format'] {
  const format = readResponseFormat(body.response_format)
  return format?.type === 'json_object' ? 'json' : format?.schema
}
