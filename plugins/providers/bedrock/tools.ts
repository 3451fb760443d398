import {
  type ChatRequest,
  type ChatTool,
  invalidValue,
  isRecord,
  type ToolChoice as OpenAiChoice,
  unsupportedParameter,
} from 'unified-model-gateway/plugin'
import { toStrictSchema } from 'unified-model-gateway/providers/anthropic'
import type { ModelFacts } from './models.ts'
import type { Message, Tool, ToolConfig } from './wire.ts'

const ONLY_FUNCTIONS = 'Bedrock takes tools of type `function` only.'
const EMPTY_SCHEMA = { type: 'object', properties: {} }

/** The tools part of a request. */
export interface Toolset {
  readonly toolConfig?: ToolConfig
  /** For `additionalModelRequestFields`: Anthropic's own `tool_choice`, instead of Converse's. */
  readonly fields?: { readonly tool_choice: Readonly<Record<string, unknown>> }
  /** Whether the model must use a tool. */
  readonly forced: boolean
  readonly dropped: readonly string[]
}

/** Which tools the model may or must use, in Anthropic's words. */
type Choice = { readonly type: 'none' | 'auto' | 'any' } | { readonly type: 'tool'; readonly name: string }

/**
 * Tools and the choice among them. Throws `GatewayError` for custom tools, and for a forced one where the model cannot be forced.
 * Bedrock wants the tools of a history declared, whether the client still offers them or not.
 */
export function toToolset(body: Readonly<ChatRequest>, messages: readonly Message[], facts: ModelFacts): Toolset {
  const all = (body.tools ?? []).map((tool, index) => toTool(tool, `tools[${index}]`, facts))
  const { choice, allowed } = toChoice(body.tool_choice ?? undefined)
  const offered = allowed ? all.filter(({ toolSpec }) => allowed.has(toolSpec.name)) : all
  if (offered.length === 0 || choice.type === 'none')
    return withoutOffer(all, messages, facts, choice.type === 'none' && all.length > 0)
  if (choice.type === 'tool' && !offered.some(({ toolSpec }) => toolSpec.name === choice.name)) {
    throw invalidValue('tool_choice', `no tool is named '${choice.name}'`)
  }
  if (isForced(choice) && facts.toolChoice === 'auto') {
    throw unsupportedParameter('tool_choice', 'Send `auto`, and say in the prompt that the tool is to be used.')
  }
  return { ...withChoice(offered, choice, body.parallel_tool_calls === false, facts), forced: isForced(choice) }
}

/** No tool may be called; those that were called are declared all the same. */
function withoutOffer(all: readonly Tool[], messages: readonly Message[], facts: ModelFacts, forbidden: boolean): Toolset {
  const called = calledIn(messages)
  if (called.size === 0) return { forced: false, dropped: [] }
  const known = all.filter(({ toolSpec }) => called.delete(toolSpec.name))
  const unknown = [...called].map((name) => ({ toolSpec: { name, inputSchema: { json: EMPTY_SCHEMA } } }))
  return {
    toolConfig: { tools: [...known, ...unknown] },
    ...(facts.claudeToolChoice && { fields: { tool_choice: { type: 'none' } } }),
    forced: false,
    dropped: forbidden && !facts.claudeToolChoice ? ['tool_choice'] : [],
  }
}

function withChoice(tools: readonly Tool[], choice: Choice, single: boolean, facts: ModelFacts): Omit<Toolset, 'forced'> {
  // Converse cannot say this. Beside its own choice it refuses Anthropic's.
  if (single && facts.claudeToolChoice) {
    return { toolConfig: { tools }, fields: { tool_choice: { ...choice, disable_parallel_tool_use: true } }, dropped: [] }
  }
  const dropped = single ? ['parallel_tool_calls'] : []
  switch (choice.type) {
    case 'any':
      return { toolConfig: { tools, toolChoice: { any: {} } }, dropped }
    case 'tool': {
      if (facts.toolChoice === 'named') return { toolConfig: { tools, toolChoice: { tool: { name: choice.name } } }, dropped }
      // Any of one is that one.
      const named = tools.filter(({ toolSpec }) => toolSpec.name === choice.name)
      return { toolConfig: { tools: named, toolChoice: { any: {} } }, dropped }
    }
    default:
      return { toolConfig: { tools }, dropped }
  }
}

function isForced({ type }: Choice): boolean {
  return type === 'any' || type === 'tool'
}

/** The names of the tools in a history. */
function calledIn(messages: readonly Message[]): Set<string> {
  return new Set(messages.flatMap(({ content }) => content.flatMap((block) => ('toolUse' in block ? [block.toolUse.name] : []))))
}

function toTool(tool: ChatTool, path: string, facts: ModelFacts): Tool {
  if (tool.type !== 'function') throw unsupportedParameter(path, ONLY_FUNCTIONS)
  const { name, description, parameters, strict: asked } = tool.function
  const strict = asked && facts.strictTools
  // Bedrock wants a type, which OpenAI does not.
  const schema = { ...EMPTY_SCHEMA, ...parameters }
  return {
    toolSpec: {
      name,
      ...(description?.trim() && { description }),
      inputSchema: { json: strict ? toStrictSchema(schema) : schema },
      ...(strict && { strict }),
    },
  }
}

function toChoice(choice: OpenAiChoice | undefined): { choice: Choice; allowed?: ReadonlySet<string> } {
  if (choice === undefined) return { choice: { type: 'auto' } }
  if (choice === 'none' || choice === 'auto') return { choice: { type: choice } }
  if (choice === 'required') return { choice: { type: 'any' } }
  switch (choice.type) {
    case 'custom':
      throw unsupportedParameter('tool_choice', ONLY_FUNCTIONS)
    case 'function':
      if (nameOf(choice) !== '') return { choice: { type: 'tool', name: nameOf(choice) } }
      break
    case 'allowed_tools': {
      const { mode, tools } = choice.allowed_tools ?? {}
      if (Array.isArray(tools))
        return { choice: { type: mode === 'required' ? 'any' : 'auto' }, allowed: new Set(tools.map(nameOf)) }
    }
  }
  throw invalidValue('tool_choice', "expected 'none', 'auto', 'required', a function by its name, or allowed tools")
}

/** The name in `{ type: 'function', function: { name } }`; '' where there is none. */
function nameOf(tool: unknown): string {
  const named = isRecord(tool) && isRecord(tool.function) ? tool.function.name : undefined
  return typeof named === 'string' ? named : ''
}
