import type { ChatRequest, ChatTool } from '../../sdk/api.ts'
import { isRecord, textOf } from '../../sdk/json.ts'
import type { RepliedCall } from '../client-protocol.ts'
import type { Notes } from '../notes.ts'
import { ClientNames, fittedName } from '../tool-names.ts'
import { toParameters } from '../tool-schema.ts'

/** Members of a tool that change how Anthropic offers it, not what it does. */
const HINTS = ['input_examples', 'defer_loading', 'allowed_callers', 'eager_input_streaming'] as const

/** The tools of a request, and their choice. */
export function toToolset(tools: unknown, choice: unknown, notes: Notes): Partial<ChatRequest> {
  const list = Array.isArray(tools) ? tools.filter(isRecord) : []
  if (list.length === 0) return {}
  const isLeftOut = !list.every(isSearch) && list.some(isSearch)
  if (isLeftOut) notes.drop('tools[].tool_search_tool')
  return {
    tools: list.flatMap((tool, index) => (isLeftOut && isSearch(tool) ? [] : toTool(tool, `tools[${index}]`, notes))),
    ...toChoice(choice),
  }
}

/** Anthropic's search of tools that wait to be found: here all are offered. */
const isSearch = ({ type }: Readonly<Record<string, unknown>>): boolean => textOf(type).startsWith('tool_search_tool')

function toTool(tool: Readonly<Record<string, unknown>>, path: string, notes: Notes): ChatTool {
  const { type, name, description, input_schema: schema, strict } = tool
  if (type != null && type !== 'custom') {
    notes.refuse(`${path}.type`, `Only an upstream with Anthropic's Messages API has the tool '${textOf(type)}'.`)
    return tool as unknown as ChatTool
  }
  for (const hint of HINTS) if (tool[hint] != null) notes.drop(`tools[].${hint}`)
  const own = {
    name: fittedName(textOf(name)),
    ...(typeof description === 'string' && { description }),
    ...(isRecord(schema) && { parameters: toParameters(schema) }),
    ...(typeof strict === 'boolean' && { strict }),
  }
  return { type: 'function', function: own, ...notes.marksOf(tool) }
}

function toChoice(choice: unknown): Partial<ChatRequest> {
  if (!isRecord(choice)) return {}
  const single = choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {}
  switch (choice.type) {
    case 'any':
      return { tool_choice: 'required', ...single }
    case 'tool':
      return { tool_choice: { type: 'function', function: { name: fittedName(textOf(choice.name)) } }, ...single }
    case 'none':
      return { tool_choice: 'none' }
    default:
      return single
  }
}

/** The names of a call's tools. */
export const toolNamesOf = (call: RepliedCall): ClientNames => new ClientNames(() => namesOf(call.member('tools')))

const namesOf = (tools: unknown): readonly string[] =>
  Array.isArray(tools) ? tools.map((tool) => (isRecord(tool) ? textOf(tool.name) : '')) : []
