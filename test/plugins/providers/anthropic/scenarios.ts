import type { Errors, ProviderUnderTest, Scenarios } from 'unified-model-gateway/plugin/testing'
import { failure, message, named, redacted, text, thinking, tool } from './messages-api.ts'

const SIGNATURE = 'c2lnbmVkIHRob3VnaHQ='
const OSLO = { name: 'get_weather', arguments: { city: 'Oslo' } }
const ROME = { name: 'get_weather', arguments: { city: 'Rome' } }
const TOOLS = { stop_reason: 'tool_use' }

/** The scenarios of a Claude, for the conformance suites of anthropic and vertex. */
export const scenarios: Scenarios = {
  text: {
    ...message([text('Hel', 'lo ', 'wörld 😀')]),
    says: { text: 'Hello wörld 😀', usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 } },
  },
  parallelTools: {
    ...message(
      [tool('toolu_1', 'get_weather', '{"city": ', '"Oslo"}'), tool('toolu_2', 'get_weather', '{"city":"Rome"}')],
      TOOLS,
    ),
    says: { tools: [OSLO, ROME] },
  },
  toolWithoutArguments: {
    ...message([tool('toolu_1', 'list_cities')], TOOLS),
    says: { tools: [{ name: 'list_cities', arguments: {} }] },
  },
  textBeforeTools: {
    ...message([text('Let me ', 'look.'), tool('toolu_1', 'get_weather', '{"city":"Oslo"}')], TOOLS),
    says: { text: 'Let me look.', tools: [OSLO] },
  },
  reasoning: {
    ...message([thinking(SIGNATURE, 'Let me ', 'think.'), redacted('c2VjcmV0'), text('Done.')]),
    says: { reasoning: 'Let me think.', text: 'Done.' },
  },
  reasoningBeforeTools: {
    ...message([thinking(SIGNATURE, 'The weather?'), tool('toolu_1', 'get_weather', '{"city":"Oslo"}')], TOOLS),
    says: { reasoning: 'The weather?', tools: [OSLO] },
    returns: SIGNATURE,
  },
  refusal: { ...message([text('I will')], { stop_reason: 'refusal' }), says: { text: 'I will', finish: 'content_filter' } },
  length: { ...message([text('Once upon')], { stop_reason: 'max_tokens' }), says: { text: 'Once upon', finish: 'length' } },
  image: { ...message([text('A dot.')]), says: { text: 'A dot.' } },
  cachedUsage: {
    ...message([text('Hi.')], {
      usage: { input_tokens: 10, cache_read_input_tokens: 1000, cache_creation_input_tokens: 200, output_tokens: 5 },
    }),
    says: {
      text: 'Hi.',
      usage: { prompt_tokens: 1210, prompt_tokens_details: { cached_tokens: 1000, cache_write_tokens: 200 } },
    },
  },
}

/** Error replies of Anthropic. */
export const errors: Errors = {
  badRequest: failure(400, 'invalid_request_error', 'messages: roles must alternate'),
  contextTooLong: failure(400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
  badCredential: failure(401, 'authentication_error', 'invalid x-api-key'),
  unknownModel: failure(404, 'not_found_error', 'model: claude-nine'),
  rateLimit: failure(429, 'rate_limit_error', 'Number of requests has exceeded your rate limit'),
  quota: failure(400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
  overloaded: failure(529, 'overloaded_error', 'Overloaded'),
  internal: failure(500, 'api_error', 'Internal server error'),
}

/** An error event within a stream. */
export const midStreamError: ProviderUnderTest['midStreamError'] = {
  stream: [
    ...message([text('Hel', 'lo')]).stream.slice(0, 4),
    named({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
  ],
  code: 'upstream_overloaded',
}

/** Requests that use a parameter, instead of the suite's own. */
export const parameters: NonNullable<ProviderUnderTest['parameters']> = {
  // Enough for the smallest budget of 1024 tokens.
  reasoning_effort: { reasoning_effort: 'low', max_tokens: 10_000 },
  thinking: { thinking: { type: 'enabled', budget_tokens: 3000 }, max_tokens: 10_000 },
  service_tier: { service_tier: 'default' },
}
