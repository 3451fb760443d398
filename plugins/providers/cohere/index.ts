import {
  API_VERSION,
  bearer,
  defineProvider,
  factsOption,
  formatMembers,
  type Host,
  type Provider,
  parseBaseUrl,
  readFormat,
  type Static,
  secret,
  Type,
} from 'unified-model-gateway/plugin'
import { embedBody, embeddingParameters, toEmbedReply } from './embeddings.ts'
import { factsOf, factsRow, listModels } from './models.ts'
import { toRefusal } from './refusal.ts'
import { chatBody, formatPlan, parameters, TOOL_NAMES } from './request.ts'
import { rerankBody, rerankParameters, toRanking } from './rerank.ts'
import { ChatTranslator } from './stream.ts'

const BASE_URL = 'https://api.cohere.com'

const schema = Type.Object(
  {
    apiKey: secret({ description: 'An API key of Cohere.' }),
    baseUrl: Type.Optional(
      Type.String({
        pattern: '^https?://',
        default: BASE_URL,
        description: 'The base URL of the Chat API: the address before /v2/chat.',
      }),
    ),
    facts: factsOption(factsRow),
  },
  { additionalProperties: false },
)

/** Cohere's Chat API, version 2. The support of each parameter: docs/providers/cohere.md. */
export default defineProvider({ apiVersion: API_VERSION, name: 'cohere', schema, create })

function create({ apiKey, baseUrl = BASE_URL, facts }: Static<typeof schema>, host: Host): Provider {
  const { origin, path } = parseBaseUrl(baseUrl, { endpoint: '/v2/chat', omit: /\/v[12]$/, example: BASE_URL })
  const credentials = { authorization: bearer(apiKey) }
  return {
    parameters,
    takesCallStates: true,
    toolNames: () => TOOL_NAMES,
    async request(call, { model, callStates: states }) {
      const { body, dropped } = await host.compute(call, chatBody, { model, facts: factsOf(model, facts), states })
      return { origin, path: `${path}/v2/chat`, headers: { ...call.headers, ...credentials }, body, dropped }
    },
    translator: (call, { model }) => readFormat(new ChatTranslator(), formatPlan(formatMembers(call), factsOf(model, facts))),
    endpoints: {
      embeddings: {
        parameters: embeddingParameters,
        async request(call, { model }) {
          const body = await host.compute(call, embedBody, model)
          return { origin, path: `${path}/v2/embed`, headers: { ...call.headers, ...credentials }, body }
        },
        reply: toEmbedReply,
      },
      rerank: {
        parameters: rerankParameters,
        async request(call, { model }) {
          const body = await host.compute(call, rerankBody, model)
          return { origin, path: `${path}/v2/rerank`, headers: { ...call.headers, ...credentials }, body }
        },
        reply: toRanking,
      },
    },
    error: toRefusal,
    models: (signal) =>
      listModels((query) =>
        host.getJson(`${origin}${path}/v1/models?${new URLSearchParams(query)}`, { headers: credentials, signal }),
      ),
  }
}
