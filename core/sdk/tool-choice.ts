import type { ToolChoice } from './chat.ts'
import { isRecord } from './json.ts'
import { invalidValue, unsupportedParameter } from './parameters.ts'

/** Which of its tools a client lets the model use, whichever way it said so. */
export interface AskedTools {
  readonly mode: 'none' | 'auto' | 'required'
  /** The tools this is about; absent: all. A named one stands alone, in mode `required`. */
  readonly names?: ReadonlySet<string>
}

/** A request's `tool_choice`, for providers that know functions only. Throws `GatewayError` for a custom tool, and for what means nothing. */
export function readToolChoice(choice: ToolChoice | null | undefined): AskedTools {
  if (choice == null) return { mode: 'auto' }
  if (choice === 'none' || choice === 'auto' || choice === 'required') return { mode: choice }
  if (choice.type === 'custom') throw unsupportedParameter('tool_choice', 'Only tools of type `function` are known here.')
  const allowed = choice.type === 'allowed_tools' ? choice.allowed_tools : { mode: 'required', tools: [choice] }
  const names = Array.isArray(allowed?.tools) ? allowed.tools.map(nameOf) : ['']
  if (names.includes('')) {
    throw invalidValue('tool_choice', "expected 'none', 'auto', 'required', a function by its name, or allowed tools")
  }
  return { mode: allowed.mode === 'required' ? 'required' : 'auto', names: new Set(names) }
}

/** The name in `{ type: 'function', function: { name } }`; '' where there is none. */
function nameOf(tool: unknown): string {
  const named = isRecord(tool) && isRecord(tool.function) ? tool.function.name : undefined
  return typeof named === 'string' ? named : ''
}
