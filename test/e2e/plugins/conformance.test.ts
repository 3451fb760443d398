import { Secret } from 'unified-model-gateway/plugin'
import { describeProvider, json } from 'unified-model-gateway/plugin/testing'
import acme from './strangers/acme.ts'

interface Ending {
  readonly end: 'done' | 'words' | 'hush'
  readonly cost: { readonly heard: number; readonly said: number }
}

/** What Acme says, piece by piece: one JSON object a line. */
function speech(pieces: readonly string[], end: Ending['end'] = 'done') {
  const ending: Ending = { end, cost: { heard: 5, said: 2 } }
  return {
    whole: { say: pieces.join(''), ...ending },
    stream: [...pieces.map((say) => ({ say })), ending].map((line) => `${JSON.stringify(line)}\n`),
  }
}

const fault = (status: number, kind: string, more: object = {}) => ({
  status,
  body: { fault: { kind, text: `It is ${kind}`, ...more } },
})

const NO_TOOLS = { absent: 'Acme calls no tools' }

describeProvider({
  plugin: acme,
  title: 'of a stranger',
  config: ({ origin }) => ({ origin, token: new Secret('acme-canary-b07f') }),
  model: 'big one',
  streamType: 'application/x-ndjson',
  requests: {
    file: new URL('strangers/acme-requests.http', import.meta.url),
    endpoints: { embeddings: { 'of nothing that Acme has': {} } },
    configured: {
      'at its own address': {
        config: { origin: 'https://acme.example', token: new Secret('acme-canary-b07f') },
        asked: { 'a streamed text': { stream: true } },
      },
      'at no address': { config: { origin: 'acme', token: new Secret('acme-canary-b07f') } },
      'without a token': { config: { origin: 'https://acme.example' } },
    },
  },

  scenarios: {
    text: {
      ...speech(['Höl', 'lo 😀']),
      says: { text: 'Höllo 😀', usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } },
    },
    parallelTools: NO_TOOLS,
    toolWithoutArguments: NO_TOOLS,
    textBeforeTools: NO_TOOLS,
    reasoning: { absent: 'Acme does not think' },
    reasoningBeforeTools: NO_TOOLS,
    refusal: { absent: 'Acme has no finish for it' },
    length: { ...speech(['Once upon'], 'words'), says: { text: 'Once upon', finish: 'length' } },
    image: { ...speech(['A dot']), says: { text: 'A dot' } },
    cachedUsage: { absent: 'Acme has no cache' },
  },

  finishes: { hush: { ...speech(['An old'], 'hush'), says: { text: 'An old', finish: 'content_filter' } } },
  uploads: ({ path }) => (path === '/v9/pictures' ? json({ picture: 'p_1' }) : undefined),

  errors: {
    badRequest: fault(418, 'unclear'),
    contextTooLong: { absent: 'Acme has no limit' },
    badCredential: fault(403, 'stranger'),
    unknownModel: fault(404, 'gone'),
    rateLimit: { ...fault(429, 'busy'), headers: () => ({ 'x-acme-reset': String(Date.now() + 9000) }), retryAfter: 9 },
    quota: fault(402, 'broke'),
    overloaded: fault(503, 'full'),
    internal: fault(500, 'odd'),
  },

  midStreamError: {
    stream: [...speech(['Höl']).stream.slice(0, 1), `${JSON.stringify(fault(500, 'odd').body)}\n`],
    code: 'upstream_error',
  },

  discovery: { answers: [{ engine: 'big one' }], lists: ['big one'] },
})
