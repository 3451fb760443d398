import {
  type AllowedTools,
  type ChatRequest,
  type ChatTool,
  invalidValue,
  readToolChoice,
  unsupportedParameter,
} from 'unified-model-gateway/plugin'
import { hasMaps, toStrictSchema, withoutAlternatives } from '../anthropic/schema.ts'
import { toCachePoint } from './content.ts'
import { type Conversation, cachePointsLeft } from './messages.ts'
import type { ModelFacts } from './models.ts'
import type { CachePoint, Message, Tool, ToolChoice, ToolConfig } from './wire.ts'

const EMPTY_SCHEMA = { type: 'object', properties: {} }

/** The names of tools that Converse takes ("ToolSpecification", Amazon Bedrock API reference, read 2026-11-26). */
export const TOOL_NAMES = /^[a-zA-Z0-9_-]{1,64}$/

/** The tools of a request. */
export interface Toolset {
  readonly toolConfig?: ToolConfig
  /** For `additionalModelRequestFields`: Anthropic's own `tool_choice`, instead of Converse's. */
  readonly fields?: { readonly tool_choice: Readonly<Record<string, unknown>> }
  /** Whether the model must use a tool. */
  readonly forced: boolean
  readonly dropped: readonly string[]
}

/** The choice in Converse's field or, if that cannot express it, in Anthropic's. */
interface ChoiceFields extends Pick<Toolset, 'fields' | 'dropped'> {
  readonly toolChoice?: ToolChoice
}

/** The choice in Anthropic's terms. */
type ClaudeChoice = { readonly type: 'auto' | 'any' } | { readonly type: 'tool'; readonly name: string }

/**
 * Translates the tools and their choice. Throws `GatewayError` (400) for custom tools, and for a required tool if the model cannot be
 * required to use one. Bedrock requires a declaration of all tools in the conversation, even if the client no longer offers them.
 */
export function toToolset(body: Readonly<ChatRequest>, conversation: Conversation, facts: ModelFacts): Toolset {
  const all = (body.tools ?? []).map((tool, index) => toTool(tool, `tools[${index}]`, facts))
  const choice = readToolChoice(body.tool_choice)
  const { mode, names } = choice
  const allowed = mode === 'none' ? [] : all.filter(({ toolSpec }) => names?.has(toolSpec.name) ?? true)
  if (mode === 'required') expectRequirable(allowed, choice, facts)
  if (allowed.length === 0) return declareCalled(all, conversation.messages, facts)
  const claudeChoice = toClaudeChoice(choice, facts)
  const { toolChoice, fields, dropped } = toChoiceFields(claudeChoice, body.parallel_tool_calls === false, facts)
  const sent = claudeChoice.type === 'tool' ? all : allowed
  return {
    toolConfig: {
      tools: facts.toolCaching ? withCachePoints(sent, body.tools ?? [], cachePointsLeft(conversation)) : sent,
      ...(toolChoice && { toolChoice }),
    },
    ...(fields && { fields }),
    forced: claudeChoice.type !== 'auto',
    dropped,
  }
}

/** The tools, each with the cache point that its mark asks for. `most`: how many of the last ones may have it. */
function withCachePoints(tools: readonly Tool[], offered: readonly ChatTool[], most: number): (Tool | CachePoint)[] {
  const points = new Map(
    offered.flatMap((tool) => (tool.type === 'function' ? [[tool.function.name, toCachePoint(tool)] as const] : [])),
  )
  const pointsOf = ({ toolSpec }: Tool): readonly CachePoint[] => points.get(toolSpec.name) ?? []
  const marked = tools.filter((tool) => pointsOf(tool).length > 0)
  const kept = new Set(marked.slice(Math.max(marked.length - most, 0)))
  return tools.flatMap((tool) => (kept.has(tool) ? [tool, ...pointsOf(tool)] : [tool]))
}

function expectRequirable(allowed: readonly Tool[], { names }: AllowedTools, facts: ModelFacts): void {
  if (names && allowed.length === 0) throw invalidValue('tool_choice', `no tool is named '${[...names].join("' or '")}'`)
  if (facts.toolChoice !== 'auto') return
  throw unsupportedParameter('tool_choice', 'Send `auto`, and say in the prompt that the tool is to be used.')
}

/** For a model that cannot be required to use a named tool, `any`: it is offered the named one alone. */
function toClaudeChoice({ mode, names = new Set() }: AllowedTools, facts: ModelFacts): ClaudeChoice {
  const [name] = names
  if (mode !== 'required') return { type: 'auto' }
  return names.size === 1 && name !== undefined && facts.toolChoice === 'named' ? { type: 'tool', name } : { type: 'any' }
}

/** `single`: one call at a time, which only Anthropic's field can express; Bedrock refuses both fields together. */
function toChoiceFields(choice: ClaudeChoice, single: boolean, facts: ModelFacts): ChoiceFields {
  if (single && facts.claudeToolChoice)
    return { fields: { tool_choice: { ...choice, disable_parallel_tool_use: true } }, dropped: [] }
  const dropped = single ? ['parallel_tool_calls'] : []
  switch (choice.type) {
    case 'auto':
      return { dropped }
    case 'any':
      return { toolChoice: { any: {} }, dropped }
    case 'tool':
      return { toolChoice: { tool: { name: choice.name } }, dropped }
  }
}

/** Declares the tools that the conversation calls, without allowing any. `all`: the tools that the client offers. */
function declareCalled(all: readonly Tool[], messages: readonly Message[], facts: ModelFacts): Toolset {
  const called = calledIn(messages)
  if (called.size === 0) return { forced: false, dropped: [] }
  const known = all.filter(({ toolSpec }) => called.delete(toolSpec.name))
  const unknown = [...called].map((name) => ({ toolSpec: { name, inputSchema: { json: EMPTY_SCHEMA } } }))
  return {
    toolConfig: { tools: [...known, ...unknown] },
    ...(facts.claudeToolChoice && { fields: { tool_choice: { type: 'none' } } }),
    forced: false,
    dropped: all.length > 0 && !facts.claudeToolChoice ? ['tool_choice'] : [],
  }
}

/** The names of the tools that a conversation calls. */
function calledIn(messages: readonly Message[]): Set<string> {
  return new Set(messages.flatMap(({ content }) => content.flatMap((block) => ('toolUse' in block ? [block.toolUse.name] : []))))
}

function toTool(tool: ChatTool, path: string, facts: ModelFacts): Tool {
  if (tool.type !== 'function') throw unsupportedParameter(path, 'Bedrock takes tools of type `function` only.')
  const { name, description, parameters, strict: requested } = tool.function
  const strict = requested && facts.strictTools && !hasMaps(parameters)
  // Bedrock requires a type, OpenAI does not.
  const own = { ...EMPTY_SCHEMA, ...parameters }
  const schema = facts.claudeToolChoice ? withoutAlternatives(own) : own
  return {
    toolSpec: {
      name,
      ...(description?.trim() && { description }),
      inputSchema: { json: strict ? toStrictSchema(schema) : schema },
      ...(strict && { strict }),
    },
  }
}
