import type {
  Call,
  ChatDelta,
  ChatRequest,
  ChatTool,
  FinishReason,
  ResponseFormat,
  ToolChoice,
} from 'unified-model-gateway/plugin'
import type { Prompt } from './directives.ts'
import { Refusal } from './refusal.ts'
import { Allowance } from './sample/allowance.ts'
import { sample } from './sample/sample.ts'
import { Unsampleable } from './sample/schema.ts'
import { countWords, splitWords } from './words.ts'

/** The answer of one choice: each delta is a chunk of the stream and one token; together they are the message. */
export interface Answer {
  readonly deltas: readonly ChatDelta[]
  readonly finish: FinishReason
}

/** Generates the answer. Throws a `Refusal` for a request that cannot be answered. */
export function answerTo(call: Call, prompt: Prompt, toolCallId: (index: number) => string): Answer {
  const uses = toolUses(call.body, prompt)
  const deltas = [
    ...(hasReasoning(call) ? splitWords(reasoningFor(prompt)).map((text) => ({ reasoning_content: text })) : []),
    ...(uses.length > 0
      ? uses.flatMap((use, index) => toolDeltas(use, index, toolCallId(index)))
      : wordsFor(call, prompt).map((text) => ({ content: text }))),
  ]
  const limit = call.body.max_completion_tokens ?? call.body.max_tokens ?? Number.POSITIVE_INFINITY
  const finish = deltas.length > limit ? 'length' : uses.length > 0 ? 'tool_calls' : 'stop'
  return { deltas: deltas.slice(0, limit), finish: prompt.directives.finish ?? finish }
}

/** The words of an answer that is text. Throws a `Refusal` for a request that cannot be answered. */
export const wordsFor = (call: Call, prompt: Prompt): readonly string[] =>
  splitWords(untilStop(textFor(call, prompt), call.body.stop))

/** Models with `reason` in their name. */
const hasReasoning = (call: Call): boolean => /reason/i.test(call.model.model)

const reasoningFor = ({ text }: Prompt): string => `The user wrote ${countWords(text)} words. I answer from the sandbox.`

/** The most UTF-16 units of a message that are repeated: the answer need not be as large as the request. */
const MAX_REPEATED = 20_000

function textFor(call: Call, prompt: Prompt): string {
  const message = prompt.text.slice(0, MAX_REPEATED)
  const { chunks } = prompt.directives
  if (chunks !== undefined) return Array.from({ length: chunks }, (_, index) => index + 1).join(' ')
  const json = jsonFor(call.body.response_format, message)
  if (json !== undefined) return json
  if (prompt.toolResult !== undefined) return `The tool said: ${prompt.toolResult.slice(0, MAX_REPEATED)}`
  if (call.model.model === 'echo') return message
  return `Hello from the sandbox, which answers for ${call.model.id}. You said: ${message}`
}

/** The JSON for a `response_format`; undefined for text. Throws a `Refusal` for a schema that cannot be met. */
function jsonFor(format: ResponseFormat | null | undefined, message: string): string | undefined {
  if (format?.type === 'json_object') return JSON.stringify({ reply: message })
  if (format?.type !== 'json_schema') return undefined
  return JSON.stringify(sampleFor('response_format.json_schema.schema', format.json_schema.schema ?? true, new Allowance()))
}

/** A value for a schema of the request. Throws a `Refusal` with the schema's path. */
function sampleFor(param: string, schema: unknown, allowance: Allowance): unknown {
  try {
    return sample(schema, allowance)
  } catch (error) {
    if (error instanceof Unsampleable)
      throw new Refusal(param, `The sandbox cannot generate a value for this schema: ${error.message}.`)
    throw error
  }
}

/** OpenAI's maximum. */
const MAX_STOPS = 4

function untilStop(text: string, stop: string | readonly string[] | null | undefined): string {
  const sequences = [stop ?? []].flat()
  if (sequences.length > MAX_STOPS) throw new Refusal('stop', `The sandbox takes ${MAX_STOPS} stop sequences at most.`)
  const ends = sequences.filter((sequence) => sequence !== '').map((sequence) => text.indexOf(sequence))
  return text.slice(0, Math.min(...ends.filter((end) => end !== -1), text.length))
}

/** A tool call of the answer. */
interface ToolUse {
  readonly name: string
  readonly input: unknown
}

type FunctionTool = Extract<ChatTool, { type: 'function' }>
type ToolFunction = FunctionTool['function']

/**
 * The tool calls of the answer: those of `sandbox: tool=…`, the one that `tool_choice` names, or the first for `required`. None if the
 * conversation ends with a tool's result. Throws a `Refusal` for an unknown tool.
 */
function toolUses({ tools, tool_choice }: Readonly<ChatRequest>, prompt: Prompt): readonly ToolUse[] {
  if (prompt.toolResult !== undefined) return []
  const functions = (tools ?? []).flatMap((tool, place) => (tool.type === 'function' ? [{ ...tool.function, place }] : []))
  const names = prompt.directives.tool ?? chosenNames(tool_choice, functions)
  const allowance = new Allowance()
  return names.map((name) => {
    const tool = functions.find((one) => one.name === name)
    if (tool === undefined) throw new Refusal('tools', `The sandbox cannot call '${name}': the request has no such function.`)
    const param = `tools[${tool.place}].function.parameters`
    return { name, input: sampleFor(param, { type: 'object', ...tool.parameters }, allowance) }
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

/** As OpenAI streams a call: its name first, then pieces of its arguments. */
function toolDeltas({ name, input }: ToolUse, index: number, id: string): ChatDelta[] {
  const first = { tool_calls: [{ index, id, type: 'function' as const, function: { name, arguments: '' } }] }
  const pieces = splitWords(JSON.stringify(input))
  return [first, ...pieces.map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] }))]
}
