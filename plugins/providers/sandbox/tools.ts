import type { ChatRequest, ChatTool, ToolChoice } from 'unified-model-gateway/plugin'
import { sampleFor } from './json-answer.ts'
import type { Prompt } from './prompt.ts'
import { Refusal } from './refusal.ts'
import { Budget } from './sample/budget.ts'

/** A tool that is called, and with what. */
export interface ToolUse {
  readonly name: string
  readonly input: unknown
}

type FunctionTool = Extract<ChatTool, { type: 'function' }>
type ToolFunction = FunctionTool['function']

/**
 * The tools to call: those that `sandbox: tool=…` names, the one that `tool_choice` names, or the first where it says `required`. None
 * once the conversation ends with a tool's result. Throws a `Refusal` for a tool that is not there.
 */
export function toolUses({ tools, tool_choice }: Readonly<ChatRequest>, prompt: Prompt): readonly ToolUse[] {
  if (prompt.toolResult !== undefined) return []
  const functions = (tools ?? []).flatMap((tool, place) => (tool.type === 'function' ? [{ ...tool.function, place }] : []))
  const names = prompt.directives.tool ?? chosenNames(tool_choice, functions)
  const budget = new Budget()
  return names.map((name) => {
    const tool = functions.find((one) => one.name === name)
    if (tool === undefined) throw new Refusal('tools', `The sandbox cannot call '${name}': the request has no such function.`)
    const param = `tools[${tool.place}].function.parameters`
    return { name, input: sampleFor(param, { type: 'object', ...tool.parameters }, budget) }
  })
}

function chosenNames(choice: ToolChoice | null | undefined, functions: readonly ToolFunction[]): readonly string[] {
  if (choice === 'required') return functions.slice(0, 1).map(({ name }) => name)
  if (typeof choice !== 'object' || choice === null) return []
  if (choice.type === 'function') return [choice.function.name]
  if (choice.type === 'custom') return [choice.custom.name]
  const { mode, tools } = choice.allowed_tools
  if (mode !== 'required') return []
  const allowed = new Set(tools.map((tool) => (tool as Partial<FunctionTool>).function?.name))
  const choices = functions.filter(({ name }) => allowed.has(name))
  return chosenNames('required', choices)
}
