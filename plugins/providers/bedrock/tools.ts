import {
  type AskedTools,
  type ChatRequest,
  type ChatTool,
  invalidValue,
  readToolChoice,
  unsupportedParameter,
} from 'unified-model-gateway/plugin'
import { toStrictSchema } from '../anthropic/schema.ts'
import type { ModelFacts } from './models.ts'
import type { Message, Tool, ToolChoice, ToolConfig } from './wire.ts'

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

/** What of the choice goes where: Converse's own, or where that cannot say enough, Anthropic's instead. */
interface Said extends Pick<Toolset, 'fields' | 'dropped'> {
  readonly toolChoice?: ToolChoice
}

/** The choice in Anthropic's words. */
type Choice = { readonly type: 'auto' | 'any' } | { readonly type: 'tool'; readonly name: string }

/**
 * Tools and the choice among them. Throws `GatewayError` for custom tools, and for a forced one where the model cannot be forced.
 * Bedrock wants the tools of a history declared, whether the client still offers them or not.
 */
export function toToolset(body: Readonly<ChatRequest>, messages: readonly Message[], facts: ModelFacts): Toolset {
  const all = (body.tools ?? []).map((tool, index) => toTool(tool, `tools[${index}]`, facts))
  const asked = readToolChoice(body.tool_choice)
  const { mode, names } = asked
  const allowed = mode === 'none' ? [] : all.filter(({ toolSpec }) => names?.has(toolSpec.name) ?? true)
  if (mode === 'required') expectForce(allowed, asked, facts)
  if (allowed.length === 0) return withoutOffer(all, messages, facts)
  const choice = toChoice(asked, facts)
  const { toolChoice, fields, dropped } = say(choice, body.parallel_tool_calls === false, facts)
  return {
    toolConfig: { tools: choice.type === 'tool' ? all : allowed, ...(toolChoice && { toolChoice }) },
    ...(fields && { fields }),
    forced: choice.type !== 'auto',
    dropped,
  }
}

function expectForce(allowed: readonly Tool[], { names }: AskedTools, facts: ModelFacts): void {
  if (names && allowed.length === 0) throw invalidValue('tool_choice', `no tool is named '${[...names].join("' or '")}'`)
  if (facts.toolChoice !== 'auto') return
  throw unsupportedParameter('tool_choice', 'Send `auto`, and say in the prompt that the tool is to be used.')
}

/** A model that cannot be made to use a named tool is made to use any, and offered that one alone. */
function toChoice({ mode, names = new Set() }: AskedTools, facts: ModelFacts): Choice {
  const [name] = names
  if (mode !== 'required') return { type: 'auto' }
  return names.size === 1 && name !== undefined && facts.toolChoice === 'named' ? { type: 'tool', name } : { type: 'any' }
}

/** `single`: one call at a time, which Converse cannot say; and beside a choice of its own it refuses Anthropic's. */
function say(choice: Choice, single: boolean, facts: ModelFacts): Said {
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

/** No tool may be called; those that were called are declared all the same. `all`: those the client offers and forbids. */
function withoutOffer(all: readonly Tool[], messages: readonly Message[], facts: ModelFacts): Toolset {
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

/** The names of the tools in a history. */
function calledIn(messages: readonly Message[]): Set<string> {
  return new Set(messages.flatMap(({ content }) => content.flatMap((block) => ('toolUse' in block ? [block.toolUse.name] : []))))
}

function toTool(tool: ChatTool, path: string, facts: ModelFacts): Tool {
  if (tool.type !== 'function') throw unsupportedParameter(path, 'Bedrock takes tools of type `function` only.')
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
