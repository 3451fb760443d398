import type { Errors, ProviderUnderTest, Scenarios } from 'unified-model-gateway/plugin/testing'
import { call, failure, line, reply } from './chat-api.ts'

const OSLO = { name: 'get_weather', arguments: { city: 'Oslo' } }
const ROME = { name: 'get_weather', arguments: { city: 'Rome' } }

/** The scenarios of a model on Ollama. */
export const scenarios: Scenarios = {
  text: {
    ...reply([{ content: 'Hel' }, { content: 'lo ' }, { content: 'wörld 😀' }]),
    says: { text: 'Hello wörld 😀', usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 } },
  },
  parallelTools: {
    ...reply([call(1, 'get_weather', { city: 'Oslo' }), call(2, 'get_weather', { city: 'Rome' })]),
    says: { tools: [OSLO, ROME] },
  },
  toolWithoutArguments: { ...reply([call(1, 'list_cities', {})]), says: { tools: [{ name: 'list_cities', arguments: {} }] } },
  textBeforeTools: {
    ...reply([{ content: 'Let me ' }, { content: 'look.' }, call(1, 'get_weather', { city: 'Oslo' })]),
    says: { text: 'Let me look.', tools: [OSLO] },
  },
  reasoning: {
    ...reply([{ thinking: 'Let me ' }, { thinking: 'think.' }, { content: 'Done.' }]),
    says: { reasoning: 'Let me think.', text: 'Done.' },
  },
  reasoningBeforeTools: {
    ...reply([{ thinking: 'The weather in Oslo?' }, call(1, 'get_weather', { city: 'Oslo' })]),
    says: { reasoning: 'The weather in Oslo?', tools: [OSLO] },
    returns: '"thinking":"The weather in Oslo?"',
  },
  refusal: { absent: 'models refuse in words, and nothing filters them' },
  length: { ...reply([{ content: 'Once upon' }], { done_reason: 'length' }), says: { text: 'Once upon', finish: 'length' } },
  image: { ...reply([{ content: 'A dot.' }]), says: { text: 'A dot.' } },
  cachedUsage: { absent: 'what came from a cache is not told' },
}

/** Error replies of Ollama. */
export const errors: Errors = {
  badRequest: failure(400, '"llama3.2" does not support thinking'),
  contextTooLong: failure(400, 'the input length exceeds the context length'),
  badCredential: failure(401, 'unauthorized'),
  unknownModel: failure(404, "model 'llama9' not found"),
  rateLimit: failure(429, 'too many requests'),
  quota: { absent: 'ollama.com says no more than that there were too many requests' },
  overloaded: failure(503, 'server busy, please try again.  maximum pending requests exceeded'),
  internal: failure(500, 'model runner has unexpectedly stopped'),
}

/** An error in a line of the stream. */
export const midStreamError: ProviderUnderTest['midStreamError'] = {
  stream: [
    ...reply([{ content: 'Hel' }]).stream.slice(0, 1),
    line({ error: 'an error was encountered while running the model' }),
  ],
  code: 'upstream_error',
}
