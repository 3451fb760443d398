import { Secret } from 'unified-model-gateway/plugin'
import { describeProvider, event, type Said } from 'unified-model-gateway/plugin/testing'
import { ENCRYPTED, responsesReply } from '../../../../core/testing/upstream/responses-reply.ts'
import openaiCompatible from '../../../../plugins/providers/openai-compatible/index.ts'
import { OPENAI_ERRORS } from './openai-errors.ts'

const said = <Says extends Said>(says: Says) => ({ ...responsesReply(says), says })

const OSLO = { name: 'get_weather', arguments: { city: 'Oslo' } }
const ROME = { name: 'get_weather', arguments: { city: 'Rome' } }

describeProvider({
  plugin: openaiCompatible,
  title: 'openai-compatible, with chat completions by the Responses API',
  config: ({ origin }) => ({
    baseUrl: `${origin}/v1`,
    apiKey: new Secret('sk-open-canary-77d1'),
    responses: true,
    api: 'responses',
  }),
  model: 'gpt-x',
  responses: 'verbatim',
  requests: { file: new URL('by-responses-requests.http', import.meta.url) },

  scenarios: {
    text: said({ text: 'Hello wörld 😀', usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 } }),
    parallelTools: said({ tools: [OSLO, ROME] }),
    toolWithoutArguments: said({ tools: [{ name: 'list_cities', arguments: {} }] }),
    textBeforeTools: said({ text: 'Let me look.', tools: [OSLO] }),
    reasoning: said({ reasoning: 'Let me think.', text: 'Done.' }),
    reasoningBeforeTools: { ...said({ reasoning: 'The weather?', tools: [OSLO] }), returns: ENCRYPTED },
    refusal: said({ refusal: 'I will not say that.' }),
    length: said({ text: 'Once upon', finish: 'length' }),
    image: said({ text: 'A dot.' }),
    cachedUsage: said({
      text: 'Hi.',
      usage: { prompt_tokens: 1200, completion_tokens: 5, total_tokens: 1205, prompt_tokens_details: { cached_tokens: 1000 } },
    }),
  },

  errors: OPENAI_ERRORS,

  midStreamError: {
    stream: [
      ...responsesReply({ text: 'Hello' }).stream.slice(0, 5),
      event({ type: 'error', code: 'overloaded_error', message: 'Overloaded', param: null, sequence_number: 5 }, 'error'),
    ],
    code: 'upstream_overloaded',
  },

  discovery: { answers: { object: 'list', data: [{ id: 'gpt-x' }] }, lists: ['gpt-x'] },

  embeddings: { absent: 'they are those of the provider with chat completions' },
})
