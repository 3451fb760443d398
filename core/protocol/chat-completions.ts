import type { TranslatedCompletion, UpstreamRefusal, Usage } from '../sdk/api.ts'
import { isRecord } from '../sdk/json.ts'
import { choiceError, refusalOf } from '../sdk/refusals.ts'
import type { EventKind, EventReader, ModelEndpoint, ReplyFormat, StreamedCall, WholeReply } from './format.ts'
import { normaliseCompletion } from './normalise.ts'
import { parseUpstream, type ScannedReply } from './upstream-json.ts'
import { servedVariants, UsageReport } from './usage-report.ts'
import { checkOf } from './validation.ts'
import { reportMade, writtenInRun, writtenLength } from './written-text.ts'

const string = { type: 'string' }
const boolean = { type: 'boolean' }
const object = { type: 'object' }
const number = (minimum: number, maximum: number) => ({ type: 'number', minimum, maximum })
const integer = (minimum: number, maximum?: number) => ({ type: 'integer', minimum, ...(maximum !== undefined && { maximum }) })
const oneOf = (...values: string[]) => ({ type: 'string', enum: values })
const shape = (properties: Record<string, object>, required: string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
})

/** Requires the properties listed for the object's `type`; unlisted types pass unchecked. */
const byType = (shapes: Record<string, object>) => ({
  ...shape({ type: string }),
  allOf: Object.entries(shapes).map(([type, then]) => ({ if: shape({ type: { const: type } }), then })),
})

const part = byType({
  text: shape({ text: string }),
  refusal: shape({ refusal: string }),
  image_url: shape({ image_url: shape({ url: string }) }),
  input_audio: shape({ input_audio: shape({ data: string, format: string }) }),
  file: shape({ file: { type: 'object', properties: { filename: string, file_data: string, file_id: string } } }),
})

const toolCall = {
  ...byType({
    function: shape({ function: shape({ name: string, arguments: string }) }),
    custom: shape({ custom: shape({ name: string, input: string }) }),
  }),
  ...shape({ id: string, type: string }),
}

const message = {
  type: 'object',
  required: ['role'],
  properties: {
    role: oneOf('developer', 'system', 'user', 'assistant', 'tool', 'function'),
    content: { type: ['string', 'array', 'null'], items: part },
    name: { type: ['string', 'null'] },
    refusal: { type: ['string', 'null'] },
    tool_calls: { type: ['array', 'null'], items: toolCall },
  },
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema's keyword
  allOf: [{ if: shape({ role: { const: 'tool' } }), then: shape({ tool_call_id: string, content: {} }) }],
}

const tool = byType({
  function: shape({
    function: { ...shape({ name: string }), properties: { name: string, parameters: { type: ['object', 'null'] } } },
  }),
})

const toolChoice = {
  type: string,
  function: shape({ name: string }),
  custom: shape({ name: string }),
  allowed_tools: shape({ mode: string, tools: { type: 'array', items: object } }),
}

/**
 * JSON Schema, for ajv, of the body of `POST /v1/chat/completions` (openai-openapi, `CreateChatCompletionRequest`). Unknown fields
 * pass: they belong to the upstream. `null` counts as absent at the top level and is not checked.
 */
export const chatRequestSchema = {
  type: 'object',
  required: ['model', 'messages'],
  properties: {
    model: string,
    messages: { type: 'array', minItems: 1, items: message },
    stream: boolean,
    stream_options: { type: 'object', properties: { include_usage: { type: ['boolean', 'null'] } } },
    temperature: number(0, 2),
    top_p: number(0, 1),
    frequency_penalty: number(-2, 2),
    presence_penalty: number(-2, 2),
    n: integer(1, 128),
    max_tokens: integer(0),
    max_completion_tokens: integer(0),
    stop: { type: ['string', 'array'], items: string },
    seed: { type: 'integer' },
    logit_bias: object,
    logprobs: boolean,
    top_logprobs: integer(0, 20),
    tools: { type: 'array', items: tool },
    tool_choice: { type: ['string', 'object'], properties: toolChoice },
    parallel_tool_calls: boolean,
    functions: { type: 'array', items: shape({ name: string }) },
    function_call: { type: ['string', 'object'] },
    response_format: byType({
      json_schema: shape({ json_schema: shape({ name: string, schema: { type: ['object', 'null'] } }, ['name']) }),
    }),
    reasoning_effort: string,
    verbosity: string,
    modalities: { type: 'array', items: string },
    audio: object,
    prediction: object,
    web_search_options: object,
    service_tier: string,
    store: boolean,
    metadata: object,
    user: string,
    safety_identifier: string,
    prompt_cache_key: string,
  },
} as const

/** Wire format of chat completions: whole (`chat.completion`) and streamed (`chat.completion.chunk`). */
export const chatReply: ReplyFormat = {
  endpoint: 'chat.completions',
  reader: (call) => new ChatStreamReader(call),
  whole: readWhole,
  done: 'data: [DONE]\n\n',
  usage: (reply) => (reply as LooseChunk).usage,
  normalise: (translated, call) => normaliseCompletion(translated as TranslatedCompletion, call.model.id),
  generates: true,
}

/** Reads a stream by searching its bytes for three keys; parses only events in which one of them has a value. */
class ChatStreamReader implements EventReader {
  readonly #choices: number
  readonly #includeUsage: boolean
  readonly #finished = new Set<number>()
  /** The members that all chunks of a stream share, in the one that finishes its first choice. */
  #envelope: LooseChunk = {}
  /** Whether the upstream has sent a usage, valid or not. */
  #hasUsage = false
  readonly report: UsageReport
  refusal: UpstreamRefusal | undefined

  constructor(call: StreamedCall) {
    this.#choices = call.choices
    this.#includeUsage = call.includeUsage
    this.report = new UsageReport(call)
  }

  get finished(): boolean {
    return this.#finished.size >= this.#choices
  }

  read(data: string): EventKind {
    if (data === '' || data === ' ' || data === 'null') return 'drop'
    if (data.startsWith('[DONE]')) return this.#finished.size > 0 ? 'done' : 'cut'
    this.report.wrote(writtenLength(data))
    reportMade(this.report, data)
    // Google wraps an error in an array.
    if (data.startsWith('[') || SIGNIFICANT_MEMBER.test(data)) return this.#look(data)
    return data.startsWith('{') && (data.endsWith('}') || data.trimEnd().endsWith('}')) ? 'pass' : 'malformed'
  }

  quiet(text: string): number {
    const at = text.search(SIGNIFICANT_MEMBER)
    return at < 0 ? text.length : at
  }

  skipped(frames: string, count: number): void {
    this.report.wrote(writtenInRun(frames, count))
    reportMade(this.report, frames)
  }

  isMeaningful(data: string): boolean {
    const chunk = parse(data)
    return chunk === undefined || chunk.usage != null || (choicesOf(chunk) ?? []).some(hasContent)
  }

  usageEvent(usage: Usage): string | undefined {
    if (this.#hasUsage) return undefined
    const { id, object, created, model } = this.#envelope
    return Buffer.from(JSON.stringify({ id, object, created, model, choices: [], usage })).toString('latin1')
  }

  #look(data: string): EventKind {
    const chunk = parse(data)
    if (chunk === undefined) return 'malformed'
    if (Array.isArray(chunk) || chunk.error != null) {
      this.report.read(chunk.usage)
      this.refusal = refusalOf(chunk)
      return 'error'
    }
    const choices = choicesOf(chunk)
    if (choices === undefined) return 'malformed'
    for (const choice of choices) {
      if (choice.error != null || choice.finish_reason === 'error') this.refusal ??= choiceError(choice)
      if (choice.finish_reason == null) continue
      if (typeof choice.finish_reason !== 'string') return 'malformed'
      if (this.#finished.size === 0) this.#envelope = chunk
      this.#finished.add(choice.index ?? 0)
    }
    this.#hasUsage ||= chunk.usage != null
    this.report.servedBy(servedVariants({ service_tier: chunk.service_tier }))
    this.report.read(chunk.usage, this.finished)
    if (this.refusal !== undefined) return 'error'
    const usageOnly = chunk.usage != null && choices.length === 0
    return usageOnly && !this.#includeUsage ? 'drop' : 'pass'
  }
}

/**
 * Matches a `finish_reason`, usage or error that is not null. The opening quotes are left out: quotes occur too often for a fast
 * search. The closing quote distinguishes a key from text, which would escape it. The three alternatives are short so that V8 skips
 * most of a text: with `finish_reason` spelt out, the search takes twice as long.
 */
const SIGNIFICANT_MEMBER = /(?:_reason|usage|error)"\s*:\s*(?!null|\s)/

interface LooseChunk {
  readonly id?: unknown
  readonly object?: unknown
  readonly created?: unknown
  readonly model?: unknown
  readonly choices?: unknown
  readonly usage?: unknown
  readonly service_tier?: unknown
  readonly error?: unknown
}

interface LooseChoice {
  readonly index?: number
  readonly delta?: Record<string, unknown>
  /** Of a text completion, which has no delta. */
  readonly text?: unknown
  readonly finish_reason?: unknown
  readonly error?: unknown
}

/** A chunk's choices; empty if absent, undefined if they are not a list of objects. */
function choicesOf({ choices }: LooseChunk): readonly LooseChoice[] | undefined {
  const list = choices ?? []
  return Array.isArray(list) && list.every((choice) => typeof choice === 'object' && choice !== null) ? list : undefined
}

/** True if the client would see content: a finish reason, or a value of any delta key, known or not, except the role. */
function hasContent(choice: LooseChoice): boolean {
  if (choice.finish_reason != null || (typeof choice.text === 'string' && choice.text !== '')) return true
  return Object.entries(choice.delta ?? {}).some(([key, value]) => key !== 'role' && value !== null && value !== '')
}

const parse = (data: string): LooseChunk | undefined => parseUpstream(Buffer.from(data, 'latin1')) as LooseChunk | undefined

function readWhole(reply: ScannedReply): WholeReply | undefined {
  if (reply.has('error')) return { refusal: refusalOf(reply.pick('error')) }
  if (!reply.listsObjects('choices')) return undefined
  const refusal = errorInChoices(reply)
  const served = servedVariants({ service_tier: reply.get('service_tier') })
  return { usage: reply.get('usage'), ...(refusal && { refusal }), ...(served && { served }) }
}

/** The error inside a choice. Choices are parsed only if the word stands in the reply as a key or a whole value: in a text its quotes are escaped. */
function errorInChoices(reply: ScannedReply): UpstreamRefusal | undefined {
  if (!reply.bytes.includes('"error"')) return undefined
  const choices = reply.read('choices')
  return Array.isArray(choices) ? choices.filter(isRecord).map(choiceError).find(Boolean) : undefined
}

/** `POST /v1/chat/completions` */
export const chatCompletions: ModelEndpoint = {
  name: 'chat.completions',
  path: '/v1/chat/completions',
  check: checkOf(chatRequestSchema),
  reply: chatReply,
}
