import { GatewayError } from '../errors.ts'
import type { ResponseFormat, ToolChoice } from './chat.ts'
import { isRecord } from './json.ts'
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
