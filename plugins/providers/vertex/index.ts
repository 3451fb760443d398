import {
  API_VERSION,
  type Attempt,
  type Call,
  defineProvider,
  dropped,
  type EndpointHandler,
  GatewayError,
  type Host,
  isRecord,
  type Provider,
  parseRecord,
  refused,
  type Static,
  secret,
  Type,
  type UpstreamRefusal,
} from 'unified-model-gateway/plugin'
import { betasOption, fitBetas } from '../anthropic/betas.ts'
import { cloudBody } from '../anthropic/clouds.ts'
import { toRefusal as toClaudeRefusal } from '../anthropic/refusal.ts'
import { parameters as claudeParameters, takesFormat } from '../anthropic/request.ts'
import { TOOL_NAMES as CLAUDE_TOOL_NAMES } from '../anthropic/tools.ts'
import { withoutVersion } from '../anthropic/versions.ts'
import { addressesOption, OWN_HOSTS } from '../gemini/addresses.ts'
import { toImages } from '../gemini/image-reply.ts'
import { editParameters, formImages, imageBody, imageHeaders, imageParameters, writesImages } from '../gemini/images.ts'
import { toCountRefusal, toRefusal as toGoogleRefusal } from '../gemini/refusal.ts'
import { parameters as geminiParameters, toCount } from '../gemini/request.ts'
import { TOOL_NAMES } from '../gemini/tools.ts'
import { addressesOf, isClaude, readModel } from './address.ts'
import { chatRequest, countRequest, createTranslator, factsOfClaude } from './chat.ts'
import { GoogleCredentials } from './credentials.ts'
import { embeddingParameters, embeddingRequest, toEmbeddingReply } from './embeddings.ts'
import { BETAS, countRequest as claudeCount, messagesRequest, RENAMED_BETAS } from './messages.ts'
import { factsSchema, listModels } from './models.ts'

const schema = Type.Object(
  {
    project: Type.String({
      pattern: '^[a-z][a-z0-9.:-]*$',
      description: 'The id of the Google Cloud project that is billed.',
      examples: ['my-project-123456'],
    }),
    region: Type.Optional(
      Type.String({
        pattern: '^[a-z][a-z0-9-]*$',
        default: 'global',
        description: 'The region of the models: us-east5, eu, global.',
      }),
    ),
    credentials: Type.Optional(
      secret({
        description:
          'The JSON key of a service account. Absent: the application default credentials, such as those of the metadata server.',
      }),
    ),
    baseUrl: Type.Optional(
      Type.String({
        pattern: '^https?://',
        description: 'The base URL of Vertex AI: the address before /projects. Default: the address of the region.',
      }),
    ),
    facts: Type.Optional(factsSchema),
    betas: betasOption('those that Vertex AI is known to take'),
    addresses: addressesOption,
  },
  { additionalProperties: false },
)

/** Anthropic's tiers are those of its own API; a search of the web needs a beta there. */
const CLAUDE_PARAMETERS = {
  ...claudeParameters,
  service_tier: dropped,
  web_search_options: refused('Claude does not search the web by chat completions here: send Messages.'),
}

const TIER_HEADER = 'x-vertex-ai-llm-shared-request-type'

/** Google's Vertex AI: Gemini and Claude. The support of each parameter: docs/providers/vertex.md. */
export default defineProvider({ apiVersion: API_VERSION, name: 'vertex', schema, create })

function create(
  { project, region = 'global', credentials, baseUrl, facts = {}, betas, addresses: allowed = [] }: Static<typeof schema>,
  host: Host,
): Provider {
  const addresses = addressesOf({ project, region, ...(baseUrl && { baseUrl }) })
  const google = new GoogleCredentials(project, credentials)

  // "Flex PayGo" and "Priority PayGo", docs.cloud.google.com (read 2026-11-26): of the global endpoint only, by a header.
  const tiers = region === 'global'
  const ownParameters = tiers ? geminiParameters : { ...geminiParameters, service_tier: dropped }

  const sender = (translate: typeof chatRequest | typeof countRequest) => async (call: Call, attempt: Attempt) => {
    const model = readModel(attempt.model)
    if (!model) throw new GatewayError('model_not_found', { param: 'model', values: { model: call.model.id } })
    const target = { model, own: facts, tiers, states: attempt.callStates }
    const { method, body, tier, dropped: lost } = await host.compute(call, translate, target)
    const headers = { ...call.headers, ...(await google.forCall(call, attempt)), ...(tier && { [TIER_HEADER]: tier }) }
    const path = addresses.path(model, method)
    return { origin: addresses.origin, path, headers, body, dropped: lost }
  }

  /** The client's own bytes, with what Vertex AI has in place of a header and of the model's name. */
  const claudeHandler = (toRequest: typeof messagesRequest): EndpointHandler => ({
    parameters: 'verbatim',
    serves: isClaude,
    async request(call, attempt) {
      const { name, method, members } = toRequest(call, readModel(attempt.model)!)
      const { headers: own, dropped: lostBetas } = fitBetas(withoutVersion(call), betas ?? BETAS, RENAMED_BETAS)
      const { body, dropped: lost } = await cloudBody(call, host, { members, lostBetas })
      const headers = { ...own, ...(await google.forCall(call, attempt)) }
      const path = addresses.path({ publisher: 'anthropic', name }, method)
      return { origin: addresses.origin, path, headers, body, dropped: [...lostBetas, ...lost] }
    },
  })

  const countByClaude = claudeHandler(claudeCount)
  const countByGemini = sender(countRequest)

  const imageHandler = (parameters: typeof imageParameters): EndpointHandler => ({
    parameters,
    serves: (model) => readModel(model)?.publisher === 'google' && writesImages(model),
    async request(call, attempt) {
      const body = await host.compute(call, imageBody, await formImages(call))
      const headers = { ...imageHeaders(call), ...(await google.forCall(call, attempt)) }
      return { origin: addresses.origin, path: addresses.path(readModel(attempt.model)!, 'generateContent'), headers, body }
    },
    reply: toImages,
  })

  return {
    parameters: (model) => (isClaude(model) ? CLAUDE_PARAMETERS : ownParameters),
    refreshes: true,
    addresses: allowed,
    ownHosts: OWN_HOSTS,
    takesCallStates: true,
    toolNames: (model) => (isClaude(model) ? CLAUDE_TOOL_NAMES : TOOL_NAMES),
    request: sender(chatRequest),
    endpoints: {
      embeddings: { parameters: embeddingParameters, request: sender(embeddingRequest), reply: toEmbeddingReply },
      'images.generations': imageHandler(imageParameters),
      'images.edits': imageHandler(editParameters),
      messages: {
        ...claudeHandler(messagesRequest),
        takes: (call, model) => takesFormat(call, factsOfClaude(readModel(model)!.name, facts).structuredOutputs),
      },
      'messages.count_tokens': {
        parameters: 'verbatim',
        takes: (_, model) => isClaude(model),
        request: (call, attempt) =>
          isClaude(attempt.model) ? countByClaude.request(call, attempt) : countByGemini(call, attempt),
        reply(body) {
          const { totalTokens, input_tokens: tokens = totalTokens } = isRecord(body) ? body : {}
          return toCount({ totalTokens: tokens })
        },
        error: (reply) => toCountRefusal(toRefusal(reply, project)),
      },
      'responses.input_tokens': {
        parameters: 'verbatim',
        serves: (model) => !isClaude(model),
        takes: () => false,
        request: countByGemini,
        reply: toCount,
        error: (reply) => toCountRefusal(toRefusal(reply, project)),
      },
    },
    translator: (call, { model }) => createTranslator(call, readModel(model)!, facts),
    error: (reply) => toRefusal(reply, project),
    async models(signal) {
      const headers = await google.headers()
      const get = (url: string) => (query: Readonly<Record<string, string>>) =>
        host.getJson(`${url}?${new URLSearchParams(query)}`, { headers, signal })
      return listModels((publisher) => get(addresses.list(publisher)), facts)
    },
  }
}

/** Reads an error reply: a Claude's errors are Anthropic's, all others are Google's. */
function toRefusal(reply: { readonly status: number; readonly body: string }, project: string): UpstreamRefusal {
  const { error } = parseRecord(reply.body) ?? {}
  const isClaudes = isRecord(error) && typeof error.type === 'string'
  const { message, ...refusal } = isClaudes ? toClaudeRefusal(reply) : toGoogleRefusal(reply)
  // Google's messages quote the resource with its project, which clients must not see.
  return { ...refusal, ...(message !== undefined && { message: message.replaceAll(project, '…') }) }
}
