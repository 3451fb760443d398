import { type ChatRequest, type ChatTool, readToolChoice, unsupportedParameter } from 'unified-model-gateway/plugin'
import type { Tool } from './wire.ts'

/** The tools that the model may use. Throws `GatewayError` for custom tools, and where one must be used: Ollama cannot see to that. */
export function toTools(body: Readonly<ChatRequest>): readonly Tool[] {
  const tools = (body.tools ?? []).map((tool, index) => toTool(tool, `tools[${index}]`))
  const { mode, names } = readToolChoice(body.tool_choice)
  switch (mode) {
    case 'none':
      return []
    case 'auto':
      return names ? tools.filter((tool) => names.has(tool.function.name)) : tools
    case 'required':
      throw unsupportedParameter('tool_choice', 'Send `auto`, and say in the prompt that the tool is to be used.')
  }
}

function toTool(tool: ChatTool, path: string): Tool {
  if (tool.type !== 'function') throw unsupportedParameter(path, 'Ollama takes tools of type `function` only.')
  const { name, description, parameters } = tool.function
  return {
    type: 'function',
    // Ollama wants these, which OpenAI does not.
    function: { name, ...(description && { description }), parameters: { type: 'object', properties: {}, ...parameters } },
  }
}
