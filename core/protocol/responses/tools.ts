import type { ChatRequest, ChatTool } from '../../sdk/api.ts'
import { isRecord, textOf } from '../../sdk/json.ts'
import { CUSTOM_PARAMETERS, customDescription } from '../custom-tools.ts'
import type { Notes } from '../notes.ts'
import { toParameters } from '../tool-schema.ts'
import { addedTools, membersOf, type PlacedTool } from './added-tools.ts'
import { chatNameOf, KINDS, type ToolType, typeOfTool } from './client-tools.ts'
import type { Members } from './wire.ts'

/** Members of a tool that change how OpenAI offers or runs it, not what it does. */
const HINTS = ['allowed_callers', 'async', 'defer_loading', 'output_schema'] as const

/** The tools of a request and those that its conversation adds, and their choice. */
export function toToolset(
  { tools, input, tool_choice: choice, parallel_tool_calls: parallel }: Members,
  notes: Notes,
): Partial<ChatRequest> {
  const own = membersOf(tools).map((tool, index) => ({ tool, path: `tools[${index}]` }))
  const all = [...own, ...addedTools(input)]
  if (all.length === 0) return {}
  const left = leftOut(all, choice, notes)
  // The same tool may be found twice.
  const byName = new Map<string, ChatTool>()
  for (const { tool, path } of all) {
    if (left.has(tool)) continue
    for (const made of toTools(tool, path, notes)) byName.set(nameOf(made), byName.get(nameOf(made)) ?? made)
  }
  return {
    tools: [...byName.values()],
    ...toChoice(choice, notes),
    ...(parallel === false && { parallel_tool_calls: false }),
  }
}

/** Tools that the vendor runs, which agents such as Codex offer beside their own, whether they are needed or not. */
const UNASKED = /^(web_search|image_generation|tool_search|shell)(?:_\w+)?$/

const unaskedName = (tool: Members): string | undefined =>
  typeOfTool(tool) === undefined ? UNASKED.exec(textOf(tool.type))?.[1] : undefined

/** The tools to leave out, beside others that the model may call instead. */
function leftOut(all: readonly PlacedTool[], choice: unknown, notes: Notes): ReadonlySet<Members> {
  const unasked = new Map(all.map(({ tool }) => [tool, unaskedName(tool)] as const).filter(([, name]) => name !== undefined))
  if (choice === 'required' || unasked.size === all.length) return new Set()
  for (const name of unasked.values()) notes.drop(`tools[].${name}`)
  return new Set(unasked.keys())
}

const nameOf = (tool: ChatTool): string => (tool.type === 'function' ? tool.function.name : JSON.stringify(tool))

function toTools(tool: Members, path: string, notes: Notes): ChatTool[] {
  if (tool.type === 'namespace')
    return membersOf(tool.tools).map((inner) =>
      toTool(inner, typeOfTool(inner) ?? 'function', { namespace: tool.name, name: inner.name }, notes),
    )
  const type = typeOfTool(tool)
  if (type !== undefined) return [toTool(tool, type, { name: tool.name }, notes)]
  notes.refuse(`${path}.type`, `Only an upstream with OpenAI's Responses API has the tool '${textOf(tool.type)}'.`)
  return [tool as unknown as ChatTool]
}

function toTool(tool: Members, type: ToolType, named: Members, notes: Notes): ChatTool {
  for (const hint of HINTS) if (tool[hint] != null && tool[hint] !== false) notes.drop(`tools[].${hint}`)
  const name = chatNameOf(type, named)
  const definition = KINDS[type].definition?.(tool)
  if (definition !== undefined) return { type: 'function', function: { name, ...definition } }
  const { parameters, strict } = tool
  const description = customDescription(tool.description, type === 'custom' ? grammarOf(tool.format, notes) : undefined)
  return {
    type: 'function',
    function: {
      name,
      ...(description !== '' && { description }),
      ...(type === 'custom'
        ? { parameters: CUSTOM_PARAMETERS }
        : isRecord(parameters) && { parameters: toParameters(parameters) }),
      ...(strict === true && { strict }),
    },
  }
}

/** The grammar of a custom tool's input, which chat completions of other vendors do not enforce. */
function grammarOf(format: unknown, notes: Notes): Members | undefined {
  if (!isRecord(format) || format.type !== 'grammar') return undefined
  notes.drop('tools[].format')
  return format
}

function toChoice(choice: unknown, notes: Notes): Partial<ChatRequest> {
  if (choice === 'none' || choice === 'required') return { tool_choice: choice }
  if (!isRecord(choice)) return {}
  if (choice.type === 'allowed_tools') {
    const tools = membersOf(choice.tools).map((tool) => toNamed(tool, typeOfChoice(tool) ?? 'function'))
    const mode = choice.mode === 'required' ? choice.mode : 'auto'
    return { tool_choice: { type: 'allowed_tools', allowed_tools: { mode, tools } } }
  }
  const type = typeOfChoice(choice)
  if (type !== undefined) return { tool_choice: toNamed(choice, type) }
  notes.refuse('tool_choice', `Only an upstream with OpenAI's Responses API has the tool '${textOf(choice.type)}'.`)
  return {}
}

/** The kind of tool that a choice names. It does not say who runs it. */
const typeOfChoice = ({ type }: Members): ToolType | undefined => typeOfTool({ type, execution: 'client' })

const toNamed = (tool: Members, type: ToolType) => ({ type: 'function' as const, function: { name: chatNameOf(type, tool) } })
