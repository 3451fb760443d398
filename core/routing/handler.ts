import { GatewayError } from '../errors.ts'
import type {
  Attempt,
  Call,
  EndpointHandler,
  EndpointName,
  ParameterSupport,
  ParameterTable,
  Provider,
  RouteTrace,
  ToolForm,
  Translator,
} from '../sdk/api.ts'
import { asksForNothing } from '../sdk/parameters.ts'

/** How a provider serves the calls of one endpoint. */
export type Handler = Pick<
  Provider,
  'parameters' | 'request' | 'translator' | 'error' | 'stateOwner' | 'takesCallStates' | 'toolForms'
> &
  Pick<EndpointHandler, 'decoder' | 'takes'>

/** How a provider serves a chat completion. `model`: its upstream name. */
export const chatHandler = (provider: Provider, call: Call, model: string): Handler => provider.chatBy?.(call, model) ?? provider

/** How one provider serves each endpoint. Made once for each provider: several may share an `EndpointHandler`. */
export class Handlers {
  readonly #provider: Provider
  readonly #adapted: ReadonlyMap<string, Adapted>

  constructor(provider: Provider) {
    this.#provider = provider
    const entries = Object.entries(provider.endpoints ?? {})
    this.#adapted = new Map(
      entries.map(([endpoint, handler]) => [endpoint, { handler, adapted: adapted(handler, provider, endpoint) }]),
    )
  }

  /** How the provider serves an endpoint with a model, by its upstream name; undefined if it does not. */
  of(endpoint: EndpointName, model: string): Handler | undefined {
    if (endpoint === 'chat.completions') return this.#provider
    const found = this.#adapted.get(endpoint)
    return found === undefined || found.handler.serves?.(model) === false ? undefined : found.adapted
  }
}

interface Adapted {
  /** As the provider has it. */
  readonly handler: EndpointHandler
  readonly adapted: Handler
}

/** A handler with a translator, of one that has only a function of the whole reply. */
function adapted(handler: EndpointHandler, provider: Provider, endpoint: string): Handler {
  const { reply, decoder, takes, takesCallStates } = handler
  const hasMessages = endpoint === 'messages' || endpoint === 'messages.count_tokens'
  const error = handler.error ?? (provider.error && (hasMessages ? provider.error : atInput(provider.error)))
  return {
    parameters: handler.parameters,
    request: (call: Call, attempt: Attempt) => handler.request(call, attempt),
    ...(reply && { translator: (): Translator => wholeOnly((body, headers = {}) => reply.call(handler, body, headers)) }),
    ...(decoder && { decoder: () => decoder.call(handler) }),
    ...(takes && { takes: takes.bind(handler) }),
    ...(takesCallStates && { takesCallStates }),
    ...(error && { error }),
  }
}

/** The endpoint's format checks the shape. */
const wholeOnly = (completion: (body: unknown, headers?: Readonly<Record<string, string>>) => object): Translator => ({
  completion: completion as Translator['completion'],
  event: () => {
    throw new Error('only whole replies are translated')
  },
})

/** A provider reads refusals of chat completions: its parameter `messages` is `input` here. */
const atInput =
  (read: NonNullable<Provider['error']>): Provider['error'] =>
  (reply) => {
    const refusal = read(reply)
    return refusal.param === 'messages' ? { ...refusal, param: 'input' } : refusal
  }

/** Members that are not parameters of the model: core and each provider handle them. */
const STRUCTURE = new Set(['model', 'messages', 'input', 'stream', 'stream_options', 'encoding_format'])

/** The top-level members of a request that may be parameters. The rest of a large body is not parsed. */
export function parametersOf(call: Pick<Call, 'large' | 'keys' | 'member' | 'body'>): Readonly<Record<string, unknown>> {
  if (!call.large) return call.body
  return Object.fromEntries(call.keys.filter((key) => !STRUCTURE.has(key)).map((key) => [key, call.member(key)]))
}

/** A provider's parameter table for a model. */
export function tableFor({ parameters }: Pick<Provider, 'parameters'>, model: string): ParameterTable {
  return typeof parameters === 'function' ? parameters(model) : parameters
}

/** The forms of tools that the upstream of a model takes beside function tools; undefined if it takes all. */
export const toolFormsOf = (handler: Handler, model: string): readonly ToolForm[] | undefined =>
  handler.toolForms ?? (tableFor(handler, model) === 'verbatim' ? undefined : NO_FORMS)

const NO_FORMS: readonly ToolForm[] = []

/**
 * The parameters of a request that a provider drops. Throws 400 `unsupported_parameter` for the first that cannot be dropped without
 * changing the meaning.
 */
export function droppedParameters(parameters: Readonly<Record<string, unknown>>, table: ParameterTable): string[] {
  if (table === 'verbatim') return []
  const dropped: string[] = []
  for (const [name, value] of Object.entries(parameters)) {
    if (!isParameter(name, value)) continue
    const entry = supportOf(name, table)
    if (entry.support === 'refused') {
      throw new GatewayError('unsupported_parameter', {
        param: name,
        values: { detail: entry.why === undefined ? '' : ` ${entry.why}` },
      })
    }
    if (entry.support === 'dropped') dropped.push(name)
  }
  return dropped
}

/** The support of each parameter of a request. */
export function parameterSupport(call: Call, table: ParameterTable): RouteTrace['parameters'] {
  if (table === 'verbatim') return table
  const asked = Object.entries(parametersOf(call)).filter(([name, value]) => isParameter(name, value))
  return Object.fromEntries(asked.map(([name]) => [name, supportOf(name, table)]))
}

const isParameter = (name: string, value: unknown): boolean => !STRUCTURE.has(name) && !asksForNothing(name, value)

const supportOf = (name: string, table: Exclude<ParameterTable, 'verbatim'>): ParameterSupport =>
  Object.hasOwn(table, name) ? table[name]! : DROPPED

const DROPPED: ParameterSupport = { support: 'dropped' }
