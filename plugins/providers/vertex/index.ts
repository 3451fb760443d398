import {
  API_VERSION,
  type Attempt,
  type Call,
  defineProvider,
  GatewayError,
  type Host,
  type Provider,
  type Static,
  secret,
  Type,
} from 'unified-model-gateway/plugin'
import { type FactsTable as ClaudeFacts, factsRow as claudeRow } from '../anthropic/models.ts'
import { parameters as claudeParameters } from '../anthropic/parameters.ts'
import { messagesTranslator } from '../anthropic/translator.ts'
import { factsOf, type FactsTable as GeminiFacts, factsRow as geminiRow } from '../gemini/models.ts'
import { parameters as geminiParameters } from '../gemini/parameters.ts'
import { generateMethod, toGenerateRequest } from '../gemini/request.ts'
import { generateTranslator } from '../gemini/translator.ts'
import { addressesOf } from './address.ts'
import { claudeMethod, toClaudeRequest } from './claude.ts'
import { GoogleCredentials } from './credentials.ts'
import { listModels } from './discovery.ts'
import { embeddingParameters, toEmbedding, toEmbeddingReply } from './embeddings.ts'
import { readModel, type VertexModel } from './model-name.ts'
import shipped from './models.json' with { type: 'json' }
import { toRefusal } from './refusal.ts'

const schema = Type.Object(
  {
    project: Type.String({ pattern: '^[a-z][a-z0-9.:-]*$', description: 'The Google Cloud project that is billed: its id.' }),
    region: Type.Optional(
      Type.String({
        pattern: '^[a-z][a-z0-9-]*$',
        default: 'global',
        description: 'Where the models run: us-east5, eu, global.',
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
        description: 'Where Vertex AI is: the address before /projects. Default: the one of the region.',
      }),
    ),
    facts: Type.Optional(
      // A row is a Claude's where its glob says so.
      Type.Record(Type.String({ pattern: 'claude' }), claudeRow, {
        additionalProperties: geminiRow,
        description: 'What models take, by globs of their names: goes before what the gateway knows of them.',
      }),
    ),
  },
  { additionalProperties: false },
)

/** Google's Vertex AI: Gemini and Claude. What becomes of each parameter: docs/providers/vertex.md. */
export default defineProvider({ apiVersion: API_VERSION, name: 'vertex', schema, create })

function create({ project, region = 'global', credentials, baseUrl, facts = {} }: Static<typeof schema>, host: Host): Provider {
  const addresses = addressesOf({ project, region, ...(baseUrl && { baseUrl }) })
  const google = new GoogleCredentials(project, credentials)
  const factsFor = (model: string) => factsOf(model, facts as GeminiFacts, shipped as GeminiFacts)

  function translate(call: Call, { publisher, name }: VertexModel) {
    if (publisher === 'anthropic')
      return { ...toClaudeRequest(call.body, name, facts as ClaudeFacts), method: claudeMethod(call.stream) }
    return { ...toGenerateRequest(call.body, { facts: factsFor(name), callIds: false }), method: generateMethod(call) }
  }

  /** `make`: what to send, where, and what of the request is left out. */
  const ask = (make: typeof translate | typeof toEmbedding) => async (call: Call, attempt: Attempt) => {
    const model = readModel(attempt.model)
    if (!model) throw new GatewayError('model_not_found', { param: 'model', values: { model: call.model.id } })
    const { request, method, ...left } = make(call, model)
    const headers = { ...call.headers, ...(await google.forCall(call, attempt)) }
    return { origin: addresses.origin, path: addresses.path(model, method), headers, body: JSON.stringify(request), ...left }
  }

  return {
    parameters: (model) => (isClaude(model) ? claudeParameters : geminiParameters),
    refreshes: true,
    request: ask(translate),
    endpoints: { embeddings: { parameters: embeddingParameters, request: ask(toEmbedding), reply: toEmbeddingReply } },
    translator: (call, attempt) => (isClaude(attempt.model) ? messagesTranslator() : generateTranslator(call)),
    error: (reply) => toRefusal(reply, project),
    async models(signal) {
      const headers = await google.headers()
      return listModels({
        get: (publisher) => (query) =>
          host.getJson(`${addresses.list(publisher)}?${new URLSearchParams(query)}`, { headers, signal }),
        contextLength: (model) => factsFor(model).contextLength,
      })
    },
  }
}

function isClaude(model: string): boolean {
  return readModel(model)?.publisher === 'anthropic'
}
