import { Secret } from 'unified-model-gateway/plugin'
import { DONE, describeProvider, event, type Said } from 'unified-model-gateway/plugin/testing'
import openaiCompatible from '../../../../plugins/providers/openai-compatible/index.ts'

const HEAD = { id: 'b3999b8c93e04e11', created: 1_769_088_854, model: 'magistral-medium-2509' }
const USAGE = { prompt_tokens: 12, total_tokens: 19, completion_tokens: 7 }

/** A reply of Mistral: thinking is part of the content, tool calls have no index and no type, usage is in the chunk with the finish. */
function mistral<Says extends Said>(says: Says, { finish, usage = USAGE }: { finish?: string; usage?: object } = {}) {
  const { text, reasoning, tools = [] } = says
  const calls = tools.map(({ name, arguments: values }, index) => ({
    id: `gSIMJiOk${index}`,
    function: { name, arguments: JSON.stringify(values) },
  }))
  const thinking = (thought: string) => ({ type: 'thinking', thinking: [{ type: 'text', text: thought }] })
  const content = reasoning === undefined ? text : [thinking(reasoning), { type: 'text', text }]
  const finish_reason = finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')
  const chunk = (delta: object, more: object = {}, finished: string | null = null) =>
    event({ ...HEAD, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finished }], ...more })
  return {
    says,
    whole: {
      ...HEAD,
      object: 'chat.completion',
      usage,
      choices: [
        { index: 0, finish_reason, message: { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) } },
      ],
    },
    stream: [
      chunk({ role: 'assistant', content: '' }),
      ...(reasoning === undefined ? [] : [chunk({ content: [thinking(reasoning)] })]),
      ...(text === undefined ? [] : [text.slice(0, 3), text.slice(3)].map((piece) => chunk({ content: piece }))),
      ...calls.map((call) => chunk({ content: null, tool_calls: [call] })),
      chunk({ content: '' }, { usage }, finish_reason),
      DONE,
    ],
  }
}

const failure = (status: number, message: unknown) => ({ status, body: { object: 'error', message, type: 'invalid', code: '1' } })

const OSLO = { name: 'get_weather', arguments: { city: 'Oslo' } }
const ROME = { name: 'get_weather', arguments: { city: 'Rome' } }

describeProvider({
  plugin: openaiCompatible,
  title: 'openai-compatible, with the preset mistral',
  config: ({ origin }) => ({ preset: 'mistral', baseUrl: `${origin}/v1`, apiKey: new Secret('mistral-canary-9b4e') }),
  model: 'magistral-medium',
  requests: { file: new URL('mistral-requests.http', import.meta.url) },
  refused: ['logprobs', 'top_logprobs', 'logit_bias', 'moderation', 'modalities', 'audio', 'web_search_options'],

  scenarios: {
    text: mistral({ text: 'Hello wörld', usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 } }),
    parallelTools: mistral({ tools: [OSLO, ROME] }),
    toolWithoutArguments: mistral({ tools: [{ name: 'list_cities', arguments: {} }] }),
    textBeforeTools: mistral({ text: 'Let me look.', tools: [OSLO] }),
    reasoning: mistral({ reasoning: 'Let me think.', text: 'Done.' }),
    reasoningBeforeTools: { absent: 'Mistral takes no reasoning back' },
    refusal: { absent: 'Mistral has no finish reason for it' },
    length: mistral({ text: 'Once upon', finish: 'length' }, { finish: 'model_length' }),
    image: mistral({ text: 'A dot.' }),
    cachedUsage: { absent: 'Mistral does not say what was cached' },
  },

  errors: {
    badRequest: {
      ...failure(422, { detail: [{ loc: ['body', 'messages', 0, 'role'], msg: 'Input should be a role' }] }),
      param: 'messages.0.role',
    },
    contextTooLong: { absent: 'Mistral has no code for it' },
    badCredential: { status: 401, body: { detail: 'Unauthorized' } },
    unknownModel: failure(404, 'Invalid model: magistral-nine'),
    rateLimit: failure(429, 'Requests rate limit exceeded'),
    quota: { status: 402, body: { detail: 'Payment required' } },
    overloaded: failure(503, 'Service unavailable'),
    internal: failure(500, 'Internal server error'),
  },

  midStreamError: {
    stream: [...mistral({ text: 'Hello' }).stream.slice(0, 2), ...mistral({ text: '' }, { finish: 'error' }).stream.slice(-2)],
    code: 'upstream_error',
  },

  discovery: { answers: { data: [{ id: 'magistral-medium' }] }, lists: ['magistral-medium'] },

  embeddings: { absent: 'they are those of the provider without a preset' },
})
