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

/** Translates the tools and their choice. Throws `GatewayError` (400) for custom tools. */
export function toToolset(body: Readonly<ChatRequest>): Toolset {
  const search = readWebSearch(body)
  if (search !== undefined && (body.tools ?? []).length > 0) {
    // "Grounding with Google Search", docs.cloud.google.com (read 2026-11-26): no other tools in the same request.
    throw unsupportedParameter(
      'web_search_options',
      'Gemini searches the web only in calls without `tools`: send one of the two.',
    )
  }
  if (search !== undefined) return { tools: [{ googleSearch: {} }] }
  const all = (body.tools ?? []).map((tool, index) => toFunction(tool, `tools[${index}]`))
  const allowed = readToolChoice(body.tool_choice)
  const { mode, names } = allowed
  // Google takes names of allowed functions only if one must be called.
  const functions = mode === 'auto' && names ? all.filter(({ name }) => names.has(name)) : all
  if (functions.length === 0) return {}
  const toolConfig = toConfig(allowed, body.tools!.some(isStrict))
  return { tools: [{ functionDeclarations: functions }], ...(toolConfig && { toolConfig }) }
}

function toFunction(tool: ChatTool, path: string): FunctionDeclaration {
  if (tool.type !== 'function') throw unsupportedParameter(path, 'Gemini takes tools of type `function` only.')
  const { name, description, parameters } = tool.function
  return { name, ...(description && { description }), ...(parameters && { parametersJsonSchema: parameters }) }
}

function isStrict(tool: ChatTool): boolean {
  return tool.type === 'function' && tool.function.strict === true
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
