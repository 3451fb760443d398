import { describeProvider, type Said } from 'unified-model-gateway/plugin/testing'
import sandbox from '../../../../plugins/providers/sandbox/index.ts'

/** A request with these directives in its last message. */
const ordered = (orders: string) => ({ messages: [{ role: 'user', content: `Hello\nsandbox: ${orders}` }] })

const said = <Says extends Said>(says: Says, asked: Readonly<Record<string, unknown>> = {}) => ({ says, asked })

const HELLO = 'Hello from the sandbox, which answers for under-test/hello. You said: Hello'
/** The sandbox's vector of a text. */
const TEXT = 'sandbox'
const WEATHER = { name: 'get_weather', arguments: { city: TEXT } }
const TIME = { name: 'get_time', arguments: { zone: TEXT } }

const refused = (status: number, more = '') => ({ status, body: {}, asked: ordered(`status=${status}${more}`) })

describeProvider({
  plugin: sandbox,
  config: () => ({}),
  model: 'hello',
  local: true,
  requests: { absent: 'it answers by itself' },

  scenarios: {
    text: said({ text: HELLO, usage: { prompt_tokens: 1, completion_tokens: 11, total_tokens: 12 } }),
    parallelTools: said({ tools: [WEATHER, TIME] }, ordered('tool=get_weather,get_time')),
    toolWithoutArguments: said({ tools: [{ name: 'list_cities', arguments: {} }] }, ordered('tool=list_cities')),
    textBeforeTools: { absent: 'it either speaks or calls' },
    reasoning: said(
      { reasoning: 'The user wrote 1 words. I answer from the sandbox.', text: HELLO.replace('hello', 'reasoner') },
      { model: 'reasoner' },
    ),
    reasoningBeforeTools: { absent: 'it wants nothing back' },
    refusal: said({ text: HELLO, finish: 'content_filter' }, ordered('finish=content_filter')),
    length: said({ text: 'Hello from', finish: 'length' }, { max_tokens: 2 }),
    image: { absent: 'it reads text only' },
    cachedUsage: { absent: 'it has no cache' },
  },

  errors: {
    badRequest: refused(400),
    contextTooLong: { absent: 'it has no code for it' },
    badCredential: refused(401),
    unknownModel: refused(404),
    rateLimit: { ...refused(429, ' retry-after=3'), retryAfter: 3 },
    quota: refused(402),
    overloaded: refused(503),
    internal: refused(500),
  },

  midStreamError: { asked: ordered('cut=3 interval=1ms'), code: 'upstream_disconnected' },

  discovery: { lists: ['echo', 'hello', 'reasoner'] },

  endpoints: {
    completions: {
      asked: { model: 'echo' },
      says: { object: 'text_completion', choices: [{ text: 'Hello', finish_reason: 'stop' }] },
    },
    moderations: { says: { results: [{ flagged: false }] } },
    'images.generations': { says: { created: 1_710_808_084, usage: { input_tokens: 2, output_tokens: 1, total_tokens: 3 } } },
    'audio.speech': { says: { type: 'audio/wav' } },
    'audio.transcriptions': {
      says: { text: 'Hello from the sandbox. It cannot hear a.mp3, which has 4 bytes.' },
    },
    rerank: { says: { object: 'list', results: [{ index: 0 }, { index: 1 }] } },
  },

  embeddings: {
    asked: { dimensions: 4 },
    input: ['Hello', 'Hello, world'],
    says: {
      vectors: [
        [0.7128757834434509, -0.3905964493751526, -0.0972912535071373, 0.5742620825767517],
        [-0.5603246092796326, -0.6940116286277771, -0.1876092255115509, 0.4113234579563141],
      ],
      tokens: 3,
    },
  },
})
