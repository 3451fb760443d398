import {
  API_VERSION,
  bearer,
  defineProvider,
  type Host,
  type Provider,
  parseBaseUrl,
  type Static,
  secret,
  Type,
} from 'unified-model-gateway/plugin'
import { toCompletion } from './completion.ts'
import { listModels } from './discovery.ts'
import { embeddingParameters, toEmbedReply, toEmbedRequest } from './embeddings.ts'
import { Facts } from './models.ts'
import { parameters } from './parameters.ts'
import { toRefusal } from './refusal.ts'
import { toChatBody } from './request.ts'
import { ChatStream } from './stream.ts'

const BASE_URL = 'https://api.cohere.com'

const schema = Type.Object(
  {
    apiKey: secret({ description: 'An API key of Cohere.' }),
    baseUrl: Type.Optional(
      Type.String({
        pattern: '^https?://',
        default: BASE_URL,
        description: 'Where the Chat API is: the address before /v2/chat.',
      }),
    ),
    facts: Type.Optional(
      Type.Record(Type.String(), Type.Partial(Facts, { additionalProperties: false }), {
        description: 'What is known of models, by globs of their names: before what the gateway knows.',
      }),
    ),
  },
  { additionalProperties: false },
)

/** Cohere's Chat API, version 2. What becomes of each parameter: docs/providers/cohere.md. */
export default defineProvider({ apiVersion: API_VERSION, name: 'cohere', schema, create })

function create({ apiKey, baseUrl = BASE_URL, facts }: Static<typeof schema>, host: Host): Provider {
  const { origin, path } = parseBaseUrl(baseUrl, { endpoint: '/v2/chat', example: BASE_URL })
  // A version at the end, as other tools want it, is taken for what it means.
  const prefix = path.replace(/\/v[12]$/, '')
  const credentials = { authorization: bearer(apiKey) }
  return {
    parameters,
    request(call, { model }) {
      const { request, dropped } = toChatBody(call.body, { model, facts })
      const headers = { ...call.headers, ...credentials }
      return { origin, path: `${prefix}/v2/chat`, headers, body: JSON.stringify(request), dropped }
    },
    translator: () => Object.assign(new ChatStream(), { completion: toCompletion }),
    endpoints: {
      embeddings: {
        parameters: embeddingParameters,
        request(call, { model }) {
          const body = JSON.stringify({ model, ...toEmbedRequest(call) })
          return { origin, path: `${prefix}/v2/embed`, headers: { ...call.headers, ...credentials }, body }
        },
        reply: toEmbedReply,
      },
    },
    error: toRefusal,
    models: (signal) =>
      listModels((query) =>
        host.getJson(`${origin}${prefix}/v1/models?${new URLSearchParams(query)}`, { headers: credentials, signal }),
      ),
  }
}
