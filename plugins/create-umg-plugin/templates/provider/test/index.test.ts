import { Secret } from 'unified-model-gateway/plugin'
import { describeProvider, event } from 'unified-model-gateway/plugin/testing'
import plugin from '../src/index.ts'
import type { Call, Cost, Ending, Talk, TalkError, TalkEvent } from '../src/wire.ts'

/** A reply of Parrot's, whole and as the events of a stream. */
function talk(says: readonly string[], calls: readonly Call[] = [], ended: Ending = calls.length > 0 ? 'tools' : 'done') {
  const cost: Cost = { heard: 12, said: 7 }
  const whole: Talk = { id: 'talk_1', says: says.join(''), calls, ended, cost }
  const events: TalkEvent[] = [
    { id: 'talk_1' },
    ...says.map((piece) => ({ says: piece })),
    ...calls.map((call) => ({ call })),
    { ended, cost },
  ]
  return { whole, stream: events.map((one) => event(one)) }
}

const trouble = (status: number, kind: string, words = 'Squawk!') => ({
  status,
  body: { trouble: { kind, words } } satisfies TalkError,
})

const OSLO = { name: 'get_weather', arguments: { city: 'Oslo' } }
const ROME = { name: 'get_weather', arguments: { city: 'Rome' } }
const call = (id: string, { name, arguments: input }: typeof OSLO): Call => ({ id, name, input })

describeProvider({
  plugin,
  config: ({ origin }) => ({ baseUrl: origin, apiKey: new Secret('parrot-canary-5e1d') }),
  model: 'ara-2',

  // What the service must get. UMG_WRITE_REQUESTS=1 npm test writes the file: read it beside the documentation of the service.
  requests: { file: new URL('requests.http', import.meta.url) },

  // Replies of the service, and what the client must read. Recorded replies are the best fixtures.
  scenarios: {
    text: {
      ...talk(['Hel', 'lo ', 'wörld 😀']),
      says: { text: 'Hello wörld 😀', usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 } },
    },
    parallelTools: { ...talk([], [call('call_1', OSLO), call('call_2', ROME)]), says: { tools: [OSLO, ROME] } },
    toolWithoutArguments: {
      ...talk([], [{ id: 'call_1', name: 'list_cities', input: {} }]),
      says: { tools: [{ name: 'list_cities', arguments: {} }] },
    },
    textBeforeTools: { ...talk(['Let me ', 'look.'], [call('call_1', OSLO)]), says: { text: 'Let me look.', tools: [OSLO] } },
    reasoning: { absent: 'Parrot does not think' },
    reasoningBeforeTools: { absent: 'Parrot does not think' },
    refusal: { ...talk(['I will'], [], 'bleep'), says: { text: 'I will', finish: 'content_filter' } },
    length: { ...talk(['Once upon'], [], 'words'), says: { text: 'Once upon', finish: 'length' } },
    image: { absent: 'Parrot reads text only' },
    cachedUsage: { absent: 'Parrot has no cache' },
  },

  // The further reasons for which its replies end.
  finishes: { hush: { ...talk(['Hello'], [], 'hush'), says: { text: 'Hello', finish: 'stop' } } },

  errors: {
    badRequest: trouble(400, 'odd'),
    contextTooLong: trouble(400, 'too_long'),
    badCredential: trouble(401, 'stranger'),
    unknownModel: trouble(404, 'no_such_engine'),
    rateLimit: trouble(429, 'busy'),
    quota: trouble(402, 'broke'),
    overloaded: trouble(503, 'tired'),
    internal: trouble(500, 'fell_off_the_perch'),
  },

  midStreamError: {
    stream: [...talk(['Hel']).stream.slice(0, 2), event({ trouble: { kind: 'tired' } } satisfies TalkError)],
    code: 'upstream_overloaded',
  },

  discovery: { answers: { engines: [{ name: 'ara-2' }, { name: 'kea-1' }] }, lists: ['ara-2', 'kea-1'] },
})
