import {
  asksForNothing,
  type Call,
  type ChatRequest,
  defineCallFunction,
  dropped,
  droppedInside,
  type FormatMembers,
  type FormatPlan,
  fitFormat,
  isCount,
  isRecord,
  lostFormat,
  mapped,
  onlyOpenai,
  type ParameterSupport,
  planFormat,
  readResponseFormat,
  readServiceTier,
  readThinking,
  readToolChoice,
  readWebSearch,
  refused,
  restrictSchema,
  type SchemaKeywords,
  unsupportedParameter,
  withCallStates,
} from 'unified-model-gateway/plugin'
import { type Target, toConversation } from './messages.ts'
import type { ModelFacts } from './models.ts'
import { toReasoning } from './reasoning.ts'
import { toToolset } from './tools.ts'
import type { GenerateRequest, GenerationConfig, Modality } from './wire.ts'

/** The keywords of JSON Schema that Google enforces. */
const KEPT = new Set([
  ...['$id', '$anchor', 'type', 'format', 'title', 'enum', 'minItems', 'maxItems'],
  ...['minimum', 'maximum', 'required', 'propertyOrdering'],
])

const KEYWORDS: SchemaKeywords = {
  schema: new Set(['items', 'additionalProperties']),
  list: new Set(['anyOf', 'oneOf', 'prefixItems']),
  named: new Set(['properties', '$defs']),
  takes: (keyword) => KEPT.has(keyword),
  ignored: new Set(['$schema', '$comment']),
}

type Schema = Readonly<Record<string, unknown>>

/**
 * A JSON Schema for `responseJsonSchema`: Google enforces a subset of the keywords and ignores the rest, so the rest moves to the
 * description (`GenerateContentConfig.responseJsonSchema` of @google/genai 3.1 lists the subset).
 */
export function toResponseSchema(schema: Schema): Schema {
  const equivalent = withEquivalents(schema)
  // Google takes no other keyword beside a reference.
  if (typeof equivalent.$ref === 'string') return { $ref: equivalent.$ref.replace(/^#\/definitions\//, '#/$defs/') }
  const { description = equivalent.description } = schema
  return restrictSchema({ ...equivalent, description }, KEYWORDS, toResponseSchema)
}

/** Replaces three keywords by equivalents: `const` by an `enum` of one, an `allOf` of one by its schema, `definitions` by `$defs`. */
function withEquivalents({ const: only, allOf, definitions, ...rest }: Schema): Schema {
  const alone = Array.isArray(allOf) && allOf.length === 1 && isRecord(allOf[0]) ? allOf[0] : undefined
  return {
    ...(typeof only === 'string' || typeof only === 'number' ? { enum: [only] } : only !== undefined && { const: only }),
    ...(definitions !== undefined && { $defs: definitions }),
    ...rest,
    ...(alone ?? (allOf !== undefined && { allOf })),
  }
}

/** The support of each field of a chat completion request. docs/providers/gemini.md is compared with it by a test. */
export const parameters: Readonly<Record<string, ParameterSupport>> = {
  model: mapped('the address'),
  messages: mapped('contents, systemInstruction'),
  stream: mapped('the address'),
  stream_options: mapped('the usage chunk, which the gateway writes'),
  max_tokens: mapped('generationConfig.maxOutputTokens'),
  max_completion_tokens: mapped('generationConfig.maxOutputTokens'),
  temperature: mapped('generationConfig.temperature'),
  top_p: mapped('generationConfig.topP'),
  top_k: mapped('generationConfig.topK'),
  frequency_penalty: mapped('generationConfig.frequencyPenalty'),
  presence_penalty: mapped('generationConfig.presencePenalty'),
  seed: mapped('generationConfig.seed'),
  stop: mapped('generationConfig.stopSequences'),
  n: mapped('generationConfig.candidateCount'),
  logprobs: mapped('generationConfig.responseLogprobs'),
  top_logprobs: mapped('generationConfig.logprobs'),
  tools: mapped('tools'),
  tool_choice: mapped('toolConfig.functionCallingConfig'),
  response_format: mapped('generationConfig.responseMimeType, responseJsonSchema, tools, systemInstruction'),
  reasoning_effort: mapped('generationConfig.thinkingConfig'),
  thinking: mapped('generationConfig.thinkingConfig'),
  reasoning: mapped('generationConfig.thinkingConfig'),

  parallel_tool_calls: dropped,
  cache_control: dropped,

  logit_bias: refused('Gemini takes no logit biases.'),

  ...onlyOpenai,

  modalities: mapped('generationConfig.responseModalities'),
  service_tier: mapped('serviceTier'),
  web_search_options: mapped('tools'),
  'messages.images': mapped('contents'),
  'tools.strict': mapped('toolConfig.functionCallingConfig.mode'),
}

/**
 * The tiers of both of Google's APIs ("Flex inference", "Priority inference", ai.google.dev; "Flex PayGo", "Priority PayGo", docs.cloud.google.com; read
 * 2026-11-26).
 */
export const TIERS = { flex: 'flex', priority: 'priority' }

/** The method of a call, the last segment of its path after the model's name and a colon. */
export function generateMethod({ stream }: Call): string {
  return stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
}

/** An upstream request, and the parameters that the model does not take. */
export interface Translated {
  readonly request: GenerateRequest
  /** The tier to serve it by, which the Gemini API takes in the body, and Vertex AI as a header. Absent: the usual one. */
  readonly tier?: string | undefined
  readonly dropped: readonly string[]
}

/** The body of `:generateContent`, and the parameters that the model does not take. */
export const generateBody = defineCallFunction(import.meta.url, 'generateBody', (call, target: Target) => {
  const { request, tier, dropped } = toGenerateRequest(withCallStates(call.body, target.states), target)
  return { body: Buffer.from(JSON.stringify({ ...request, ...(tier && { serviceTier: tier }) })), dropped }
})

/** How the format of a request is served: Google answers 400 to a format if a function must be called, and older models to one beside functions. */
export const formatPlan = (request: FormatMembers, { jsonWithTools }: ModelFacts): FormatPlan | undefined =>
  planFormat(request, () => {
    const hasTools = (request.tools ?? []).length > 0
    const native = !hasTools || (jsonWithTools && readToolChoice(request.tool_choice).mode !== 'required')
    return { schema: native, object: native, forcedTools: true }
  })

/** The prompt of a call, for `:countTokens`: of the Gemini API ("Counting tokens", ai.google.dev/api/tokens; read 2026-11-26). `name`: the model's. */
export const countBody = defineCallFunction(
  import.meta.url,
  'countBody',
  (call, { name, ...target }: Target & { name: string }) => {
    const { generationConfig: _, ...prompt } = toGenerateRequest(call.body, target).request
    return Buffer.from(JSON.stringify({ generateContentRequest: { model: `models/${name}`, ...prompt } }))
  },
)

/** Reads the reply of `:countTokens`. Throws an Error if it has no count. */
export function toCount(body: unknown): object {
  if (!isRecord(body) || !isCount(body.totalTokens)) throw new Error('The reply has no count of tokens.')
  return { input_tokens: body.totalTokens }
}

/** Translates a chat completion request for `:generateContent`. Throws `GatewayError` (400) for parameters that Gemini cannot honour. */
export function toGenerateRequest(asked: Readonly<ChatRequest>, target: Target): Translated {
  const { facts } = target
  const plan = formatPlan(asked, facts)
  const body = fitFormat(asked, plan)
  const toolset = toToolset(body)
  const thinking = readThinking(body)
  const reasoning = toReasoning(thinking, facts)
  const sampling = toSampling(body, facts)
  const stop = toStop(body)
  const search = readWebSearch(body)
  const tier = readServiceTier(body, target.tiers ? TIERS : {})
  return {
    request: {
      ...toConversation(body.messages, target),
      ...toolset,
      generationConfig: {
        ...toLimits(body, facts),
        ...sampling.sent,
        ...stop.sent,
        ...toFormat(body),
        ...toLogprobs(body),
        ...toModalities(body),
        ...(reasoning.thinkingConfig && { thinkingConfig: reasoning.thinkingConfig }),
      },
    },
    tier: tier.sent,
    dropped: [
      ...(tier.dropped ? ['service_tier'] : []),
      ...(search?.size ? ['web_search_options.search_context_size'] : []),
      ...(search?.location ? ['web_search_options.user_location'] : []),
      ...sampling.dropped,
      ...stop.dropped,
      ...lostFormat(plan),
      ...(thinking && reasoning.dropped ? [thinking.param] : []),
      ...droppedInside(asked, parameters),
    ],
  }
}

const MODALITIES: ReadonlyMap<unknown, Modality> = new Map([
  ['text', 'TEXT'],
  ['image', 'IMAGE'],
])

/** Text and pictures, of the models that make them (ai.google.dev/gemini-api/docs/image-generation, "Output types"). Text alone is every model's. */
function toModalities(body: Readonly<ChatRequest>): GenerationConfig {
  if (!Array.isArray(body.modalities) || asksForNothing('modalities', body.modalities)) return {}
  const responseModalities = body.modalities.map((name: unknown) => {
    const modality = MODALITIES.get(name)
    if (modality === undefined) throw unsupportedParameter('modalities', 'This provider gives text and pictures only.')
    return modality
  })
  return { responseModalities }
}

/** The parameters of a request that are sent, and the names of those that the model does not take. */
interface Split {
  readonly sent: GenerationConfig
  readonly dropped: readonly string[]
}

function toLimits(body: Readonly<ChatRequest>, facts: ModelFacts): GenerationConfig {
  const maxOutputTokens = body.max_completion_tokens ?? body.max_tokens
  const choices = body.n ?? 1
  if (choices > facts.choices) {
    throw unsupportedParameter('n', `This model gives ${facts.choices} a call at most; call it several times.`)
  }
  return {
    ...(maxOutputTokens != null && { maxOutputTokens }),
    ...(choices > 1 && { candidateCount: choices }),
    ...(typeof body.seed === 'number' && { seed: toInt32(body.seed) }),
  }
}

/** OpenAI's seed has 64 bits, Google's 32: equal seeds stay equal. */
export function toInt32(seed: number): number {
  return Math.abs(Math.trunc(seed)) % 2 ** 31
}

/** Numbers that some models do not take: OpenAI's name, Google's, the fact that decides, and the default. */
export const NUMBERS = [
  ['temperature', 'temperature', 'sampling', 1],
  ['top_p', 'topP', 'sampling', 1],
  ['top_k', 'topK', 'sampling', 0],
  ['frequency_penalty', 'frequencyPenalty', 'penalties', 0],
  ['presence_penalty', 'presencePenalty', 'penalties', 0],
] as const

function toSampling(body: Readonly<ChatRequest>, facts: ModelFacts): Split {
  const requested = NUMBERS.filter(([name]) => typeof body[name] === 'number')
  return {
    sent: Object.fromEntries(requested.filter(([, , fact]) => facts[fact]).map(([name, ours]) => [ours, body[name]])),
    dropped: requested.filter(([name, , fact, idle]) => !facts[fact] && body[name] !== idle).map(([name]) => name),
  }
}

/** The stop sequences of a request without the empty ones, which Google refuses. */
export const stopSequencesOf = ({ stop }: Readonly<ChatRequest>): readonly string[] =>
  [stop ?? []].flat().filter((sequence) => sequence !== '')

function toStop(body: Readonly<ChatRequest>): Split {
  const requested = [body.stop ?? []].flat()
  const stopSequences = stopSequencesOf(body)
  return {
    sent: { ...(stopSequences.length > 0 && { stopSequences }) },
    dropped: stopSequences.length < requested.length ? ['stop'] : [],
  }
}

function toLogprobs({ logprobs, top_logprobs: top }: Readonly<ChatRequest>): GenerationConfig {
  if (logprobs !== true) return {}
  return { responseLogprobs: true, ...(typeof top === 'number' && top > 0 && { logprobs: top }) }
}

function toFormat(body: Readonly<ChatRequest>): GenerationConfig {
  const format = readResponseFormat(body.response_format)
  if (format === undefined) return {}
  if (format.type === 'json_object') return { responseMimeType: 'application/json' }
  const { schema, description } = format
  const responseJsonSchema = toResponseSchema({ ...(description && { description }), ...schema })
  return { responseMimeType: 'application/json', responseJsonSchema }
}
