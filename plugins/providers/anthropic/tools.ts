import {
  type AllowedTools,
  type ChatRequest,
  type ChatTool,
  invalidValue,
  readToolChoice,
  readWebSearch,
  unsupportedParameter,
} from 'unified-model-gateway/plugin'
import { markOf } from './content.ts'
import type { ModelFacts } from './models.ts'
import { hasMaps, toStrictSchema, withoutAlternatives } from './schema.ts'
import type { Tool, ToolChoice, WebSearchTool } from './wire.ts'

/** The names of tools that Anthropic takes: "tools.19.custom.name: String should match pattern" (github.com/github/copilot-cli, issue 2581, April 2026). */
export const TOOL_NAMES = /^[a-zA-Z0-9_-]{1,128}$/

/** The tools of a request; empty without tools. */
export interface Toolset {
  readonly tools?: readonly (Tool | WebSearchTool)[]
  readonly tool_choice?: ToolChoice
}

/** Translates the tools and their choice. Throws `GatewayError` (400) for custom tools, and for a required tool if the model takes none. */
export function toToolset(body: Readonly<ChatRequest>, facts: ModelFacts): Toolset {
  const all = (body.tools ?? []).map((tool, index) => toTool(tool, `tools[${index}]`, facts))
  const allowed = readToolChoice(body.tool_choice)
  if (allowed.mode === 'required' && !facts.forcedTools) {
    throw unsupportedParameter('tool_choice', 'Send `auto`, and say in the prompt that the tool is to be used.')
  }
  const choice = toChoice(allowed, body.parallel_tool_calls === false)
  // Anthropic's choice names one tool at most: of several, only those are sent.
  const own = allowed.names && choice?.type !== 'tool' ? all.filter(({ name }) => allowed.names!.has(name)) : all
  const tools = [...own, ...toWebSearch(body, own)]
  if (tools.length === 0) return {}
  return { tools, ...(choice && { tool_choice: choice }) }
}

/** The number of tools with a cache mark. */
export const marksIn = (tools: Toolset['tools'] = []): number =>
  tools.filter((tool) => 'cache_control' in tool && tool.cache_control).length

/** Whether the model must use a tool. */
export function isForced(choice: ToolChoice | undefined): boolean {
  return choice?.type === 'any' || choice?.type === 'tool'
}

/** Throws `GatewayError` (400) if a tool of the client's has its name: Anthropic wants each name once. */
function toWebSearch(body: Readonly<ChatRequest>, tools: readonly Tool[]): readonly WebSearchTool[] {
  const search = readWebSearch(body)
  if (search === undefined) return []
  if (tools.some(({ name }) => name === SEARCH)) {
    throw invalidValue('web_search_options', `it needs the name '${SEARCH}', which a tool of yours has: give that another name`)
  }
  const { location } = search
  return [
    {
      type: 'web_search_20250305',
      name: SEARCH,
      ...(location && { user_location: { type: 'approximate', ...location } }),
    },
  ]
}

const SEARCH = 'web_search'

function toTool(tool: ChatTool, path: string, facts: ModelFacts): Tool {
  if (tool.type !== 'function') throw unsupportedParameter(path, 'Anthropic takes tools of type `function` only.')
  const { name, description, parameters, strict } = tool.function
  const mark = markOf(tool)
  // Anthropic requires a type, OpenAI does not.
  const schema = { ...withoutAlternatives({ properties: {}, ...parameters }), type: 'object' as const }
  return {
    name,
    ...(description && { description }),
    ...(mark && { cache_control: mark }),
    ...(strict && facts.structuredOutputs && !hasMaps(schema)
      ? { input_schema: { ...toStrictSchema(schema), type: schema.type }, strict }
      : { input_schema: schema }),
  }
}

/** Undefined for Anthropic's default. */
function toChoice({ mode, names = new Set() }: AllowedTools, single: boolean): ToolChoice | undefined {
  if (mode === 'none') return { type: 'none' }
  const parallel = single ? { disable_parallel_tool_use: true as const } : {}
  if (mode === 'auto') return single ? { type: 'auto', ...parallel } : undefined
  const [name = ''] = names.size === 1 ? names : []
  return name === '' ? { type: 'any', ...parallel } : { type: 'tool', name, ...parallel }
}
