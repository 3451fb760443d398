import {
  API_VERSION,
  defineProvider,
  type EndpointHandler,
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
import { betasOption, fitBetas } from './betas.ts'
import { factsRow, listModels, rememberedFacts } from './models.ts'
import { toRefusal } from './refusal.ts'
import { countBody, formatPlan, messagesBody, parameters, takesFormat } from './request.ts'
import { MessageTranslator } from './stream.ts'
import { TOOL_NAMES } from './tools.ts'

/** Of translated calls: later versions answer 400 to sampling parameters on every model. Clients of the Messages API choose their own. */
const VERSION = '2023-06-01'

const BASE_URL = 'https://api.anthropic.com'

const schema = Type.Object(
  {
    apiKey: secret({ description: 'An API key of Anthropic: sk-ant-…' }),
    baseUrl: Type.Optional(
      Type.String({
        pattern: '^https?://',
        default: BASE_URL,
        description: 'The base URL of the Messages API: the address before /v1/messages.',
      }),
    ),
    maxTokens: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'The most tokens of a reply if the request does not say. Default: the maximum of the model.',
      }),
    ),
    betas: betasOption('all are passed on'),
    facts: factsOption(factsRow),
  },
  { additionalProperties: false },
)

/** Anthropic's Messages API, whose own clients' bytes are passed on. The support of each parameter: docs/providers/anthropic.md. */
export default defineProvider({ apiVersion: API_VERSION, name: 'anthropic', schema, create })

function create(
  { apiKey, baseUrl = BASE_URL, maxTokens, betas = ['*'], facts = {} }: Static<typeof schema>,
  host: Host,
): Provider {
  const { origin, path } = parseBaseUrl(baseUrl, { endpoint: '/v1/messages', omit: /\/v1$/, example: BASE_URL })
  const factsOf = rememberedFacts(facts)
  const credentials = { 'x-api-key': apiKey, 'anthropic-version': VERSION }
  const verbatim = (endpoint: string): EndpointHandler => ({
    parameters: 'verbatim',
    request(call, { model }) {
      const { headers: own, dropped } = fitBetas(call.headers, betas)
      const headers = { ...credentials, ...own, 'x-api-key': apiKey }
      return { origin, path: path + endpoint, headers, body: call.splice({ model }), dropped }
    },
  })
  return {
    parameters,
    takesCallStates: true,
    toolNames: () => TOOL_NAMES,
    async request(call, { model, callStates: states }) {
      const { body, dropped } = await host.compute(call, messagesBody, { model, facts: factsOf(model), maxTokens, states })
      return { origin, path: `${path}/v1/messages`, headers: { ...call.headers, ...credentials }, body, dropped }
    },
    endpoints: {
      messages: {
        ...verbatim('/v1/messages'),
        // Of a model that is no Claude nothing is known.
        takes: (call, model) => takesFormat(call, factsOf(model).structuredOutputs || !model.includes('claude')),
      },
      'messages.count_tokens': verbatim('/v1/messages/count_tokens'),
      'responses.input_tokens': {
        parameters,
        takes: () => false,
        async request(call, { model }) {
          const body = await host.compute(call, countBody, { model, facts: factsOf(model), maxTokens })
          return { origin, path: `${path}/v1/messages/count_tokens`, headers: { ...call.headers, ...credentials }, body }
        },
        reply: (body) => body as object,
      },
    },
    translator: (call, { model }) => readFormat(new MessageTranslator(), formatPlan(formatMembers(call), factsOf(model))),
    error: toRefusal,
    models: (signal) =>
      listModels((query) =>
        host.getJson(`${origin}${path}/v1/models?${new URLSearchParams(query)}`, { headers: credentials, signal }),
      ),
  }
}
