import type { Errors, ProviderUnderTest, Scenarios } from 'unified-model-gateway/plugin/testing'
import { call, event, failure, reply, thought } from './generate-content.ts'

const SIGNATURE = 'EskgCsYgAb4c2lnbmVkIHRob3VnaHQ='
const OSLO = { name: 'get_weather', arguments: { city: 'Oslo' } }
const ROME = { name: 'get_weather', arguments: { city: 'Rome' } }

const FOX = Buffer.from('a picture of a fox').toString('base64')

/** A picture, as generateContent replies with it. */
const painted = {
  asked: { model: 'gemini-2.5-flash-image' },
  whole: reply([{ text: 'Here it is.' }, { inlineData: { mimeType: 'image/png', data: FOX } }]).whole,
  says: { data: [{ b64_json: FOX }], output_format: 'png', usage: { input_tokens: 12, output_tokens: 7, total_tokens: 19 } },
}

/** The endpoints of a Gemini, for the conformance suites of gemini and vertex. */
export const endpoints: ProviderUnderTest['endpoints'] = { 'images.generations': painted, 'images.edits': painted }

/** The scenarios of a Gemini, for the conformance suites of gemini and vertex. */
export const scenarios: Scenarios = {
  text: {
    ...reply([{ text: 'Hel' }, { text: 'lo ' }, { text: 'wörld 😀' }]),
    says: { text: 'Hello wörld 😀', usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 } },
  },
  parallelTools: {
    ...reply([call('get_weather', { city: 'Oslo' }), call('get_weather', { city: 'Rome' })]),
    says: { tools: [OSLO, ROME] },
  },
  toolWithoutArguments: { ...reply([call('list_cities')]), says: { tools: [{ name: 'list_cities', arguments: {} }] } },
  textBeforeTools: {
    ...reply([{ text: 'Let me ' }, { text: 'look.' }, call('get_weather', { city: 'Oslo' })]),
    says: { text: 'Let me look.', tools: [OSLO] },
  },
  reasoning: {
    ...reply([thought('Let me '), thought('think.'), { text: 'Done.' }]),
    says: { reasoning: 'Let me think.', text: 'Done.' },
  },
  reasoningBeforeTools: {
    ...reply([thought('The weather?'), call('get_weather', { city: 'Oslo' }, { thoughtSignature: SIGNATURE })]),
    says: { reasoning: 'The weather?', tools: [OSLO] },
    returns: SIGNATURE,
  },
  refusal: { ...reply([{ text: 'I will' }], { finishReason: 'SAFETY' }), says: { text: 'I will', finish: 'content_filter' } },
  length: { ...reply([{ text: 'Once upon' }], { finishReason: 'MAX_TOKENS' }), says: { text: 'Once upon', finish: 'length' } },
  image: { ...reply([{ text: 'A dot.' }]), says: { text: 'A dot.' } },
  cachedUsage: {
    ...reply([{ text: 'Hi.' }], {
      usage: { promptTokenCount: 1210, cachedContentTokenCount: 1000, candidatesTokenCount: 5, thoughtsTokenCount: 20 },
    }),
    says: {
      text: 'Hi.',
      usage: {
        prompt_tokens: 1210,
        completion_tokens: 25,
        prompt_tokens_details: { cached_tokens: 1000 },
        completion_tokens_details: { reasoning_tokens: 20 },
      },
    },
  },
}

const RETRY = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }
const KEY = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID', domain: 'googleapis.com' }
const quota = (quotaId: string) => ({ '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId }] })

/** Error replies of Google. */
export const errors: Errors = {
  badRequest: failure(400, 'INVALID_ARGUMENT', 'Please use a valid role: user, model.'),
  contextTooLong: failure(
    400,
    'INVALID_ARGUMENT',
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  ),
  badCredential: failure(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [KEY]),
  unknownModel: failure(404, 'NOT_FOUND', 'models/gemini-nine is not found for API version v1beta.'),
  rateLimit: {
    ...failure(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan and billing details.', [
      quota('GenerateRequestsPerMinutePerProjectPerModel-FreeTier'),
      RETRY,
    ]),
    retryAfter: 35,
  },
  quota: failure(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan and billing details.', [
    quota('GenerateRequestsPerDayPerProjectPerModel-FreeTier'),
    RETRY,
  ]),
  overloaded: failure(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
  internal: failure(500, 'INTERNAL', 'An internal error has occurred.'),
}

/** Google ends a failed stream with the error's JSON. */
export const midStreamError: ProviderUnderTest['midStreamError'] = {
  stream: [
    event({ candidates: [{ content: { parts: [{ text: 'Hel' }], role: 'model' }, index: 0 }] }),
    `${JSON.stringify(errors.overloaded && 'body' in errors.overloaded && errors.overloaded.body, null, 2)}\r\n`,
  ],
  code: 'upstream_overloaded',
}

/** The facts of a fictional model that takes every parameter. */
export const ABLE = { sampling: true, penalties: true, choices: 8 }
