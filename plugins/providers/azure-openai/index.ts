import {
  API_VERSION,
  type Attempt,
  bodyWith,
  type Call,
  defineProvider,
  type EndpointHandler,
  type FormatPlan,
  factsOption,
  formatMembers,
  GatewayError,
  type Host,
  type Provider,
  readFormat,
  type Static,
  secret,
  Type,
  type UpstreamRequest,
} from 'unified-model-gateway/plugin'
import { apiOption, chatByResponses } from '../openai-compatible/by-responses/handler.ts'
import { ENDPOINT_PATHS, forEndpoints } from '../openai-compatible/endpoints.ts'
import { factsRow, formatPlan, hintsOf, SCHEMAS_OF_OPENAI, takesFormat } from '../openai-compatible/facts.ts'
import { concernsOf } from '../openai-compatible/history.ts'
import { type QuirkBody, quirkBody, refuseMembers, splicedBody } from '../openai-compatible/index.ts'
import { memberOptions, refusedMembers } from '../openai-compatible/members.ts'
import { NAMES_OF_OPENAI } from '../openai-compatible/presets.ts'
import { withoutReasoning } from '../openai-compatible/reasoning-items.ts'
import { addressOf, ENDPOINTS, type Operation } from './address.ts'
import { EntraCredentials, keyCredentials } from './credentials.ts'
import { createAzureTranslator, toRefusal } from './reply.ts'

/** Azure searches these stores with its own identity, which may see more than the caller ("Azure OpenAI On Your Data", learn.microsoft.com). */
const STORES = ['data_sources'] as const

/** Models of a resource keep no reasoning that chat completions could send back. */
const HISTORY = 'none'
const STATES = concernsOf(HISTORY)

const schema = Type.Object(
  {
    baseUrl: Type.String({
      pattern: '^https?://',
      description: 'The endpoint of the resource, or of a gateway in front of it.',
      examples: ['https://acme.openai.azure.com'],
    }),
    apiKey: Type.Optional(
      secret({
        description: "One of the resource's keys. Absent: a token of Microsoft Entra ID for the identity of the machine.",
      }),
    ),
    apiVersion: Type.Optional(
      Type.String({
        pattern: '^[\\w.-]+$',
        description: 'The version of the API of deployments, 2024-10-21 or later. Absent: /openai/v1, which has none.',
      }),
    ),
    api: apiOption,
    facts: factsOption(factsRow),
    ...memberOptions(STORES),
  },
  { additionalProperties: false },
)

/** Azure OpenAI: models are the deployments of a resource. It receives the client's own bytes: docs/providers/azure-openai.md. */
export default defineProvider({ apiVersion: API_VERSION, name: 'azure-openai', schema, create })

function create({ baseUrl, apiKey, apiVersion, api, facts = {}, ...members }: Static<typeof schema>, host: Host): Provider {
  const address = addressOf(baseUrl, apiVersion)
  const refused = refusedMembers(STORES, members)
  const credentials = apiKey ? keyCredentials(apiKey) : new EntraCredentials(address.scope)

  async function toHead(operation: Operation, call: Call, attempt: Attempt): Promise<Omit<UpstreamRequest, 'body'>> {
    refuseMembers(call, refused)
    const path = address.path(operation, attempt.model)
    if (path === undefined) throw new GatewayError('model_not_found', { param: 'model', values: { model: call.model.id } })
    return { origin: address.origin, path, headers: { ...call.headers, ...(await credentials.forCall(call, attempt)) } }
  }

  const tables = [facts, SCHEMAS_OF_OPENAI]
  const planOf = (call: Call, { model }: Pick<Attempt, 'model'>): FormatPlan | undefined =>
    call.keys.includes('response_format') ? formatPlan(formatMembers(call), model, tables) : undefined

  function chatBody(call: Call, { model }: Attempt, format: FormatPlan | undefined): Promise<QuirkBody> | QuirkBody {
    const hasHistory = call.mayHave(STATES)
    if (!hasHistory && format === undefined) return { bytes: splicedBody(call, { model }), lost: [] }
    const history = hasHistory && { history: { kind: HISTORY, owner: 'azure-openai', model } as const }
    return host.compute(call, quirkBody, { model, quirks: [], ...history, ...(format && { format }) })
  }

  const verbatim = (endpoint: (typeof ENDPOINTS)[number]): EndpointHandler => ({
    parameters: 'verbatim',
    ...(endpoint === 'responses' && { takesCallStates: true, takes: (call, model) => takesFormat(call, model, tables) }),
    async request(call, attempt) {
      const head = await toHead(ENDPOINT_PATHS[endpoint], call, attempt)
      const { model, callStates } = attempt
      if (callStates === 'none') return { ...head, body: await host.compute(call, withoutReasoning, { model }) }
      return { ...head, body: endpoint === 'completions' ? splicedBody(call, attempt) : bodyWith(call, { model }) }
    },
  })

  return {
    parameters: 'verbatim',
    // Models that reason refuse max_tokens (learn.microsoft.com, "Azure OpenAI reasoning models").
    cap: 'max_completion_tokens',
    hints: (model) => hintsOf(model, [facts]),
    toolNames: () => NAMES_OF_OPENAI,
    ...(!apiKey && { refreshes: true }),
    async request(call, attempt) {
      const head = await toHead('/chat/completions', call, attempt)
      const { bytes, lost } = await chatBody(call, attempt, planOf(call, attempt))
      return { ...head, body: bytes, dropped: lost }
    },
    chatBy: chatByResponses({
      api,
      host,
      error: toRefusal,
      post: async (call, attempt, body) => ({ ...(await toHead(ENDPOINT_PATHS.responses, call, attempt)), body }),
    }),
    endpoints: forEndpoints(
      ENDPOINTS.filter((endpoint) => endpoint !== 'responses.compact' || address.compacts),
      verbatim,
    ),
    translator: (call, attempt) => readFormat(createAzureTranslator(), planOf(call, attempt)),
    error: toRefusal,
    async check(signal) {
      const headers = await credentials.headers()
      await host.getJson(address.origin + address.models, { headers, signal })
    },
  }
}
