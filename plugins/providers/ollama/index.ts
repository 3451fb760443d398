import {
  API_VERSION,
  bearer,
  defineProvider,
  type Host,
  type Provider,
  parseBaseUrl,
  type Static,
  secret,
  type Translator,
  Type,
  type UpstreamHeaders,
} from 'unified-model-gateway/plugin'
import { toCompletion } from './completion.ts'
import { readModels } from './discovery.ts'
import { LineDecoder } from './lines.ts'
import { parameters } from './parameters.ts'
import { toRefusal } from './refusal.ts'
import { toChatBody } from './request.ts'
import { ChatStream } from './stream.ts'

const BASE_URL = 'http://127.0.0.1:11434'

const schema = Type.Object(
  {
    baseUrl: Type.Optional(
      Type.String({ pattern: '^https?://', default: BASE_URL, description: 'Where Ollama is: the address before /api/chat.' }),
    ),
    apiKey: Type.Optional(secret({ description: 'A key of ollama.com, or of a proxy before a server of your own.' })),
    options: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.Number(), Type.Boolean(), Type.String(), Type.Array(Type.String())]), {
        description: "Ollama's options of every call, such as num_ctx; those of the client go before.",
        examples: [{ num_ctx: 32_768 }],
      }),
    ),
    keepAlive: Type.Optional(
      Type.Union([Type.String({ pattern: '^-?\\d+(?:\\.\\d+)?(?:ms|s|m|h)$' }), Type.Integer()], {
        description: 'How long a model stays loaded after a call: 30m, or seconds; below 0 for ever.',
      }),
    ),
  },
  { additionalProperties: false },
)

/** Ollama's own API. What becomes of each parameter: docs/providers/ollama.md. */
export default defineProvider({ apiVersion: API_VERSION, name: 'ollama', schema, create })

function create({ baseUrl = BASE_URL, apiKey, options, keepAlive }: Static<typeof schema>, host: Host): Provider {
  const { origin, path } = parseBaseUrl(baseUrl, { endpoint: '/api/chat', example: BASE_URL })
  const base = `${path.replace(/\/(?:api|v1)$/, '')}/api`
  const credentials: UpstreamHeaders = apiKey ? { authorization: bearer(apiKey) } : {}
  return {
    parameters,
    request: (call, attempt) => ({
      origin,
      path: `${base}/chat`,
      headers: { ...call.headers, ...credentials },
      body: JSON.stringify(toChatBody(call.body, { model: attempt.model, options, keepAlive })),
    }),
    translator: chatTranslator,
    error: toRefusal,
    models: async (signal) => readModels(await host.getJson(`${origin}${base}/tags`, { headers: credentials, signal })),
  }
}

const chatTranslator = (): Translator =>
  Object.assign(new ChatStream(), { completion: toCompletion, decoder: () => new LineDecoder() })
