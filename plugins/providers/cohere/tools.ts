import { type ChatRequest, type ChatTool, invalidValue, readToolChoice, unsupportedParameter } from 'unified-model-gateway/plugin'
import type { ModelFacts } from './models.ts'
import type { ChatBody, Tool } from './wire.ts'

/** The tools of a request; empty without tools. */
export type Toolset = Pick<ChatBody, 'tools' | 'tool_choice'>

/** Translates the tools and their choice. Throws `GatewayError` (400) for custom tools, and for a required tool if the model cannot be required to use one. */
export function toToolset(body: Readonly<ChatRequest>, facts: ModelFacts): Toolset {
  const all = (body.tools ?? []).map((tool, index) => toTool(tool, `tools[${index}]`))
  const { mode, names } = readToolChoice(body.tool_choice)
  // Cohere's choice names no tool: a named one is offered alone.
  const tools = names ? all.filter(({ function: { name } }) => names.has(name)) : all
  if (mode === 'required') {
    if (names && tools.length === 0) throw invalidValue('tool_choice', `no tool is named '${[...names].join("' or '")}'`)
    if (!facts.toolChoice) {
      throw unsupportedParameter('tool_choice', 'Send `auto`, and say in the prompt that the tool is to be used.')
    }
    return tools.length === 0 ? {} : { tools, tool_choice: 'REQUIRED' }
  }
  if (tools.length === 0 || (mode === 'none' && !facts.toolChoice)) return {}
  return { tools, ...(mode === 'none' && { tool_choice: 'NONE' }) }
}

function toTool(tool: ChatTool, path: string): Tool {
  if (tool.type !== 'function') throw unsupportedParameter(path, 'Cohere takes tools of type `function` only.')
  const { name, description, parameters } = tool.function
  return {
    type: 'function',
    // Cohere requires parameters, OpenAI does not.
    function: { name, ...(description && { description }), parameters: { type: 'object', properties: {}, ...parameters } },
  }
}
