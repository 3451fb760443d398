import {
  API_VERSION,
  type Attempt,
  bearer,
  bodyWith,
  type Call,
  type ChatRequest,
  defineCallFunction,
  defineProvider,
  type EndpointOperation,
  parseBaseUrl,
  secret,
  Type,
  type UpstreamRequest,
} from 'unified-model-gateway/plugin'
import { ENDPOINT_PATHS, forEndpoints, type PassedEndpoint } from './endpoints.ts'
import { PRESETS, type Preset, type PresetName } from './presets.ts'
import type { Quirk } from './quirks/quirk.ts'
import { noStreamOptions } from './quirks/requests.ts'
import { createTranslator, needsTranslator, readEndpointRefusal, readModels } from './reply.ts'

const schema = Type.Object(
  {
    preset: Type.Optional(
      Type.Enum(Object.keys(PRESETS) as PresetName[], {
        description: 'A known vendor: its address, and its differences from OpenAI.',
      }),
    ),
    baseUrl: Type.Optional(
      Type.String({
        description: 'The address up to, and without, /chat/completions. It replaces the address of a preset.',
        examples: ['http://127.0.0.1:11434/v1'],
      }),
    ),
    apiKey: Type.Optional(secret({ description: 'Sent as Authorization: Bearer.' })),
    responses: Type.Optional(
      Type.Boolean({
        description:
          "Whether the upstream has OpenAI's Responses API. If not, it gets such calls as chat completions. Absent: as the preset says; without a preset, it has not.",
      }),
    ),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'Sent with every request to this vendor, discovery included.' }),
    ),
  },
  { additionalProperties: false },
)

/** Any upstream with OpenAI's API. It receives the client's own bytes, and without quirks the client receives the upstream's. */
export default defineProvider({
  apiVersion: API_VERSION,
  name: 'openai-compatible',
  schema,

  create({ preset: name, baseUrl, apiKey, responses, headers = {} }, host) {
    const preset: Preset | undefined = name && PRESETS[name]
    const address = baseUrl ?? preset?.baseUrl
    if (address === undefined) throw new Error('name the upstream: set preset to a known vendor, or baseUrl to an address')
    const { origin, path: base } = parseBaseUrl(address, { endpoint: '/chat/completions', example: PRESETS.openai.baseUrl })
    const own = { ...checkHeaders(headers), ...(apiKey && { authorization: bearer(apiKey) }) }
    const quirks = preset?.quirks ?? []
    const error = quirks.find((quirk) => quirk.error)?.error

    const post = (path: string, call: Call, body: UpstreamRequest['body']): UpstreamRequest => ({
      origin,
      path: base + path,
      headers: { ...call.headers, ...own },
      body,
    })
    const hasResponses = responses ?? preset?.responses
    const hasStreamOptions = !(quirks as readonly Quirk[]).includes(noStreamOptions)
    const verbatim = (endpoint: PassedEndpoint): EndpointOperation => ({
      parameters: 'verbatim',
      request: (call, { model }) =>
        post(
          ENDPOINT_PATHS[endpoint],
          call,
          endpoint === 'completions' && hasStreamOptions ? splicedBody(call, { model }) : bodyWith(call, { model }),
        ),
      error: readEndpointRefusal(error),
    })

    return {
      parameters: 'verbatim',
      request: changesRequests(quirks)
        ? async (call, { model }) => post('/chat/completions', call, await host.compute(call, presetBody, { model, name: name! }))
        : (call, attempt) => post('/chat/completions', call, splicedBody(call, attempt)),
      endpoints: forEndpoints(
        (Object.keys(ENDPOINT_PATHS) as PassedEndpoint[]).filter((endpoint) => endpoint !== 'responses' || hasResponses),
        verbatim,
      ),
      ...(needsTranslator(quirks) && { translator: () => createTranslator(quirks) }),
      ...(error && { error }),
      models: async (signal) => readModels(await host.getJson(`${origin}${base}/models`, { headers: own, signal })),
    }
  },
})

const changesRequests = (quirks: readonly Quirk[]): boolean => quirks.some(({ request }) => request !== undefined)

/** The client's own bytes with the members that differ for every vendor. The body is not parsed. */
export function splicedBody(call: Call, { model }: Pick<Attempt, 'model'>): Buffer {
  return call.splice({ model, ...usageOptions(call) })
}

/** The client's own bytes with the members that differ for the vendor of a preset. */
export const presetBody = defineCallFunction(
  import.meta.url,
  'presetBody',
  (call, { model, name }: { readonly model: string; readonly name: PresetName }) => {
    const { quirks }: Preset = PRESETS[name]
    let members: Readonly<Record<string, unknown>> = { model, ...usageOptions(call) }
    for (const quirk of quirks) {
      if (quirk.request) members = { ...members, ...quirk.request({ ...call.body, ...members } as ChatRequest) }
    }
    return call.splice(members)
  },
)

/** Requests the usage of a stream, which upstreams omit otherwise. Core removes it if the client did not request it. */
function usageOptions(call: Call): Readonly<Record<string, unknown>> {
  if (!call.stream || call.includeUsage) return {}
  return { stream_options: { ...(call.member('stream_options') as object | null | undefined), include_usage: true } }
}

const FRAMING = 'the gateway sets it'
const HOP_BY_HOP = 'it concerns a single connection (RFC 9110 §7.6.1)'

/** Headers that a configuration cannot set, and why. */
const REFUSED_HEADERS: Readonly<Record<string, string>> = {
  authorization: 'set apiKey instead',
  'content-type': FRAMING,
  'content-length': FRAMING,
  'content-encoding': FRAMING,
  'accept-encoding': FRAMING,
  host: FRAMING,
  expect: FRAMING,
  'x-request-id': FRAMING,
  connection: HOP_BY_HOP,
  'keep-alive': HOP_BY_HOP,
  'proxy-authenticate': HOP_BY_HOP,
  'proxy-authorization': HOP_BY_HOP,
  'proxy-connection': HOP_BY_HOP,
  te: HOP_BY_HOP,
  trailer: HOP_BY_HOP,
  'transfer-encoding': HOP_BY_HOP,
  upgrade: HOP_BY_HOP,
}

/** The configured headers, with lower-case names. Throws an Error that says what to correct, without the values. */
function checkHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const checked = new Map<string, string>()
  for (const [given, value] of Object.entries(headers)) {
    const name = given.toLowerCase()
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw new Error(`headers: '${given}' is not a header name`)
    if (Object.hasOwn(REFUSED_HEADERS, name)) throw new Error(`headers: '${given}' cannot be set: ${REFUSED_HEADERS[name]}`)
    if (checked.has(name)) throw new Error(`headers: '${given}' is set twice; header names are case-insensitive`)
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw new Error(`headers: the value of '${given}' has a character that no header can hold, such as a line break`)
    }
    checked.set(name, value)
  }
  return Object.fromEntries(checked)
}
