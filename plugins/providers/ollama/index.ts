import {
  API_VERSION,
  bearer,
  type ChatRequest,
  defineProvider,
  factsOption,
  formatMembers,
  type Host,
  isRecord,
  type Model,
  type Provider,
  parseBaseUrl,
  readFormat,
  type Static,
  secret,
  Type,
  type UpstreamHeaders,
} from 'unified-model-gateway/plugin'
import { factsRow, thinks } from './facts.ts'
import { STATE_OWNER } from './messages.ts'
import { toRefusal } from './refusal.ts'
import { chatBody, formatPlan, parameters } from './request.ts'
import { ChatTranslator } from './stream.ts'
import { requiredCall } from './tools.ts'

const BASE_URL = 'http://127.0.0.1:11434'

const schema = Type.Object(
  {
    baseUrl: Type.Optional(
      Type.String({
        pattern: '^https?://',
        default: BASE_URL,
        description: 'The base URL of Ollama: the address before /api/chat.',
      }),
    ),
    apiKey: Type.Optional(secret({ description: 'A key of ollama.com, or of a proxy in front of your own server.' })),
    options: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.Number(), Type.Boolean(), Type.String(), Type.Array(Type.String())]), {
        description: "Ollama's options of every call, such as num_ctx; those of the client override them.",
        examples: [{ num_ctx: 32_768 }],
      }),
    ),
    facts: factsOption(factsRow),
    keepAlive: Type.Optional(
      Type.Union([Type.String({ pattern: '^-?\\d+(?:\\.\\d+)?(?:ms|s|m|h)$' }), Type.Integer()], {
        description: 'How long a model stays loaded after a call: 30m, or seconds; below 0: without end.',
      }),
    ),
  },
  { additionalProperties: false },
)

/** Ollama's own API. The support of each parameter: docs/providers/ollama.md. */
export default defineProvider({ apiVersion: API_VERSION, name: 'ollama', schema, create })

function create({ baseUrl = BASE_URL, apiKey, options, keepAlive, facts = {} }: Static<typeof schema>, host: Host): Provider {
  const { origin, path } = parseBaseUrl(baseUrl, { endpoint: '/api/chat', omit: /\/(?:api|v1)$/, example: BASE_URL })
  const credentials: UpstreamHeaders = apiKey ? { authorization: bearer(apiKey) } : {}
  /** By model, whether it thinks, from the list of models. */
  const listed = new Map<string, boolean>()
  return {
    parameters,
    stateOwner: STATE_OWNER,
    async request(call, { model }) {
      const { body, dropped } = await host.compute(call, chatBody, {
        model,
        options,
        keepAlive,
        thinks: thinks(model, facts, listed.get(model)),
      })
      return { origin, path: `${path}/api/chat`, headers: { ...call.headers, ...credentials }, body, dropped }
    },
    translator(call) {
      const plan = formatPlan(formatMembers(call))
      // Beside the client's tools, the answer is one more that may be called.
      const required =
        plan?.by === 'tool' ? { name: undefined } : requiredCall(call.member('tool_choice') as ChatRequest['tool_choice'])
      return readFormat(new ChatTranslator(required), plan)
    },
    error: toRefusal,
    async models(signal) {
      const models = listOf(await host.getJson(`${origin}${path}/api/tags`, { headers: credentials, signal }))
      listed.clear()
      for (const { name, capabilities } of models)
        if (Array.isArray(capabilities)) listed.set(String(name), capabilities.includes('thinking'))
      return models.flatMap(toModel)
    },
  }
}

/** The models of a reply to `GET /api/tags`. Throws an Error if the reply is not a list of models. */
function listOf(reply: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!isRecord(reply) || !Array.isArray(reply.models)) throw new Error('the reply to GET /api/tags is not a list of models')
  const models = reply.models.filter((model) => isRecord(model) && typeof model.name === 'string')
  if (reply.models.length > 0 && models.length === 0) throw new Error('the reply to GET /api/tags has no model with a name')
  return models
}

function toModel({ name, modified_at, capabilities, details }: Readonly<Record<string, unknown>>): readonly Model[] {
  // Older versions omit capabilities.
  const canChat = !Array.isArray(capabilities) || capabilities.includes('completion')
  if (typeof name !== 'string' || name === '' || !canChat) return []
  const created = Math.floor(Date.parse(String(modified_at)) / 1000)
  const length = isRecord(details) ? details.context_length : undefined
  return [
    {
      id: name,
      owned_by: 'library',
      ...(created > 0 && { created }),
      ...(typeof length === 'number' && length > 0 && { context_length: length }),
      ...(Array.isArray(capabilities) && {
        input_modalities: capabilities.includes('vision') ? ['text', 'image'] : ['text'],
        output_modalities: ['text'],
      }),
    },
  ]
}
