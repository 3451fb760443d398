import {
  type AllowedTools,
  type ChatRequest,
  type ChatTool,
  readToolChoice,
  readWebSearch,
  unsupportedParameter,
} from 'unified-model-gateway/plugin'
import type { FunctionDeclaration, Tool, ToolConfig } from './wire.ts'

/** The names of functions that Google takes: "Invalid function name" to others (github.com/AstrBotDevs/AstrBot, issue 5416, 2026). */
export const TOOL_NAMES = /^[A-Za-z_][\w.:-]{0,63}$/

/** The tools of a request; empty without tools. */
export interface Toolset {
  readonly tools?: readonly Tool[]
  readonly toolConfig?: ToolConfig
}

type FunctionOf = Extract<ChatTool, { type: 'function' }>['function']

/** What a request says about tools, as far as Google takes it. */
export interface AskedTools {
  /** Google's own search of the web, which excludes functions. */
  readonly search: boolean
  readonly functions: readonly FunctionOf[]
  readonly choice: AllowedTools
  /** Whether the schema of a function is to be enforced. */
  readonly strict: boolean
}

/** Translates the tools and their choice for generateContent. Throws `GatewayError` (400) for custom tools. */
export function toToolset(body: Readonly<ChatRequest>): Toolset {
  const { search, functions, choice, strict } = readTools(body)
  if (search) return { tools: [{ googleSearch: {} }] }
  if (functions.length === 0) return {}
  const toolConfig = toConfig(choice, strict)
  return { tools: [{ functionDeclarations: functions.map(toDeclaration) }], ...(toolConfig && { toolConfig }) }
}

/** The tools of a request, and their choice. Throws `GatewayError` (400) for custom tools, and for a search together with functions. */
export function readTools(body: Readonly<ChatRequest>): AskedTools {
  const search = readWebSearch(body)
  if (search !== undefined && (body.tools ?? []).length > 0) {
    // "Grounding with Google Search", docs.cloud.google.com (read 2026-11-26): no other tools in the same request.
    throw unsupportedParameter(
      'web_search_options',
      'Gemini searches the web only in calls without `tools`: send one of the two.',
    )
  }
  const all = (body.tools ?? []).map((tool, index) => expectFunction(tool, `tools[${index}]`))
  const choice = readToolChoice(body.tool_choice)
  const { mode, names } = choice
  // Google takes names of allowed functions only if one must be called.
  const functions = mode === 'auto' && names ? all.filter(({ name }) => names.has(name)) : all
  return { search: search !== undefined, functions, choice, strict: all.some(({ strict }) => strict === true) }
}

function expectFunction(tool: ChatTool, path: string): FunctionOf {
  if (tool.type === 'function') return tool.function
  throw unsupportedParameter(path, 'Gemini takes tools of type `function` only.')
}

function toDeclaration({ name, description, parameters }: FunctionOf): FunctionDeclaration {
  return { name, ...(description && { description }), ...(parameters && { parametersJsonSchema: parameters }) }
}

/** Google enforces a strict tool's schema in mode `ANY`, and in mode `VALIDATED` if no call is required. */
function toConfig({ mode, names }: AllowedTools, strict: boolean): ToolConfig | undefined {
  switch (mode) {
    case 'none':
      return { functionCallingConfig: { mode: 'NONE' } }
    case 'required':
      return { functionCallingConfig: { mode: 'ANY', ...(names && { allowedFunctionNames: [...names] }) } }
    case 'auto':
      return strict ? { functionCallingConfig: { mode: 'VALIDATED' } } : undefined
  }
}
