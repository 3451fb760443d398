import type { Context } from 'koa'
import {
  type CallState,
  compileTemplate,
  defineChain,
  type FieldProblem,
  formatUsd,
  InvalidConfig,
  type Template,
  Type,
} from 'unified-model-gateway/plugin'

const HeaderTemplates = (description: string, example: Record<string, string>) =>
  Type.Optional(Type.Record(Type.String(), Type.String({ minLength: 1 }), { description, examples: [example] }))

const Config = Type.Object(
  {
    response: HeaderTemplates(
      'Headers of the reply. Places: {namespace} {model} (as asked for) {served_namespace} {served_model} {cost_usd} (not of streams) {request_id} {key} {account} {tag.NAME}. A header with an unknown value is left out.',
      { 'x-served-by': '{served_namespace}/{served_model}' },
    ),
    upstream: HeaderTemplates(
      'Headers of the requests to upstreams. Places: {namespace} {model} (as asked for) {request_id} {key} {account} {tag.NAME}.',
      { 'x-team': '{tag.team}' },
    ),
  },
  { additionalProperties: false },
)

/** Sets headers of every reply: the model that served it, the attempts, the times. Also sets the operator's own headers. */
export default defineChain({
  apiVersion: 1,
  name: 'header-stamping',
  schema: Config,
  create({ response = {}, upstream = {} }) {
    const problems: FieldProblem[] = []
    const ofReply = compileHeaders('response', response, problems)
    const ofUpstream = compileHeaders('upstream', upstream, problems)
    if (problems.length > 0) throw new InvalidConfig(...problems)

    return {
      async handle(ctx, next) {
        const state: CallState = ctx.state
        if (state.callsModel) {
          if (ofUpstream.needModel) await state.call()
          ofUpstream.stamp(state, (name, value) => {
            state.upstreamHeaders[name] = value
          })
        }
        try {
          await next()
        } finally {
          // Without a model there is none that the caller may call: tags that another link gave by it would tell that it exists.
          const found = !state.callsModel || state.model !== undefined
          ofReply.stamp(state, (name, value) => ctx.set(name, value), found)
          stampTimes(state, ctx)
          stampServer(state, ctx)
        }
      },
    }
  },
})

/** `openai-processing-ms` is OpenAI's: whole milliseconds. The gateway's own share is mostly below one. */
function stampTimes(state: CallState, ctx: Context): void {
  const { total, overhead } = state.elapsed()
  ctx.set('openai-processing-ms', String(Math.round(total)))
  ctx.set('x-umg-overhead-ms', overhead.toFixed(1))
}

/** The model that served the call, and the number of attempts. */
function stampServer({ served, attempts }: CallState, ctx: Context): void {
  if (served !== undefined) {
    ctx.set('x-umg-namespace', headerText(served.namespace))
    ctx.set('x-umg-model', headerText(served.model))
  }
  if (attempts.length > 0) ctx.set('x-umg-attempts', String(attempts.length))
}

/** The values of a template's places. A header with an unknown value is omitted. */
const PLACES: Readonly<Record<string, (state: CallState) => string | undefined>> = {
  namespace: ({ model }) => model?.namespace,
  model: ({ model }) => model?.model,
  request_id: ({ id }) => id,
  key: ({ principal }) => principal?.name,
  account: ({ principal }) => principal?.account,
}

/** Known when a model has served the call: only in a reply. */
const PLACES_OF_REPLY: typeof PLACES = {
  served_namespace: ({ served }) => served?.namespace,
  served_model: ({ served }) => served?.model,
  cost_usd: ({ cost }) => cost && formatUsd(cost.nanoUsd),
}

const ALL_PLACES = { ...PLACES, ...PLACES_OF_REPLY }
const TAG = 'tag.'

const PRINTABLE = /^[ -~]*$/
const UNPRINTABLE = /[^ -~]/g
const MAX_LENGTH = 256

/** Headers whose values are made call by call. */
export interface Headers {
  /** Whether a value can only be known once the body has been read. */
  readonly needModel: boolean
  /** Sets those headers whose values are all known; names are in lower case. `found` false: without tags of the call. */
  stamp(state: CallState, set: (name: string, value: string) => void, found?: boolean): void
}

/** Compiles the headers of one direction. Adds the headers that cannot be set to `problems`. */
function compileHeaders(direction: Direction, config: Readonly<Record<string, string>>, problems: FieldProblem[]): Headers {
  const compiled = new Map<string, Template>()
  for (const [spelling, text] of Object.entries(config)) {
    const name = spelling.toLowerCase()
    try {
      if (compiled.has(name)) throw new Error('stands twice, in another spelling')
      compiled.set(name, compileHeader(direction, name, text))
    } catch (error) {
      problems.push({ path: [direction, spelling], message: (error as Error).message })
    }
  }
  return {
    needModel: [...compiled.values()].some(({ names }) => names.includes('namespace') || names.includes('model')),
    stamp(state, set, found = true) {
      for (const [name, template] of compiled) {
        const value = template.fill((place) => textOf(place, state, found))
        if (value !== undefined) set(name, value)
      }
    },
  }
}

function compileHeader(direction: Direction, name: string, text: string): Template {
  const refused = refusedHeader(direction, name)
  if (refused !== undefined) throw new Error(refused)
  if (!PRINTABLE.test(text)) throw new Error('may only hold printable ASCII')
  const places = Object.keys(direction === 'response' ? ALL_PLACES : PLACES)
  try {
    return compileTemplate(text, [...places, `${TAG}*`])
  } catch (error) {
    throw new Error(`has a faulty template: ${(error as Error).message}`)
  }
}

function textOf(place: string, state: CallState, found: boolean): string | undefined {
  const filled = place.startsWith(TAG) ? tagOf(state, place.slice(TAG.length), found) : ALL_PLACES[place]!(state)
  return headerText(filled ?? '') || undefined
}

/** A tag of the call, or of its key or account. */
function tagOf({ tags, principal }: CallState, name: string, found: boolean): string | undefined {
  const own = found && Object.hasOwn(tags, name) ? tags[name] : undefined
  return own ?? (principal?.tags && Object.hasOwn(principal.tags, name) ? principal.tags[name] : undefined)
}

/** What a header can carry of a value that a client or an upstream chose. */
export const headerText = (value: string): string =>
  value.length <= MAX_LENGTH && PRINTABLE.test(value) ? value : value.replace(UNPRINTABLE, '').slice(0, MAX_LENGTH)

/** Headers that may not be set, and why. */
type Rule = readonly [names: RegExp, why: string]

/** RFC 9110 §7.6.1: hop by hop. */
const CONNECTION: Rule = [
  /^(connection|keep-alive|proxy-.+|te|trailer|transfer-encoding|upgrade)$/,
  'belongs to the connection, not to the message',
]
const BODY: Rule = [/^content-/, 'describes the body, and is set by what writes the body']

/** Where headers go to. */
export type Direction = 'response' | 'upstream'

const RULES: Readonly<Record<Direction, readonly Rule[]>> = {
  response: [
    CONNECTION,
    BODY,
    [/^set-cookie$/, 'would give all clients one cookie'],
    [/^(x-request-id|openai-processing-ms|x-umg-.+)$/, 'is set by the gateway'],
  ],
  upstream: [
    CONNECTION,
    BODY,
    [/^(authorization|cookie|x-api-key|api-key|x-goog-api-key)$/, 'is a credential; configure it at the namespace'],
    [/^(host|accept|accept-encoding|expect|x-request-id)$/, 'is set by the gateway'],
  ],
}

/** Narrower than RFC 9110's token: some servers take `content_length` for `content-length`. */
const NAME = /^[a-z0-9][a-z0-9-]*$/

/** The reason why a header may not be set in this direction; undefined if it may be set. `name` is in lower case. */
export function refusedHeader(direction: Direction, name: string): string | undefined {
  if (!NAME.test(name)) return 'is not a header name of letters, digits and hyphens'
  return RULES[direction].find(([names]) => names.test(name))?.[1]
}
