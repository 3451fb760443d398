import { type Errors, event, type ProviderUnderTest, type Scenarios } from 'unified-model-gateway/plugin/testing'
import { azureReply, failure } from './azure-reply.ts'

const OSLO = { name: 'get_weather', arguments: { city: 'Oslo' } }
const ROME = { name: 'get_weather', arguments: { city: 'Rome' } }

/** A reply with this content. */
const saying = <Says extends Parameters<typeof azureReply>[0]>(says: Says) => ({ ...azureReply(says), says })

/** The scenarios of a deployment. */
export const scenarios: Scenarios = {
  text: saying({ text: 'Hello wörld 😀', usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 } }),
  parallelTools: saying({ tools: [OSLO, ROME] as const }),
  toolWithoutArguments: saying({ tools: [{ name: 'list_cities', arguments: {} }] as const }),
  textBeforeTools: saying({ text: 'Let me look.', tools: [OSLO] }),
  reasoning: saying({ reasoning: 'Let me think.', text: 'Done.' }),
  reasoningBeforeTools: { absent: 'no deployment wants its reasoning back' },
  refusal: saying({ text: 'I will', finish: 'content_filter' as const }),
  length: saying({ text: 'Once upon', finish: 'length' as const }),
  image: saying({ text: 'A dot.' }),
  cachedUsage: saying({
    text: 'Hi.',
    usage: { prompt_tokens: 1210, completion_tokens: 5, total_tokens: 1215, prompt_tokens_details: { cached_tokens: 1000 } },
  }),
}

/** Error replies of Azure, with codes of several kinds. */
export const errors: Errors = {
  badRequest: failure(400, 'OperationNotSupported', 'The chatCompletion operation does not work with the specified model.'),
  contextTooLong: failure(400, 'context_length_exceeded', "This model's maximum context length is 128000 tokens.", {
    type: 'invalid_request_error',
    param: 'messages',
  }),
  badCredential: failure(401, '401', 'Access denied due to invalid subscription key or wrong API endpoint.'),
  unknownModel: failure(404, 'DeploymentNotFound', 'The API deployment for this resource does not exist.'),
  rateLimit: failure(429, '429', 'Requests have exceeded the call rate limit of your current OpenAI S0 pricing tier.'),
  quota: failure(403, '403', 'Out of call volume quota for OpenAI F0 pricing tier. Please retry after 15 days.'),
  overloaded: failure(503, 'ServiceUnavailable', 'The server is temporarily unable to process your request.'),
  internal: failure(500, 'InternalServerError', 'Internal server error'),
}

const VECTORS = [
  [0.5, -0.25],
  [0.125, 1],
]

/** The embeddings of a deployment. */
export const embeddings: NonNullable<ProviderUnderTest['embeddings']> = {
  asked: { model: 'small-in-sweden' },
  input: ['Hello', 'Wörld'],
  whole: {
    object: 'list',
    data: VECTORS.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    model: 'text-embedding-3-small',
    usage: { prompt_tokens: 3, total_tokens: 3 },
  },
  says: { vectors: VECTORS, tokens: 3 },
}

/** An error after the stream's start. */
export const midStreamError: ProviderUnderTest['midStreamError'] = {
  stream: [
    ...azureReply({ text: 'Hello' }).stream.slice(0, 3),
    event({ error: { message: 'The server had an error.', type: 'server_error', param: null, code: null } }),
  ],
  code: 'upstream_error',
}
