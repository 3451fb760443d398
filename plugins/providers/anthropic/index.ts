import {
  API_VERSION,
  defineProvider,
  type Host,
  type Provider,
  parseBaseUrl,
  type Static,
  secret,
  Type,
} from 'unified-model-gateway/plugin'
import { listModels } from './discovery.ts'
import { factsOf, factsRow } from './models.ts'
import { parameters } from './parameters.ts'
import { toRefusal } from './refusal.ts'
import { toMessagesRequest } from './request.ts'
import { messagesTranslator } from './translator.ts'

/** Later versions answer 400 to sampling parameters on every model. */
const VERSION = '2023-06-01'

const BASE_URL = 'https://api.anthropic.com'

const schema = Type.Object(
  {
    apiKey: secret({ description: 'An API key of Anthropic: sk-ant-…' }),
    baseUrl: Type.Optional(
      Type.String({
        pattern: '^https?://',
        default: BASE_URL,
        description: 'Where the Messages API is: the address before /v1/messages.',
      }),
    ),
    maxTokens: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'Tokens a reply may have where the request does not say. Default: the most its model gives.',
      }),
    ),
    facts: Type.Optional(
      Type.Record(Type.String(), factsRow, {
        description: 'What models take, by globs of their names: goes before what the gateway knows of them.',
      }),
    ),
  },
  { additionalProperties: false },
)

/** Anthropic's Messages API. What becomes of each parameter: docs/providers/anthropic.md. */
export default defineProvider({ apiVersion: API_VERSION, name: 'anthropic', schema, create })

function create({ apiKey, baseUrl = BASE_URL, maxTokens, facts = {} }: Static<typeof schema>, host: Host): Provider {
  const { origin, path } = parseBaseUrl(baseUrl, { endpoint: '/v1/messages', example: BASE_URL })
  // A version at the end, as other tools want it, is taken for what it means.
  const prefix = path.replace(/\/v1$/, '')
  const credentials = { 'x-api-key': apiKey, 'anthropic-version': VERSION }
  return {
    parameters,
    request(call, attempt) {
      const { model } = attempt
      const { request, dropped } = toMessagesRequest(call.body, { model, facts: factsOf(model, facts), maxTokens })
      const headers = { ...call.headers, ...credentials }
      return { origin, path: `${prefix}/v1/messages`, headers, body: JSON.stringify(request), dropped }
    },
    translator: messagesTranslator,
    error: toRefusal,
    models: (signal) =>
      listModels((query) =>
        host.getJson(`${origin}${prefix}/v1/models?${new URLSearchParams(query)}`, { headers: credentials, signal }),
      ),
  }
}
