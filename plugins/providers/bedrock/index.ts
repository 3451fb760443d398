import {
  API_VERSION,
  type Attempt,
  type Call,
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
import { betasOption } from '../anthropic/betas.ts'
import { takesFormat } from '../anthropic/request.ts'
import { rerankParameters } from '../cohere/rerank.ts'
import { createAuthenticator } from './credentials.ts'
import { embeddingParameters, invokeBody, toInvokeReply } from './embeddings.ts'
import { countedModel, countRequest, InvokedEvents, messagesRequest, type ToInvoke, toCount } from './invoke.ts'
import { factsOf, factsRow, listModels, type ModelFacts } from './models.ts'
import { toCountRefusal, toRefusal } from './refusal.ts'
import { converseBody, formatPlan, parameters } from './request.ts'
import { invokeRerankBody, isReranker, toInvokedRanking } from './rerank.ts'
import { ConverseTranslator } from './stream.ts'
import { TOOL_NAMES } from './tools.ts'

const baseUrlOption = (description: string) => Type.Optional(Type.String({ pattern: '^https?://', description }))

const schema = Type.Object(
  {
    region: Type.String({
      pattern: '^[a-z]+(-[a-z]+)+-[0-9]+$',
      description: 'The AWS region, such as us-east-1.',
      examples: ['us-east-1'],
    }),
    apiKey: Type.Optional(secret({ description: 'An API key of Amazon Bedrock, instead of AWS keys.' })),
    accessKeyId: Type.Optional(
      secret({ description: 'An AWS access key. Default: the credentials that the tools of AWS find.' }),
    ),
    secretAccessKey: Type.Optional(secret({ description: 'The secret of the access key.' })),
    sessionToken: Type.Optional(secret({ description: 'The session token of a temporary access key.' })),
    baseUrl: baseUrlOption(
      'The base URL of the runtime: the address before /model. Default: https://bedrock-runtime.<region>.amazonaws.com.',
    ),
    discoveryUrl: baseUrlOption(
      'The base URL of the list of models: the address before /foundation-models. Default: baseUrl, or https://bedrock.<region>.amazonaws.com.',
    ),
    guardrail: Type.Optional(
      Type.Object(
        {
          id: Type.String({ minLength: 1, description: 'Its id or ARN.', examples: ['abcd1234efgh'] }),
          version: Type.String({ pattern: '^([1-9][0-9]*|DRAFT)$', description: 'Its version, or DRAFT.', examples: ['DRAFT'] }),
        },
        { additionalProperties: false, description: 'The guardrail of every call.' },
      ),
    ),
    betas: betasOption('those that Bedrock is known to take'),
    facts: factsOption(factsRow),
  },
  { additionalProperties: false },
)

/** Amazon Bedrock: its Converse API, and InvokeModel for Claude's own clients. The support of each parameter: docs/providers/bedrock.md. */
export default defineProvider({ apiVersion: API_VERSION, name: 'bedrock', schema, create })

function create(
  { region, baseUrl, discoveryUrl, guardrail, betas, facts, ...credentials }: Static<typeof schema>,
  host: Host,
): Provider {
  const authenticator = createAuthenticator(credentials, region)
  const runtimeUrl = `https://bedrock-runtime.${region}.amazonaws.com`
  const controlUrl = `https://bedrock.${region}.amazonaws.com`
  const { origin, path: prefix } = parseBaseUrl(baseUrl ?? runtimeUrl, { endpoint: '/model', example: runtimeUrl })
  const control = parseBaseUrl(discoveryUrl ?? baseUrl ?? controlUrl, {
    field: 'discoveryUrl',
    endpoint: '/foundation-models',
    example: controlUrl,
  })
  async function toRequest(
    { headers }: Pick<Call, 'headers'>,
    { model, credentialRefused }: Attempt,
    operation: string,
    body: Uint8Array,
  ) {
    const path = `${prefix}/model/${encode(model)}/${operation}`
    const authentication = await authenticator.headersFor({ method: 'POST', origin, path, headers, body }, credentialRefused)
    return { origin, path, headers: { ...headers, ...authentication }, body }
  }

  /** The client's own bytes, to a Claude. */
  const claudeHandler = (toInvoke: ToInvoke, addressed = (attempt: Attempt) => attempt): EndpointHandler => ({
    parameters: 'verbatim',
    serves: (model) => factsOf(model, facts).messages !== 'none',
    async request(call, attempt) {
      const { operation, body, dropped, headers } = await toInvoke(
        call,
        factsOf(attempt.model, facts),
        { betas, guardrail },
        host,
      )
      return { ...(await toRequest({ headers }, addressed(attempt), operation, body)), dropped }
    },
  })

  return {
    parameters,
    refreshes: authenticator.refreshes,
    takesCallStates: true,
    toolNames: () => TOOL_NAMES,
    async request(call, attempt) {
      const { model, callStates: states } = attempt
      const { body, dropped } = await host.compute(call, converseBody, { model, facts: factsOf(model, facts), guardrail, states })
      return { ...(await toRequest(call, attempt, call.stream ? 'converse-stream' : 'converse', body)), dropped }
    },
    endpoints: {
      embeddings: {
        parameters: embeddingParameters,
        request: async (call, attempt) => toRequest(call, attempt, 'invoke', await host.compute(call, invokeBody, attempt.model)),
        reply: toInvokeReply,
      },
      rerank: {
        parameters: rerankParameters,
        serves: isReranker,
        request: async (call, attempt) =>
          toRequest(call, attempt, 'invoke', await host.compute(call, invokeRerankBody, attempt.model)),
        reply: toInvokedRanking,
      },
      messages: {
        ...claudeHandler(messagesRequest),
        takes: (call, model) => takesFormat(call, followsSchemas(factsOf(model, facts))),
        decoder: () => new InvokedEvents(),
      },
      'messages.count_tokens': {
        ...claudeHandler(countRequest, countedModel),
        reply: toCount,
        error: toCountRefusal,
      },
    },
    translator: (call, { model }) =>
      readFormat(new ConverseTranslator(model), formatPlan(formatMembers(call), factsOf(model, facts))),
    error: toRefusal,
    models: (signal) =>
      listModels((list) => async (query) => {
        const path = control.path + list
        const headers = await authenticator.headersFor({ method: 'GET', origin: control.origin, path, query, headers: {} })
        return host.getJson(`${control.origin}${path}?${new URLSearchParams(query)}`, { headers, signal })
      }),
  }
}

/** Whether a Claude follows a schema. Of the newest models AWS does not say it yet. */
const followsSchemas = ({ schemas, messages }: ModelFacts): boolean => schemas || messages === 'versions'

/** Percent-encodes all but letters, digits and `-_.~`, as AWS's tools do in a path: also the colons and slashes of an ARN. */
function encode(model: string): string {
  return encodeURIComponent(model).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}
