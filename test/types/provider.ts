/** What the compiler says to the author of a provider. Compiled, never run. */
import {
  chunk,
  defineProvider,
  type ParameterTable,
  type Provider,
  type ProviderPlugin,
  type Secret,
  secret,
  type Translator,
  Type,
  UpstreamError,
  type UpstreamRequest,
} from 'unified-model-gateway/plugin'

const minimal = { apiVersion: 1, name: 'mine' } as const

/** A credential of the configuration is a secret, and stays one on its way into a header. */
export const plugin: ProviderPlugin = defineProvider({
  ...minimal,
  schema: Type.Object({ apiKey: secret({ description: 'A key.' }) }),
  create({ apiKey }) {
    // @ts-expect-error: it is not a text
    apiKey.trim()
    const authorization: Secret = apiKey.map((key) => `Bearer ${key}`)
    return {
      parameters: 'verbatim',
      request: (call) => ({ origin: 'https://a', path: '/', headers: { ...call.headers, authorization }, body: call.splice({}) }),
    }
  },
})

// @ts-expect-error: a provider makes requests
defineProvider({ ...minimal, schema: Type.Object({}), create: () => ({ parameters: 'verbatim' }) })
// @ts-expect-error: and says what becomes of parameters
defineProvider({ ...minimal, schema: Type.Object({}), create: () => ({ request: () => REQUEST }) })

const REQUEST: UpstreamRequest = { origin: 'https://a', path: '/', headers: {}, body: '' }

/** Requests are made anew for each attempt, at once or later, or answered here. */
export const requests: Provider['request'][] = [
  () => REQUEST,
  async () => REQUEST,
  () => ({ status: 200, body: ['{}'] }),
  // @ts-expect-error: headers are texts or secrets
  () => ({ ...REQUEST, headers: { 'content-length': 1 } }),
  // @ts-expect-error: always a POST
  () => ({ ...REQUEST, method: 'GET' as const, url: 'https://a' }) satisfies UpstreamRequest,
  // @ts-expect-error: a body is bytes or a text
  () => ({ ...REQUEST, body: {} }),
]

/** Three things may become of a parameter. */
export const parameters: ParameterTable = {
  temperature: { support: 'mapped', to: 'creativity' },
  seed: { support: 'dropped' },
  tools: { support: 'refused', why: 'No tools.' },
  // @ts-expect-error: mapped to what?
  top_p: { support: 'mapped' },
  // @ts-expect-error: no such support
  stop: { support: 'ignored' },
}

/** Translation is synchronous, and gives parts of OpenAI's chunks. */
export const translator: Translator = {
  completion: () => ({ choices: [{ message: { content: 'Hi' }, finish_reason: 'whatever the upstream says' }] }),
  *event({ data }) {
    if (data === 'busy') throw new UpstreamError({ status: 429, retryAfter: 1 })
    yield chunk.content(data)
    yield chunk.toolCall({ index: 0, id: 'call_1', name: 'f' })
    yield chunk.finish('stop')
    // @ts-expect-error: its functions know the words
    yield chunk.finish('ended')
  },
}

/** What a translator cannot be. */
export const notTranslators: Translator[] = [
  // @ts-expect-error: it does not wait
  { completion: async () => ({ choices: [] }), event: () => [] },
  // @ts-expect-error: it does not wait for events either
  { completion: () => ({ choices: [] }), event: async () => [] },
  // @ts-expect-error: a chunk has choices
  { completion: () => ({ choices: [] }), event: ({ data }) => [{ content: data }] },
  // @ts-expect-error: whole replies come too
  { event: () => [] },
]

// @ts-expect-error: a refusal has a status
new UpstreamError({ code: 'insufficient_quota' })
