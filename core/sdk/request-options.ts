import { GatewayError } from '../errors.ts'
import type { Call } from './call.ts'
import type { ChatRequest, ResponseFormat, ToolChoice } from './chat.ts'
import { isCount, isRecord } from './json.ts'
import { invalidValue, unsupportedParameter } from './parameters.ts'

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

/** A `response_format` other than text. */
export type JsonFormat =
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema'
      readonly name: string
      readonly description?: string
      readonly schema: Readonly<Record<string, unknown>>
    }

/** Reads `response_format`; undefined for text. Throws `GatewayError` (400) if a format of type `json_schema` has no schema. */
export function readResponseFormat(format: ResponseFormat | null | undefined): JsonFormat | undefined {
  if (format == null || format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json_object' }
  const { name, description, schema } = format.json_schema
  if (!isRecord(schema)) throw new GatewayError('missing_required_parameter', { param: 'response_format.json_schema.schema' })
  return { type: 'json_schema', name, ...(description && { description }), schema }
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

/** Whether a call asks for a JSON object without a schema. */
export const asksForJsonObject = (call: Pick<Call, 'member'>): boolean => {
  const format = call.member('response_format')
  return isRecord(format) && format.type === 'json_object'
}

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
