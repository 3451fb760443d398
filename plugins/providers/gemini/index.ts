import {
  API_VERSION,
  type Attempt,
  type Call,
  defineProvider,
  type EndpointHandler,
  factsOption,
  formatMembers,
  GatewayError,
  type Host,
  type Provider,
  parseBaseUrl,
  readFormat,
  type Static,
  secret,
  Type,
} from 'unified-model-gateway/plugin'
import { addressesOption, OWN_HOSTS } from './addresses.ts'
import { apiOption, carriesMore } from './api-choice.ts'
import { batchEmbedBody, embeddingParameters, toBatchEmbeddings } from './embeddings.ts'
import { toImages } from './image-reply.ts'
import { editParameters, formImages, imageBody, imageHeaders, imageParameters, writesImages } from './images.ts'
import { toRefusal as toInteractionRefusal } from './interaction-refusal.ts'
import { interactionBody, interactionParameters } from './interaction-request.ts'
import { InteractionTranslator } from './interaction-stream.ts'
import { factsOf, factsRow, listModels } from './models.ts'
import { toCountRefusal, toRefusal } from './refusal.ts'
import { countBody, formatPlan, generateBody, generateMethod, parameters, toCount } from './request.ts'
import { GenerateTranslator } from './stream.ts'
import { TOOL_NAMES } from './tools.ts'

const BASE_URL = 'https://generativelanguage.googleapis.com/v1beta'

const schema = Type.Object(
  {
    apiKey: secret({ description: 'An API key of Google AI Studio.' }),
    baseUrl: Type.Optional(
      Type.String({
        pattern: '^https?://',
        default: BASE_URL,
        description: 'The base URL of the Gemini API: the address before /models. Without a version at its end it is v1beta.',
      }),
    ),
    api: apiOption,
    facts: factsOption(factsRow),
    addresses: addressesOption,
  },
  { additionalProperties: false },
)

/** Google's Gemini API, with a key of AI Studio. The support of each parameter: docs/providers/gemini.md. */
export default defineProvider({ apiVersion: API_VERSION, name: 'gemini', schema, create })

/** A way to serve chat completions. */
type ChatWay = NonNullable<ReturnType<NonNullable<Provider['chatBy']>>>

function create(
  { apiKey, baseUrl = BASE_URL, api = 'auto', facts = {}, addresses = [] }: Static<typeof schema>,
  host: Host,
): Provider {
  const { origin, path: base } = parseBaseUrl(baseUrl, { endpoint: '/models', example: BASE_URL })
  const prefix = /\/v\d\w*$/.test(base) ? base : `${base}/v1beta`
  const credentials = { 'x-goog-api-key': apiKey }
  const imageHandler = (parameters: typeof imageParameters): EndpointHandler => ({
    parameters,
    serves: writesImages,
    async request(call, attempt) {
      const path = `${prefix}/models/${modelOf(call, attempt)}:generateContent`
      const body = await host.compute(call, imageBody, await formImages(call))
      return { origin, path, headers: { ...imageHeaders(call), ...credentials }, body }
    },
    reply: toImages,
  })
  const counter: EndpointHandler = {
    parameters,
    takes: () => false,
    async request(call, attempt) {
      const name = modelOf(call, attempt)
      const body = await host.compute(call, countBody, { name, facts: factsOf(attempt.model, facts), callIds: true })
      return { origin, path: `${prefix}/models/${name}:countTokens`, headers: { ...call.headers, ...credentials }, body }
    },
    reply: toCount,
    error: (reply) => toCountRefusal(toRefusal(reply)),
  }
  const byGenerate: ChatWay = {
    parameters,
    takesCallStates: true,
    async request(call, attempt) {
      const path = `${prefix}/models/${modelOf(call, attempt)}:${generateMethod(call)}`
      const target = { facts: factsOf(attempt.model, facts), callIds: true, tiers: true, states: attempt.callStates } as const
      const { body, dropped } = await host.compute(call, generateBody, target)
      return { origin, path, headers: { ...call.headers, ...credentials }, body, dropped }
    },
    translator: (call, { model }) =>
      readFormat(new GenerateTranslator(call), formatPlan(formatMembers(call), factsOf(model, facts))),
    error: toRefusal,
  }
  const byInteractions: ChatWay = {
    parameters: interactionParameters,
    takesCallStates: true,
    async request(call, attempt) {
      const target = { model: modelOf(call, attempt), facts: factsOf(attempt.model, facts), states: attempt.callStates }
      const { body, dropped } = await host.compute(call, interactionBody, target)
      return { origin, path: `${prefix}/interactions`, headers: { ...call.headers, ...credentials }, body, dropped }
    },
    translator: (call, { model }) =>
      readFormat(new InteractionTranslator(call), formatPlan(formatMembers(call), factsOf(model, facts))),
    error: toInteractionRefusal,
  }
  const chooses = api === 'auto' && origin === new URL(BASE_URL).origin
  return {
    ...(api === 'interactions' ? byInteractions : byGenerate),
    ...(chooses && {
      chatBy: (call: Call, model: string) => (carriesMore(call, factsOf(model, facts)) ? byInteractions : undefined),
    }),
    addresses,
    ownHosts: OWN_HOSTS,
    toolNames: () => TOOL_NAMES,
    endpoints: {
      'messages.count_tokens': counter,
      'responses.input_tokens': counter,
      'images.generations': imageHandler(imageParameters),
      'images.edits': imageHandler(editParameters),
      embeddings: {
        parameters: embeddingParameters,
        async request(call, attempt) {
          const model = modelOf(call, attempt)
          const body = await host.compute(call, batchEmbedBody, model)
          return {
            origin,
            path: `${prefix}/models/${model}:batchEmbedContents`,
            headers: { ...call.headers, ...credentials },
            body,
          }
        },
        reply: toBatchEmbeddings,
      },
    },
    models: (signal) =>
      listModels((query) =>
        host.getJson(`${origin}${prefix}/models?${new URLSearchParams(query)}`, { headers: credentials, signal }),
      ),
  }
}

/** The model's name in the address. Throws `GatewayError` (404) for a name that could change the address. */
function modelOf(call: Call, { model }: Attempt): string {
  const name = model.replace(/^models\//, '')
  if (/^[\w-][\w.-]*$/.test(name)) return name
  throw new GatewayError('model_not_found', { param: 'model', values: { model: call.model.id } })
}
