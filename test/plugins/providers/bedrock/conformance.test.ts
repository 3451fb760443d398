import { Secret } from 'unified-model-gateway/plugin'
import { describeProvider, json, type ReceivedRequest } from 'unified-model-gateway/plugin/testing'
import plugin from '../../../../plugins/providers/bedrock/index.ts'
import { askedOf } from '../../../support/asked-models.ts'
import { RARE_REQUESTS } from '../../../support/rare-requests.ts'
import { ASKED, CONFIGURED, ENDPOINTS } from './asked.ts'
import { checkedSignature } from './checked-signature.ts'
import { reasoning, reply, SIGNATURE, text, tool } from './converse-reply.ts'
import { exception, MODEL } from './support.ts'

const failure = (status: number, type: string, message: string) => ({
  status,
  headers: {
    'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
    'x-amzn-requestid': 'aws-req-1',
  },
  body: { message },
})

const OSLO = { name: 'get_weather', arguments: { city: 'Oslo' } }
const ROME = { name: 'get_weather', arguments: { city: 'Rome' } }
const SORRY = "Sorry, I can't talk about that."

const RANKS = [
  { index: 1, relevance_score: 0.75 },
  { index: 0, relevance_score: 0.25 },
]

const EMBEDDINGS = [
  [0.25, -0.5, 1],
  [0.125, 0, -1],
]

describeProvider({
  plugin,
  config: ({ origin }) => ({
    region: 'us-east-1',
    baseUrl: origin,
    accessKeyId: new Secret('ASIACANARY31C9'),
    secretAccessKey: new Secret('secret-canary-31c9'),
    sessionToken: new Secret('session-canary-31c9'),
    // All that is tested here speaks by Converse, also to clients of the Messages API.
    facts: { '*': { messages: 'none', tiers: true } },
  }),
  model: MODEL,
  streamType: 'application/vnd.amazon.eventstream',
  parameters: { thinking: { thinking: { type: 'enabled', budget_tokens: 3000 }, max_tokens: 10_000 } },
  requests: {
    file: new URL('requests.http', import.meta.url),
    headers: checkedSignature('secret-canary-31c9'),
    asked: {
      ...RARE_REQUESTS,
      ...ASKED,
      ...askedOf([
        'anthropic.claude-opus-5-5',
        'anthropic.claude-haiku-4-5-20251001-v1:0',
        'anthropic.claude-3-haiku-20240307-v1:0',
        'amazon.nova-2-lite-v1:0',
        'openai.gpt-oss-120b-1:0',
        'meta.llama3-3-70b-instruct-v1:0',
      ]),
    },
    endpoints: ENDPOINTS,
    configured: CONFIGURED,
  },

  scenarios: {
    text: {
      ...reply([text('Hel', 'lo ', 'wörld 😀')]),
      says: { text: 'Hello wörld 😀', usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 } },
    },
    parallelTools: {
      ...reply(
        [tool('tooluse_1', 'get_weather', '{"city": ', '"Oslo"}'), tool('tooluse_2', 'get_weather', '{"city":"Rome"}')],
        'tool_use',
      ),
      says: { tools: [OSLO, ROME] },
    },
    toolWithoutArguments: {
      ...reply([tool('tooluse_1', 'list_cities')], 'tool_use'),
      says: { tools: [{ name: 'list_cities', arguments: {} }] },
    },
    textBeforeTools: {
      ...reply([text('Let me ', 'look.'), tool('tooluse_1', 'get_weather', '{"city":"Oslo"}')], 'tool_use'),
      says: { text: 'Let me look.', tools: [OSLO] },
    },
    reasoning: {
      ...reply([reasoning('Let me ', 'think.'), text('Done.')]),
      says: { reasoning: 'Let me think.', text: 'Done.' },
    },
    reasoningBeforeTools: {
      ...reply([reasoning('The weather?'), tool('tooluse_1', 'get_weather', '{"city":"Oslo"}')], 'tool_use'),
      says: { reasoning: 'The weather?', tools: [OSLO] },
      returns: SIGNATURE,
    },
    refusal: { ...reply([text(SORRY)], 'guardrail_intervened'), says: { text: SORRY, finish: 'content_filter' } },
    length: { ...reply([text('Once upon')], 'max_tokens'), says: { text: 'Once upon', finish: 'length' } },
    image: { ...reply([text('A dot.')]), says: { text: 'A dot.' } },
    cachedUsage: {
      ...reply([text('Hi.')], 'end_turn', {
        inputTokens: 10,
        outputTokens: 5,
        totalTokens: 1215,
        cacheReadInputTokens: 1000,
        cacheWriteInputTokens: 200,
      }),
      says: {
        text: 'Hi.',
        usage: { prompt_tokens: 1210, prompt_tokens_details: { cached_tokens: 1000, cache_write_tokens: 200 } },
      },
    },
  },

  errors: {
    badRequest: failure(
      400,
      'ValidationException',
      'The text field in the ContentBlock object at messages.0.content.0 is blank.',
    ),
    contextTooLong: failure(400, 'ValidationException', 'Input is too long for requested model.'),
    badCredential: failure(403, 'UnrecognizedClientException', 'The security token included in the request is invalid.'),
    unknownModel: failure(404, 'ResourceNotFoundException', 'Could not resolve the foundation model from the model identifier.'),
    rateLimit: failure(429, 'ThrottlingException', 'Too many requests, please wait before trying again.'),
    quota: failure(400, 'ServiceQuotaExceededException', 'Your request exceeds the service quota for your account.'),
    overloaded: failure(503, 'ServiceUnavailableException', 'Bedrock is unable to process your request.'),
    internal: failure(500, 'InternalServerException', 'The system encountered an unexpected error.'),
  },

  midStreamError: {
    stream: [...reply([text('Hel', 'lo')]).stream.slice(0, 2), exception('serviceUnavailableException', 'Try again later.')],
    code: 'upstream_overloaded',
  },

  discovery: {
    answers: listed,
    lists: [
      'amazon.nova-pro-v1:0',
      'amazon.nova-lite-v1:0',
      'us.amazon.nova-pro-v1:0',
      'arn:aws:bedrock:us-east-1:1:application-inference-profile/ours',
    ],
  },

  endpoints: {
    rerank: {
      asked: { model: 'cohere.rerank-v3-5:0', top_n: 2 },
      whole: { results: RANKS },
      says: { object: 'list', model: 'under-test/cohere.rerank-v3-5:0', results: RANKS },
    },
  },

  embeddings: {
    asked: { model: 'cohere.embed-v4:0' },
    input: ['Hello', 'Wörld'],
    whole: { id: 'a1', texts: ['hello', 'wörld'], embeddings: { float: EMBEDDINGS }, response_type: 'embeddings_by_type' },
    headers: { 'x-amzn-bedrock-input-token-count': '4' },
    says: { vectors: EMBEDDINGS, tokens: 4 },
    parameters: { input_type: { input_type: 'search_query' } },
  },
})

/** A list of models in one page, and one of inference profiles in two. */
function listed({ path }: ReceivedRequest) {
  const [modelId, inferenceTypesSupported] = ['amazon.nova-pro-v1:0', ['ON_DEMAND']]
  if (path.includes('/foundation-models')) {
    return json({
      modelSummaries: [
        { modelId, providerName: 'Amazon', inferenceTypesSupported },
        { modelId: 'amazon.nova-lite-v1:0', modelLifecycle: { status: 'ACTIVE' }, inferenceTypesSupported },
        { modelId: 'amazon.titan-old', modelLifecycle: { status: 'LEGACY' }, inferenceTypesSupported },
        { modelId: 'amazon.nova-only-by-profile', inferenceTypesSupported: ['INFERENCE_PROFILE'] },
        { modelId: 'amazon.of-no-type' },
        { modelId: '', inferenceTypesSupported },
      ],
      nextToken: 'never asked for',
    })
  }
  const models = [{ modelArn: 'arn:aws:bedrock:us-east-1::foundation-model/an-image-model' }, { modelArn: `arn:…/${modelId}` }]
  const [status, type] = ['ACTIVE', 'SYSTEM_DEFINED']
  if (!path.includes('nextToken=second')) {
    const inferenceProfileSummaries = [
      { inferenceProfileId: `us.${modelId}`, models, status, type },
      { inferenceProfileId: 'us.inactive', models, status: 'DELETING', type },
      { inferenceProfileId: 'us.of-no-models', status, type },
      { inferenceProfileId: 'us.of-an-image-model', models: models.slice(0, 1), status, type },
    ]
    return json({ inferenceProfileSummaries, nextToken: 'second' })
  }
  const inferenceProfileArn = 'arn:aws:bedrock:us-east-1:1:application-inference-profile/ours'
  return json({
    inferenceProfileSummaries: [{ inferenceProfileId: 'ours', inferenceProfileArn, models, status, type: 'APPLICATION' }],
  })
}
