import type { ChatRequest, ChatTool } from '../../sdk/api.ts'
import { isRecord, parseRecord, textOf } from '../../sdk/json.ts'
import type { Notes } from '../notes.ts'
import type { Members } from './wire.ts'

/** A tool that a client offers: what its calls are in the Responses API. */
export interface ClientTool {
  readonly type: 'function' | 'custom'
  readonly name: string
  readonly namespace?: string
}

/** Members of a tool that change how OpenAI offers or runs it, not what it does. */
const HINTS = ['allowed_callers', 'async', 'defer_loading', 'output_schema'] as const

/** The argument of a custom tool, as a function. */
const CUSTOM = {
  type: 'object',
  properties: { input: { type: 'string', description: 'All of the input, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
}

/** The tools of a request, and their choice. */
export function toToolset(
  { tools, tool_choice: choice, parallel_tool_calls: parallel }: Members,
  notes: Notes,
): Partial<ChatRequest> {
  const list = membersOf(tools)
  if (list.length === 0) return {}
  // Agents such as Codex offer a search of the web beside their own tools, whether it is needed or not.
  const isSearchLeftOut = choice !== 'required' && list.some(isSearch) && !list.every(isSearch)
  if (isSearchLeftOut) notes.drop('tools[].web_search')
  return {
    tools: list.flatMap((tool, index) => (isSearchLeftOut && isSearch(tool) ? [] : toTools(tool, `tools[${index}]`, notes))),
    ...toChoice(choice, notes),
    ...(parallel === false && { parallel_tool_calls: false }),
  }
}

const isSearch = ({ type }: Members): boolean => textOf(type).startsWith('web_search')

/** The name of a tool in chat completions, which have no namespaces. */
export const chatNameOf = ({ namespace, name }: Members): string => [namespace, name].map(textOf).filter(Boolean).join('__')

/** The tools that a client offers, by their names in chat completions. */
export function clientTools(tools: unknown): ReadonlyMap<string, ClientTool> {
  const known = new Map<string, ClientTool>()
  const add = ({ type, name }: Members, namespace?: string): void => {
    const tool = { name: textOf(name), ...(namespace !== undefined && { namespace }) }
    known.set(chatNameOf(tool), { type: type === 'custom' ? 'custom' : 'function', ...tool })
  }
  for (const tool of membersOf(tools)) {
    if (tool.type === 'namespace') for (const inner of membersOf(tool.tools)) add(inner, textOf(tool.name))
    else add(tool)
  }
  return known
}

/** The arguments of the function that stands for a custom tool. */
export const toCustomArguments = (input: unknown): string => JSON.stringify({ input: textOf(input) })

/** The input of a custom tool, from the arguments of its function. Text that is no such argument is taken as it is. */
export function readCustomInput(text: string): string {
  const { input } = parseRecord(text) ?? {}
  return typeof input === 'string' ? input : text
}

function toTools(tool: Members, path: string, notes: Notes): ChatTool[] {
  switch (tool.type) {
    case 'function':
    case 'custom':
      return [toTool(tool, chatNameOf({ name: tool.name }), notes)]
    case 'namespace':
      return membersOf(tool.tools).map((inner) => toTool(inner, chatNameOf({ namespace: tool.name, name: inner.name }), notes))
    default:
      notes.refuse(`${path}.type`, `Only an upstream with OpenAI's Responses API has the tool '${textOf(tool.type)}'.`)
      return [tool as unknown as ChatTool]
  }
}

function toTool(tool: Members, name: string, notes: Notes): ChatTool {
  const { type, parameters, strict } = tool
  for (const hint of HINTS) if (tool[hint] != null && tool[hint] !== false) notes.drop(`tools[].${hint}`)
  const description = [textOf(tool.description), type === 'custom' ? grammarOf(tool.format, notes) : '']
    .filter(Boolean)
    .join('\n\n')
  return {
    type: 'function',
    function: {
      name,
      ...(description !== '' && { description }),
      ...(type === 'custom' ? { parameters: CUSTOM } : isRecord(parameters) && { parameters }),
      ...(strict === true && { strict }),
    },
  }
}

/** The grammar of a custom tool's input, in words: chat completions of other vendors do not enforce it. */
function grammarOf(format: unknown, notes: Notes): string {
  if (!isRecord(format) || format.type !== 'grammar') return ''
  notes.drop('tools[].format')
  return `The input must match this ${textOf(format.syntax)} grammar:\n${textOf(format.definition)}`
}

function toChoice(choice: unknown, notes: Notes): Partial<ChatRequest> {
  if (choice === 'none' || choice === 'required') return { tool_choice: choice }
  if (!isRecord(choice)) return {}
  switch (choice.type) {
    case 'function':
    case 'custom':
      return { tool_choice: toNamed(choice) }
    case 'allowed_tools': {
      const tools = membersOf(choice.tools).map(toNamed)
      const mode = choice.mode === 'required' ? choice.mode : 'auto'
      return { tool_choice: { type: 'allowed_tools', allowed_tools: { mode, tools } } }
    }
    default:
      notes.refuse('tool_choice', `Only an upstream with OpenAI's Responses API has the tool '${textOf(choice.type)}'.`)
      return {}
  }
}

const toNamed = (tool: Members) => ({ type: 'function' as const, function: { name: chatNameOf(tool) } })

const membersOf = (list: unknown): readonly Members[] => (Array.isArray(list) ? list.filter(isRecord) : [])
