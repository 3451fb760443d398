import {
  type Call,
  type ChatRequest,
  GatewayError,
  isRecord,
  type ResponseFormat,
  unsupportedParameter,
} from 'unified-model-gateway/plugin'
import { type Reader, toConversation } from './contents.ts'
import type { ModelFacts } from './models.ts'
import { toResponseSchema } from './schema.ts'
import type { Taken } from './taken.ts'
import { toThinking } from './thinking.ts'
import { isForced, type Toolset, toToolset } from './tools.ts'
import type { GenerateRequest, GenerationConfig } from './wire.ts'

/** A request in Google's shape, and the parameters it had to leave out for this model. */
export interface Translated {
  readonly request: GenerateRequest
  readonly dropped: readonly string[]
}

/** The last segment of the address of a call, after the model's name and a colon. */
export function generateMethod({ stream }: Call): string {
  return stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
}

/** A chat completion request as one for `:generateContent`. Throws `GatewayError` (400) for what cannot be honoured. */
export function toGenerateRequest(body: Readonly<ChatRequest>, reader: Reader): Translated {
  const { facts } = reader
  const toolset = toToolset(body)
  const thinking = toThinking(body.reasoning_effort ?? undefined, facts)
  const tuning = toTuning(body, facts)
  const stop = toStop(body.stop ?? undefined)
  const format = toFormat(body.response_format ?? undefined, toolset, facts)
  return {
    request: {
      ...toConversation(body.messages, reader),
      ...toolset,
      generationConfig: {
        ...toLimits(body, facts),
        ...tuning.taken,
        ...stop.taken,
        ...format.taken,
        ...toLogprobs(body),
        ...thinking.taken,
      },
    },
    dropped: [...tuning.dropped, ...stop.dropped, ...format.dropped, ...thinking.dropped],
  }
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

/** OpenAI's seed has 64 bits, Google's 32: the same seed always becomes the same one. */
function toInt32(seed: number): number {
  return Math.abs(Math.trunc(seed)) % 2 ** 31
}

/** Numbers that some models do not take: OpenAI's name, Google's, the fact that decides, and the value that changes nothing. */
const TUNING = [
  ['temperature', 'temperature', 'sampling', 1],
  ['top_p', 'topP', 'sampling', 1],
  ['frequency_penalty', 'frequencyPenalty', 'penalties', 0],
  ['presence_penalty', 'presencePenalty', 'penalties', 0],
] as const

function toTuning(body: Readonly<ChatRequest>, facts: ModelFacts): Taken {
  const asked = TUNING.filter(([name]) => typeof body[name] === 'number')
  return {
    taken: Object.fromEntries(asked.filter(([, , fact]) => facts[fact]).map(([name, ours]) => [ours, body[name]])),
    dropped: asked.filter(([name, , fact, idle]) => !facts[fact] && body[name] !== idle).map(([name]) => name),
  }
}

function toStop(stop: string | readonly string[] | undefined): Taken {
  const all = typeof stop === 'string' ? [stop] : (stop ?? [])
  const stopSequences = all.filter((sequence) => sequence !== '')
  return {
    taken: { ...(stopSequences.length > 0 && { stopSequences }) },
    dropped: stopSequences.length < all.length ? ['stop'] : [],
  }
}

function toLogprobs({ logprobs, top_logprobs: top }: Readonly<ChatRequest>): GenerationConfig {
  if (logprobs !== true) return {}
  return { responseLogprobs: true, ...(typeof top === 'number' && top > 0 && { logprobs: top }) }
}

/** Where a function must be called there is no answer to be formatted, and Google answers 400 to a format. */
function toFormat(format: ResponseFormat | undefined, toolset: Toolset, facts: ModelFacts): Taken {
  if (format === undefined || format.type === 'text') return { taken: {}, dropped: [] }
  if (isForced(toolset)) return { taken: {}, dropped: ['response_format'] }
  if (toolset.tools && !facts.jsonWithTools) {
    throw unsupportedParameter('response_format', 'This model writes JSON only where it has no tools: leave one of them out.')
  }
  if (format.type === 'json_object') return { taken: { responseMimeType: 'application/json' }, dropped: [] }
  const { schema, description } = format.json_schema
  if (!isRecord(schema)) throw new GatewayError('missing_required_parameter', { param: 'response_format.json_schema.schema' })
  const responseJsonSchema = toResponseSchema({ ...(description && { description }), ...schema })
  return { taken: { responseMimeType: 'application/json', responseJsonSchema }, dropped: [] }
}
