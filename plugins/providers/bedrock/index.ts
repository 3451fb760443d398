import {
  API_VERSION,
  type Attempt,
  type Call,
  defineProvider,
  type Host,
  type Provider,
  parseBaseUrl,
  type Static,
  secret,
  Type,
} from 'unified-model-gateway/plugin'
import { toCompletion } from './completion.ts'
import { createAuthority } from './credentials.ts'
import { listModels } from './discovery.ts'
import { embeddingParameters, toInvokeReply, toInvokeRequest } from './embeddings.ts'
import { FrameDecoder } from './frames.ts'
import { Facts } from './models.ts'
import { parameters } from './parameters.ts'
import { toRefusal } from './refusal.ts'
import { toConverseRequest } from './request.ts'
import { ConverseStream } from './stream.ts'

const address = (description: string) => Type.Optional(Type.String({ pattern: '^https?://', description }))

const schema = Type.Object(
  {
    region: Type.String({
      pattern: '^[a-z]+(-[a-z]+)+-[0-9]+$',
      description: 'The AWS region that is asked, such as us-east-1.',
    }),
    apiKey: Type.Optional(secret({ description: 'An API key of Amazon Bedrock, instead of AWS keys.' })),
    accessKeyId: Type.Optional(secret({ description: 'An AWS access key. Default: where the tools of AWS find theirs.' })),
    secretAccessKey: Type.Optional(secret({ description: 'The secret of the access key.' })),
    sessionToken: Type.Optional(secret({ description: 'The session token of a temporary access key.' })),
    baseUrl: address('Where Converse is: the address before /model. Default: https://bedrock-runtime.<region>.amazonaws.com.'),
    discoveryUrl: address(
      'Where models are listed: the address before /foundation-models. Default: baseUrl, or https://bedrock.<region>.amazonaws.com.',
    ),
    guardrail: Type.Optional(
      Type.Object(
        {
          id: Type.String({ minLength: 1, description: 'Its id or ARN.' }),
          version: Type.String({ pattern: '^([1-9][0-9]*|DRAFT)$', description: 'Its version, or DRAFT.' }),
        },
        { additionalProperties: false, description: 'The guardrail that every call passes.' },
      ),
    ),
    facts: Type.Optional(
      Type.Record(Type.String(), Type.Partial(Facts, { additionalProperties: false }), {
        description: 'What is known of models, by globs of their names: before what the gateway knows.',
      }),
    ),
  },
  { additionalProperties: false },
)

/** Amazon Bedrock's Converse API. What becomes of each parameter: docs/providers/bedrock.md. */
export default defineProvider({ apiVersion: API_VERSION, name: 'bedrock', schema, create })

function create(
  { region, baseUrl, discoveryUrl, guardrail, facts, ...credentials }: Static<typeof schema>,
  host: Host,
): Provider {
  const authority = createAuthority(credentials, region)
  const runtimeUrl = `https://bedrock-runtime.${region}.amazonaws.com`
  const controlUrl = `https://bedrock.${region}.amazonaws.com`
  const { origin, path: prefix } = parseBaseUrl(baseUrl ?? runtimeUrl, { endpoint: '/model', example: runtimeUrl })
  const control = parseBaseUrl(discoveryUrl ?? baseUrl ?? controlUrl, {
    field: 'discoveryUrl',
    endpoint: '/foundation-models',
    example: controlUrl,
  })
  async function ask(call: Call, { model, credentialRefused }: Attempt, operation: string, request: object) {
    const path = `${prefix}/model/${encode(model)}/${operation}`
    const body = JSON.stringify(request)
    const proof = await authority.prove({ method: 'POST', origin, path, headers: call.headers, body }, credentialRefused)
    return { origin, path, headers: { ...call.headers, ...proof }, body }
  }

  return {
    parameters,
    refreshes: authority.refreshes,
    async request(call, attempt) {
      const { request, dropped } = toConverseRequest(call.body, { model: attempt.model, facts, guardrail })
      return { ...(await ask(call, attempt, call.stream ? 'converse-stream' : 'converse', request)), dropped }
    },
    endpoints: {
      embeddings: {
        parameters: embeddingParameters,
        request: async (call, attempt) => ask(call, attempt, 'invoke', toInvokeRequest(call, attempt.model)),
        reply: toInvokeReply,
      },
    },
    translator: (_, { model }) =>
      Object.assign(new ConverseStream(model), {
        completion: (body: unknown) => toCompletion(body, model),
        decoder: () => new FrameDecoder(),
      }),
    error: toRefusal,
    models: (signal) =>
      listModels((list) => async (query) => {
        const path = control.path + list
        const headers = await authority.prove({ method: 'GET', origin: control.origin, path, query, headers: {} })
        return host.getJson(`${control.origin}${path}?${new URLSearchParams(query)}`, { headers, signal })
      }),
  }
}

/** Every sign but letters, digits and `-_.~`, as AWS's tools encode a path: an ARN's colons and slashes too. */
function encode(model: string): string {
  return encodeURIComponent(model).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}
