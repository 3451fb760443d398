import {
  API_VERSION,
  type Attempt,
  bearer,
  bodyWith,
  type Call,
  type ChatRequest,
  defineCallFunction,
  defineProvider,
  type EndpointHandler,
  type FieldProblem,
  type FormatPlan,
  factsOption,
  fitFormat,
  formatMembers,
  InvalidConfig,
  lostFormat,
  parseBaseUrl,
  readFormat,
  type Secret,
  secret,
  Type,
  type UpstreamHeaders,
  type UpstreamRequest,
} from 'unified-model-gateway/plugin'
import { apiOption, chatByResponses, namesResponses } from './by-responses/handler.ts'
import { ENDPOINT_PATHS, forEndpoints, type PassedEndpoint } from './endpoints.ts'
import { factsRow, formatPlan, hasFormats, hintsOf, takesFormat } from './facts.ts'
import { concernsOf, HISTORIES, type HistoryKind, losesPictures, type OwnHistory, withHistory } from './history.ts'
import { CHOOSING, memberOptions, type RefusedMembers, refusedMembers, refuseMember } from './members.ts'
import { PRESETS, type Preset, type PresetName } from './presets.ts'
import { QUIRKS } from './quirks/named.ts'
import type { Quirk } from './quirks/quirk.ts'
import { noStreamOptions } from './quirks/requests.ts'
import { withoutReasoning } from './reasoning-items.ts'
import { createTranslator, needsTranslator, readEndpointRefusal, readModels } from './reply.ts'
import { type Omitted, omittedFrom } from './unsupported.ts'

/** A name of a header that holds a credential: `x-api-key`, `X-Auth-Token`. Patterns of JSON Schema have no flag for upper case. */
const CREDENTIAL = '(^|-)(auth|(api)?key|token|secret|password|credentials?|cookie|session)(-|$)'.replace(
  /[a-z]/g,
  (letter) => `[${letter}${letter.toUpperCase()}]`,
)

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
    quirks: Type.Optional(
      Type.Array(Type.Enum([...QUIRKS.keys()]), {
        description: 'Differences of the upstream from OpenAI, which the gateway corrects, in addition to those of the preset.',
        examples: [['developer-role', 'max-tokens']],
      }),
    ),
    history: Type.Optional(
      Type.Enum(Object.keys(HISTORIES) as HistoryKind[], {
        description:
          'What the upstream takes back of the reasoning in earlier answers. Absent: as the preset says; without a preset, what clients send.',
      }),
    ),
    apiKey: Type.Optional(secret({ description: 'Sent as Authorization: Bearer.' })),
    responses: Type.Optional(
      Type.Boolean({
        description:
          "Whether the upstream has OpenAI's Responses API. If not, it gets such calls as chat completions. Absent: as the preset says; without a preset, it has not.",
      }),
    ),
    api: apiOption,
    headers: Type.Optional(
      Type.Unsafe<Readonly<Record<string, string | Secret>>>({
        type: 'object',
        patternProperties: {
          [CREDENTIAL]: secret({ description: 'A header with a credential, by its name.' }),
          [`^(?!.*${CREDENTIAL})`]: Type.String(),
        },
        description:
          'Sent with every request to this vendor, discovery included. The value of a header whose name has the word key, token, secret, auth, password, credential, cookie or session must be a reference.',
      }),
    ),
    facts: factsOption(factsRow),
    ...memberOptions(CHOOSING),
  },
  { additionalProperties: false },
)

/** Any upstream with OpenAI's API. It receives the client's own bytes, and without quirks the client receives the upstream's. */
export default defineProvider({
  apiVersion: API_VERSION,
  name: 'openai-compatible',
  schema,

  create(
    { preset: name, baseUrl, quirks: own = [], history, apiKey, responses, api, headers = {}, facts = {}, ...members },
    host,
  ) {
    const preset: Preset | undefined = name && PRESETS[name]
    const address = baseUrl ?? preset?.baseUrl
    if (address === undefined)
      throw new InvalidConfig({ path: [], message: 'names no upstream: set preset to a known vendor, or baseUrl to an address' })
    const { origin, path: base } = parseBaseUrl(address, { endpoint: '/chat/completions', example: PRESETS.openai.baseUrl })
    const credentials = { ...checkHeaders(headers), ...(apiKey && { authorization: bearer(apiKey) }) }
    const shipped: readonly Quirk[] = preset?.quirks ?? []
    const quirks = [...shipped, ...own.map((quirk) => QUIRKS.get(quirk)!).filter((quirk) => !shipped.includes(quirk))]
    const isTranslated = needsTranslator(quirks)
    const requestQuirks = quirks.filter(({ request }) => request !== undefined)
    const kind = history ?? preset?.history ?? 'as-sent'
    const concerns = concernsOf(kind)
    const stateOwner = name ?? new URL(origin).host
    const refused = refusedMembers(CHOOSING, members)
    const error = quirks.find((quirk) => quirk.error)?.error

    const post = (path: string, call: Call, body: UpstreamRequest['body'], dropped: readonly string[] = []): UpstreamRequest => {
      refuseMembers(call, refused)
      return { origin, path: base + path, headers: { ...call.headers, ...credentials }, body, dropped }
    }
    const omit = (call: Call): Omitted =>
      preset?.unsupported === undefined ? NOTHING_OMITTED : omittedFrom(call, preset.unsupported)
    const tables = [facts, preset?.facts ?? {}]
    const mayFormat = tables.some(hasFormats)
    const planOf = (call: Call, { model }: Pick<Attempt, 'model'>): FormatPlan | undefined =>
      mayFormat && call.keys.includes('response_format') ? formatPlan(formatMembers(call), model, tables) : undefined
    const hasResponses = responses ?? preset?.responses
    const lacksCompact = !(hasResponses && preset?.compacts)
    const missing: Readonly<Partial<Record<PassedEndpoint, boolean>>> = {
      responses: !hasResponses,
      'responses.compact': lacksCompact,
      'responses.input_tokens': lacksCompact,
    }
    const hasStreamOptions = !(quirks as readonly Quirk[]).includes(noStreamOptions)
    const verbatim = (endpoint: PassedEndpoint): EndpointHandler => ({
      parameters: 'verbatim',
      request(call, { model, callStates }) {
        const path = ENDPOINT_PATHS[endpoint]
        if (callStates === 'none') return host.compute(call, withoutReasoning, { model }).then((bytes) => post(path, call, bytes))
        const isText = endpoint === 'completions' && hasStreamOptions
        return post(path, call, isText ? splicedBody(call, { model }) : bodyWith(call, { model }))
      },
      ...(endpoint === 'responses' && { takesCallStates: true, takes: (call, model) => takesFormat(call, model, tables) }),
      error: readEndpointRefusal(error),
    })

    return {
      parameters: 'verbatim',
      cap: preset?.cap ?? 'max_tokens',
      hints: (model) => ({ ...hintsOf(model, tables), ...(preset?.pictures && { pictures: true }) }),
      stateOwner,
      ...(preset && !preset.allToolForms && { toolForms: [] }),
      ...(preset?.toolNames && { toolNames: () => preset.toolNames }),
      request(call, { model }) {
        const { members: omitted, dropped } = omit(call)
        const due = requestQuirks.filter(({ concerns }) => concerns === undefined || call.mayHave(concerns))
        const hasHistory = call.mayHave(concerns)
        const format = planOf(call, { model })
        if (due.length === 0 && !hasHistory && format === undefined)
          return post('/chat/completions', call, splicedBody(call, { model }, omitted), dropped)
        const changes = {
          quirks: due.map((quirk) => quirk.name),
          ...(hasHistory && { history: { kind, owner: stateOwner, model } }),
          ...(format && { format }),
        }
        const body = host.compute(call, quirkBody, { model, omitted, ...changes })
        return body.then(({ bytes, lost }) => post('/chat/completions', call, bytes, [...dropped, ...lost]))
      },
      endpoints: forEndpoints(
        (Object.keys(ENDPOINT_PATHS) as PassedEndpoint[]).filter((endpoint) => missing[endpoint] !== true),
        verbatim,
      ),
      ...((hasResponses || namesResponses(api)) && {
        chatBy: chatByResponses({ api, host, error, post: (call, _attempt, body) => post(ENDPOINT_PATHS.responses, call, body) }),
      }),
      ...((isTranslated || mayFormat) && {
        translator(call, attempt) {
          const plan = planOf(call, attempt)
          return plan === undefined && !isTranslated ? undefined : readFormat(createTranslator(quirks), plan)
        },
      }),
      ...(error && { error }),
      models: async (signal) => readModels(await host.getJson(`${origin}${base}/models`, { headers: credentials, signal })),
    }
  },
})

const NOTHING_OMITTED: Omitted = { members: [], dropped: [] }

/** Throws `GatewayError` (400) for a call with a member that its namespace refuses. */
export function refuseMembers(call: Call, refused: RefusedMembers): void {
  for (const key of call.keys) if (refused.pattern.test(key)) refuseMember(call, key, refused)
}

/** The client's own bytes with the members that differ for every vendor, and without `omitted`. The body is not parsed. */
export function splicedBody(call: Call, { model }: Pick<Attempt, 'model'>, omitted: readonly string[] = []): Buffer {
  return call.splice({ model, ...usageOptions(call), ...without(omitted) })
}

const without = (names: readonly string[]): Readonly<Record<string, undefined>> =>
  Object.fromEntries(names.map((name) => [name, undefined]))

/** What to change in a request for a vendor. */
export interface Changes {
  /** The upstream's name of the model. */
  readonly model: string
  /** The names of quirks that change requests. */
  readonly quirks: readonly string[]
  /** Members that the vendor must not get. Absent: none. */
  readonly omitted?: readonly string[]
  /** Absent: no answer in the request has anything to change. */
  readonly history?: OwnHistory
  /** Absent: the model takes the format. */
  readonly format?: FormatPlan
}

/** A request as a vendor gets it, and the names of what it does not take of earlier answers. */
export interface QuirkBody {
  readonly bytes: Uint8Array
  readonly lost: readonly string[]
}

/** The client's own bytes with the members that differ for a vendor. */
export const quirkBody = defineCallFunction(
  import.meta.url,
  'quirkBody',
  (call, { model, quirks, omitted = [], history, format }: Changes): QuirkBody => {
    let members: Readonly<Record<string, unknown>> = { model, ...usageOptions(call), ...without(omitted) }
    const body = fitFormat(call.body, format)
    if (format !== undefined) {
      const { messages, tools, tool_choice, response_format } = body
      members = { ...members, messages, tools, tool_choice, response_format }
    }
    if (history !== undefined) {
      const messages = withHistory(body.messages, history)
      if (messages !== body.messages) members = { ...members, messages }
    }
    for (const name of quirks) {
      members = { ...members, ...QUIRKS.get(name)!.request!({ ...call.body, ...members } as ChatRequest) }
    }
    const asked = { ...call.body, model }
    const lost = [...lostFormat(format), ...quirks.flatMap((name) => QUIRKS.get(name)!.lost?.(asked) ?? [])]
    if (history !== undefined && losesPictures(call.body.messages, history.kind)) lost.push('messages.images')
    return { bytes: call.splice(members), lost }
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

/** The configured headers, with lower-case names. Throws an InvalidConfig that says what to correct, without the values. */
function checkHeaders(headers: UpstreamHeaders): UpstreamHeaders {
  const checked = new Map<string, string | Secret>()
  const problems: FieldProblem[] = []
  for (const [given, value] of Object.entries(headers)) {
    const name = given.toLowerCase()
    const message = checked.has(name)
      ? 'is set twice; header names are case-insensitive'
      : problemOfHeader(name, typeof value === 'string' ? value : value.reveal())
    if (message === undefined) checked.set(name, value)
    else problems.push({ path: ['headers', given], message })
  }
  if (problems.length > 0) throw new InvalidConfig(...problems)
  return Object.fromEntries(checked)
}

function problemOfHeader(name: string, value: string): string | undefined {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return 'is not a header name'
  if (Object.hasOwn(REFUSED_HEADERS, name)) return `cannot be set: ${REFUSED_HEADERS[name]}`
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return 'has a character that no header can hold, such as a line break'
  return undefined
}
