import { GatewayError } from '../errors.ts'
import type { Call } from './call.ts'
import type { ChatRequest, ResponseFormat, ToolChoice } from './chat.ts'
import { type FormatBy, type FormatPlan, formattedReply, formattedRequest, type JsonFormat } from './formatted-answers.ts'
import { isCount, isRecord } from './json.ts'
import { asksForNothing, invalidValue, unsupportedParameter } from './parameters.ts'
import type { Translator } from './plugin.ts'

/** The tools that a client allows the model, in whichever form `tool_choice` has. */
export interface AllowedTools {
  readonly mode: 'none' | 'auto' | 'required'
  /** The names of the allowed tools; absent: all. A tool chosen by name is the only one, in mode `required`. */
  readonly names?: ReadonlySet<string>
}

/** Reads `tool_choice` for an upstream that takes functions only. Throws `GatewayError` (400) for a custom tool and for an invalid value. */
export function readToolChoice(choice: ToolChoice | null | undefined): AllowedTools {
  if (choice == null) return { mode: 'auto' }
  if (choice === 'none' || choice === 'auto' || choice === 'required') return { mode: choice }
  if (choice.type === 'custom') throw unsupportedParameter('tool_choice', 'Only tools of type `function` are known here.')
  const allowed = choice.type === 'allowed_tools' ? choice.allowed_tools : { mode: 'required', tools: [choice] }
  const names = Array.isArray(allowed?.tools) ? allowed.tools.map(functionName) : ['']
  if (names.includes('')) {
    throw invalidValue('tool_choice', "expected 'none', 'auto', 'required', a function by its name, or allowed tools")
  }
  return { mode: allowed.mode === 'required' ? 'required' : 'auto', names: new Set(names) }
}

/** The name in `{ type: 'function', function: { name } }`; '' if absent. */
function functionName(tool: unknown): string {
  const named = isRecord(tool) && isRecord(tool.function) ? tool.function.name : undefined
  return typeof named === 'string' ? named : ''
}

/** Reads `response_format`; undefined for text. Throws `GatewayError` (400) if a format of type `json_schema` has no schema. */
export function readResponseFormat(format: ResponseFormat | null | undefined): JsonFormat | undefined {
  if (format == null || format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json_object' }
  const { name, description, schema, strict } = format.json_schema
  if (!isRecord(schema)) throw new GatewayError('missing_required_parameter', { param: 'response_format.json_schema.schema' })
  return { type: 'json_schema', name, ...(description && { description }), schema, ...(strict && { strict }) }
}

/** The members of a request on which it depends how its format is served. */
export type FormatMembers = Pick<ChatRequest, 'response_format' | 'tools' | 'tool_choice'>

/** What a model does of the format of a request by itself. */
export interface FormatSupport {
  /** Whether it follows the schema. */
  readonly schema: boolean
  /** Whether it writes objects without a schema. */
  readonly object: boolean
  /** Whether it can be required to call a tool. */
  readonly forcedTools: boolean
}

/** How the format of a request is served; undefined if the model follows it by itself, or the request has no format. */
export function planFormat(request: FormatMembers, supportOf: (format: JsonFormat) => FormatSupport): FormatPlan | undefined {
  const format = readResponseFormat(request.response_format)
  if (format === undefined) return undefined
  const { schema, object, forcedTools } = supportOf(format)
  if (format.type === 'json_schema' ? schema : object) return undefined
  const tools = request.tools ?? []
  const { mode, names } = readToolChoice(request.tool_choice)
  const by = mode === 'required' && tools.length > 0 ? 'nothing' : otherWay(format, { object, forcedTools })
  return { format, by, tools, mode, names }
}

function otherWay({ type }: JsonFormat, { object, forcedTools }: Omit<FormatSupport, 'schema'>): FormatBy {
  if (type === 'json_object') return 'instruction'
  if (forcedTools) return 'tool'
  return object ? 'object' : 'instruction'
}

/** A request whose format the model takes: unchanged without a plan. Throws `GatewayError` (400) for a schema that cannot be followed in its way. */
export const fitFormat = (body: Readonly<ChatRequest>, plan: FormatPlan | undefined): Readonly<ChatRequest> =>
  plan === undefined ? body : formattedRequest(body, plan)

/** What of the format of a request is lost, by the names of parameters. */
export function lostFormat(plan: FormatPlan | undefined): readonly string[] {
  if (plan?.by === 'nothing') return ['response_format']
  return plan?.format.type === 'json_schema' && plan.format.strict ? ['response_format.strict'] : []
}

/**
 * A translator of the reply to a request that `fitFormat` has made: its text is the answer in the format that the client asked for. An answer that does
 * not fit its schema is a `GatewayError` (502).
 */
export const readFormat = (translator: Translator, plan: FormatPlan | undefined): Translator =>
  plan === undefined ? translator : formattedReply(translator, plan)

/** The members of a call that `planFormat` reads. */
export const formatMembers = (call: Pick<Call, 'member'>): FormatMembers => {
  const response_format = call.member('response_format') as FormatMembers['response_format']
  if (response_format == null) return {}
  return { response_format, tools: call.member('tools'), tool_choice: call.member('tool_choice') } as FormatMembers
}

/** `top_k`: of how many tokens the model chooses the next one. Many upstreams take it, OpenAI does not. Undefined if it is absent or no such number. */
export const readTopK = ({ top_k }: Readonly<ChatRequest>): number | undefined => (isPositive(top_k) ? top_k : undefined)

/** A tier of service that a client asks for. */
export interface AskedTier<Name extends string> {
  /** The upstream's name of it. Absent: that of a request without a tier. */
  readonly sent?: Name
  /** Whether the upstream has no such tier: the request is served by the usual one, and the client is told. */
  readonly dropped: boolean
}

/**
 * `service_tier`: how urgently a request is served, and at which price. `names`: the upstream's names of the tiers that it has, by those of clients. `auto`
 * leaves the choice to the account's settings, and `default` is the usual tier.
 */
export function readServiceTier<Name extends string>(
  { service_tier: tier }: Readonly<ChatRequest>,
  names: Readonly<Record<string, Name | undefined>>,
): AskedTier<Name> {
  const sent = typeof tier === 'string' && Object.hasOwn(names, tier) ? names[tier] : undefined
  if (sent !== undefined) return { sent, dropped: false }
  return { dropped: !asksForNothing('service_tier', tier) && tier !== 'default' }
}

/** A search of the web that a client lets the vendor do. */
export interface AskedSearch {
  /** Where the user is: any of `city`, `country`, `region` and `timezone`. */
  readonly location?: Readonly<Record<string, string>>
  /** How much of what is found the model reads: `low`, `high`. Absent: as usual. */
  readonly size?: string
}

const PLACES = ['city', 'country', 'region', 'timezone']

/** `web_search_options`: undefined if the client asks for no search. What the namespace allows is checked before. */
export function readWebSearch({ web_search_options: options }: Readonly<ChatRequest>): AskedSearch | undefined {
  if (!isRecord(options)) return undefined
  const { user_location: user, search_context_size: size } = options
  const place = isRecord(user) && isRecord(user.approximate) ? user.approximate : {}
  const location = PLACES.flatMap((name) => (typeof place[name] === 'string' ? [[name, place[name]] as const] : []))
  return {
    ...(location.length > 0 && { location: Object.fromEntries(location) }),
    ...(typeof size === 'string' && size !== 'medium' && { size }),
  }
}

/** How much a client asks the model to think. */
export interface AskedThinking {
  /** The client's effort, or the nearest one to its budget. */
  readonly effort: string
  /** The most tokens to think with, if the client gives a number. */
  readonly budget?: number
  /** The parameter that asks: of what is not sent as it was asked for, the client is told this name. */
  readonly param: 'reasoning_effort' | 'thinking' | 'reasoning'
}

/** From this many tokens of thinking on, an effort is of this level: Gemini's table of budgets ("OpenAI compatibility", ai.google.dev). */
const LEVELS = [
  [16_384, 'high'],
  [4096, 'medium'],
  [0, 'low'],
] as const

/**
 * Reads `reasoning_effort`, or a number of tokens: as `thinking` (Anthropic's member, which clients of many gateways send) or as `reasoning`
 * (openrouter.ai/docs/use-cases/reasoning-tokens). Undefined if a request asks for neither.
 */
export function readThinking({ reasoning_effort, thinking, reasoning }: Readonly<ChatRequest>): AskedThinking | undefined {
  const asked = isRecord(thinking) ? thinking : {}
  const routed = isRecord(reasoning) ? reasoning : {}
  const budget = asked.type === 'enabled' && isPositive(asked.budget_tokens) ? asked.budget_tokens : routed.max_tokens
  const effort = reasoning_effort ?? (typeof routed.effort === 'string' ? routed.effort : undefined)
  if (isPositive(budget) && effort !== 'none') {
    const nearest = effort ?? LEVELS.find(([least]) => budget >= least)![1]
    return { effort: nearest, budget, param: budget === asked.budget_tokens ? 'thinking' : 'reasoning' }
  }
  if (effort != null) return { effort, param: reasoning_effort == null ? 'reasoning' : 'reasoning_effort' }
  return asked.type === 'disabled' ? { effort: 'none', param: 'thinking' } : undefined
}

const isPositive = (value: unknown): value is number => isCount(value) && value > 0

type JsonSchema = Readonly<Record<string, unknown>>

/** The keywords of JSON Schema that an upstream takes. */
export interface SchemaKeywords {
  /** Keywords with a schema as value. */
  readonly schema: ReadonlySet<string>
  /** Keywords with a list of schemas. */
  readonly list: ReadonlySet<string>
  /** Keywords with schemas by name. */
  readonly named: ReadonlySet<string>
  /** Whether the upstream takes any other keyword, with this value. */
  takes(keyword: string, value: unknown): boolean
  /** Keywords that have no effect on the model's output: they are removed. */
  readonly ignored: ReadonlySet<string>
}

/**
 * Restricts a JSON Schema to the keywords that an upstream takes. Other keywords become text in the schema's `description`, for the model.
 * `inner`: restricts the schemas in it.
 */
export function restrictSchema(
  schema: JsonSchema,
  keywords: SchemaKeywords,
  inner: (schema: JsonSchema) => JsonSchema,
): JsonSchema {
  const restrict = (value: unknown): unknown => (isRecord(value) ? inner(value) : value)
  const kept: Record<string, unknown> = {}
  const moved: string[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (keywords.schema.has(keyword)) kept[keyword] = restrict(value)
    else if (keywords.list.has(keyword) && Array.isArray(value)) kept[keyword] = value.map(restrict)
    else if (keywords.named.has(keyword) && isRecord(value)) {
      kept[keyword] = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, restrict(one)]))
    } else if (keywords.takes(keyword, value)) kept[keyword] = value
    else if (keyword !== 'description' && !keywords.ignored.has(keyword)) moved.push(`${keyword}: ${JSON.stringify(value)}`)
  }
  const description = describe(schema.description, moved)
  return { ...kept, ...(description !== undefined && { description }) }
}

function describe(description: unknown, moved: readonly string[]): unknown {
  if (moved.length === 0) return description
  const rules = `{${moved.join(', ')}}`
  return typeof description === 'string' ? `${description}\n\n${rules}` : rules
}
