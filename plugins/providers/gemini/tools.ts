import {
  type ChatRequest,
  type ChatTool,
  invalidValue,
  isRecord,
  type ToolChoice,
  unsupportedParameter,
} from 'unified-model-gateway/plugin'
import type { FunctionDeclaration, Tool, ToolConfig } from './wire.ts'

const ONLY_FUNCTIONS = 'Gemini takes tools of type `function` only.'

/** The tools part of a request; empty where there are no tools. */
export interface Toolset {
  readonly tools?: readonly Tool[]
  readonly toolConfig?: ToolConfig
}

/** What the client chose: a mode, and the functions it left in. */
interface Choice {
  readonly mode: 'AUTO' | 'ANY' | 'NONE'
  readonly allowed?: ReadonlySet<string>
}

/** Tools and the choice among them. Throws `GatewayError` for custom tools. */
export function toToolset(body: Readonly<ChatRequest>): Toolset {
  const all = (body.tools ?? []).map((tool, index) => toFunction(tool, `tools[${index}]`))
  const choice = toChoice(body.tool_choice ?? undefined)
  // Google takes names of allowed functions only where one must be called.
  const functions = choice?.mode === 'AUTO' && choice.allowed ? all.filter(({ name }) => choice.allowed!.has(name)) : all
  if (functions.length === 0) return {}
  const toolConfig = toConfig(choice, body.tools!.some(isStrict))
  return { tools: [{ functionDeclarations: functions }], ...(toolConfig && { toolConfig }) }
}

/** Whether the model must call a function. */
export function isForced({ toolConfig }: Toolset): boolean {
  return toolConfig?.functionCallingConfig.mode === 'ANY'
}

function toFunction(tool: ChatTool, path: string): FunctionDeclaration {
  if (tool.type !== 'function') throw unsupportedParameter(path, ONLY_FUNCTIONS)
  const { name, description, parameters } = tool.function
  return { name, ...(description && { description }), ...(parameters && { parametersJsonSchema: parameters }) }
}

function isStrict(tool: ChatTool): boolean {
  return tool.type === 'function' && tool.function.strict === true
}

/** A strict tool's schema is kept to where the model has to call a function, and in mode `VALIDATED` where it may. */
function toConfig(choice: Choice | undefined, strict: boolean): ToolConfig | undefined {
  if (choice === undefined && !strict) return undefined
  const { mode, allowed } = choice ?? { mode: 'AUTO' }
  return {
    functionCallingConfig: {
      mode: mode === 'AUTO' && strict ? 'VALIDATED' : mode,
      ...(mode === 'ANY' && allowed && { allowedFunctionNames: [...allowed] }),
    },
  }
}

function toChoice(choice: ToolChoice | undefined): Choice | undefined {
  if (choice === undefined) return undefined
  if (choice === 'none') return { mode: 'NONE' }
  if (choice === 'auto') return { mode: 'AUTO' }
  if (choice === 'required') return { mode: 'ANY' }
  switch (choice.type) {
    case 'custom':
      throw unsupportedParameter('tool_choice', ONLY_FUNCTIONS)
    case 'function':
      if (nameOf(choice) !== '') return { mode: 'ANY', allowed: new Set([nameOf(choice)]) }
      break
    case 'allowed_tools': {
      const { mode, tools } = choice.allowed_tools ?? {}
      if (Array.isArray(tools)) return { mode: mode === 'required' ? 'ANY' : 'AUTO', allowed: new Set(tools.map(nameOf)) }
    }
  }
  throw invalidValue('tool_choice', "expected 'none', 'auto', 'required', a function by its name, or allowed tools")
}

/** The name in `{ type: 'function', function: { name } }`; '' where there is none. */
function nameOf(tool: unknown): string {
  const named = isRecord(tool) && isRecord(tool.function) ? tool.function.name : undefined
  return typeof named === 'string' ? named : ''
}
