import {
  API_VERSION,
  bearer,
  type Call,
  defineProvider,
  type EndpointOperation,
  parseBaseUrl,
  secret,
  Type,
  type UpstreamRequest,
} from 'unified-model-gateway/plugin'
import { readModels } from './discovery.ts'
import { readEndpointRefusal } from './endpoint-refusal.ts'
import { checkHeaders } from './headers.ts'
import { PRESETS, type Preset, type PresetName } from './presets.ts'
import { requestBody } from './request.ts'
import { createTranslator, needsTranslator } from './translate.ts'

const schema = Type.Object(
  {
    preset: Type.Optional(
      Type.Enum(Object.keys(PRESETS) as PresetName[], {
        description: 'A known vendor: its address, and how it differs from OpenAI.',
      }),
    ),
    baseUrl: Type.Optional(
      Type.String({
        description: 'The address up to, and without, /chat/completions. It replaces the address of a preset.',
        examples: ['http://127.0.0.1:11434/v1'],
      }),
    ),
    apiKey: Type.Optional(secret({ description: 'Sent as Authorization: Bearer.' })),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'Sent with every request to this vendor, discovery included.' }),
    ),
  },
  { additionalProperties: false },
)

/** Any upstream that speaks OpenAI's chat completions: it gets the client's own bytes, and without quirks so does the client. */
export default defineProvider({
  apiVersion: API_VERSION,
  name: 'openai-compatible',
  schema,

  create({ preset: name, baseUrl, apiKey, headers = {} }, host) {
    const preset: Preset | undefined = name && PRESETS[name]
    const address = baseUrl ?? preset?.baseUrl
    if (address === undefined) throw new Error('name the upstream: set preset to a known vendor, or baseUrl to an address')
    const { origin, path: base } = parseBaseUrl(address, { endpoint: '/chat/completions', example: PRESETS.openai.baseUrl })
    const own = { ...checkHeaders(headers), ...(apiKey && { authorization: bearer(apiKey) }) }
    const quirks = preset?.quirks ?? []
    const error = quirks.find((quirk) => quirk.error)?.error
    const ask = (path: string, call: Call, body: Buffer): UpstreamRequest => ({
      origin,
      path: base + path,
      headers: { ...call.headers, ...own },
      body,
    })
    const passedOn = (path: string): EndpointOperation => ({
      parameters: 'verbatim',
      request: (call, { model }) => ask(path, call, call.splice({ model })),
      error: readEndpointRefusal(error),
    })
    return {
      parameters: 'verbatim',
      request: (call, attempt) => ask('/chat/completions', call, requestBody(call, attempt, quirks)),
      endpoints: { embeddings: passedOn('/embeddings'), responses: passedOn('/responses') },
      ...(needsTranslator(quirks) && { translator: () => createTranslator(quirks) }),
      ...(error && { error }),
      models: async (signal) => readModels(await host.getJson(`${origin}${base}/models`, { headers: own, signal })),
    }
  },
})
