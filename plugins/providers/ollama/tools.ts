import {
  type AllowedTools,
  type ChatRequest,
  type ChatTool,
  invalidValue,
  isRecord,
  readToolChoice,
  unsupportedParameter,
} from 'unified-model-gateway/plugin'
import type { ChatBody, Message, Tool } from './wire.ts'

/** The tools of a request. */
export interface Toolset {
  /** Those that the model may call. */
  readonly tools: readonly Tool[]
  /** A call that the model must make: Ollama cannot require a tool, but it enforces the format of an answer. */
  readonly required?: { readonly format: NonNullable<ChatBody['format']>; readonly instruction: Message }
}

/**
 * The allowed tools, or the format of a call of one of them if one is required. Throws `GatewayError` (400) for custom tools, and for a
 * required tool that does not exist.
 */
export function toToolset(body: Readonly<ChatRequest>): Toolset {
  const all = (body.tools ?? []).map((tool, index) => toTool(tool, `tools[${index}]`))
  const choice = readToolChoice(body.tool_choice)
  if (choice.mode === 'none') return { tools: [] }
  const { names } = choice
  const tools = names ? all.filter((tool) => names.has(tool.function.name)) : all
  if (choice.mode === 'auto') return { tools }
  const [first] = tools
  if (first === undefined)
    throw invalidValue('tool_choice', names ? `no tool is named '${[...names].join("' or '")}'` : 'there are no tools')
  return { tools: [], required: namedIn(choice) === undefined ? anyOf(tools) : only(first) }
}

/** A call that the reply to a request must be; `name`: of its tool, if there is no choice. */
export interface RequiredCall {
  readonly name: string | undefined
}

/** The call that a request requires; undefined if it requires none. */
export function requiredCall(toolChoice: ChatRequest['tool_choice']): RequiredCall | undefined {
  const choice = readToolChoice(toolChoice)
  return choice.mode === 'required' ? { name: namedIn(choice) } : undefined
}

function namedIn({ names }: AllowedTools): string | undefined {
  return names?.size === 1 ? [...names][0] : undefined
}

/** The answer is the arguments. */
function only({ function: tool }: Tool): Toolset['required'] {
  return {
    format: tool.parameters,
    instruction: toInstruction(`Call the function \`${tool.name}\`: answer with its arguments only, as a JSON object.`, tool),
  }
}

/** The answer is the name and the arguments. */
function anyOf(tools: readonly Tool[]): Toolset['required'] {
  const functions = tools.map((tool) => tool.function)
  const calls = functions.map(({ name }) => ({
    type: 'object',
    properties: { name: { const: name }, arguments: { $ref: `#/$defs/${name}` } },
    required: ['name', 'arguments'],
    additionalProperties: false,
  }))
  const schemas = functions.map(({ name, parameters }) => [name, moved(parameters, `#/$defs/${name}`)])
  return {
    format: { anyOf: calls, $defs: Object.fromEntries(schemas) },
    instruction: toInstruction(
      'Call one of these functions: answer with a JSON object of its `name` and its `arguments` only.',
      functions,
    ),
  }
}

function toInstruction(text: string, functions: unknown): Message {
  return { role: 'system', content: `${text}\n${JSON.stringify(functions)}` }
}

/** A schema whose references to itself are right at another place. */
function moved(schema: unknown, to: string): unknown {
  if (Array.isArray(schema)) return schema.map((one) => moved(one, to))
  if (!isRecord(schema)) return schema
  const entries = Object.entries(schema).map(([key, value]) => {
    const isReference = key === '$ref' && typeof value === 'string' && value.startsWith('#')
    return [key, isReference ? to + value.slice(1) : moved(value, to)]
  })
  return Object.fromEntries(entries)
}

function toTool(tool: ChatTool, path: string): Tool {
  if (tool.type !== 'function') throw unsupportedParameter(path, 'Ollama takes tools of type `function` only.')
  const { name, description, parameters } = tool.function
  return {
    type: 'function',
    // Ollama requires parameters, OpenAI does not.
    function: { name, ...(description && { description }), parameters: { type: 'object', properties: {}, ...parameters } },
  }
}
