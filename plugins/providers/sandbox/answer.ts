import type { Call, ChatDelta, FinishReason } from 'unified-model-gateway/plugin'
import { jsonAnswer } from './json-answer.ts'
import type { Prompt } from './prompt.ts'
import { Refusal } from './refusal.ts'
import { type ToolUse, toolUses } from './tools.ts'
import { countWords, splitWords } from './words.ts'

/** What one choice says: each delta is a chunk of the stream and one token; together they are the message. */
export interface Answer {
  readonly deltas: readonly ChatDelta[]
  readonly finish: FinishReason
}

/** Makes up the answer. Throws a `Refusal` where the request asks for something that cannot be made up. */
export function answerTo(call: Call, prompt: Prompt, toolCallId: (index: number) => string): Answer {
  const uses = toolUses(call.body, prompt)
  const deltas = [
    ...(speaksReasoning(call) ? splitWords(reasoningFor(prompt)).map((text) => ({ reasoning_content: text })) : []),
    ...(uses.length > 0
      ? uses.flatMap((use, index) => toolDeltas(use, index, toolCallId(index)))
      : splitWords(untilStop(textFor(call, prompt), call.body.stop)).map((text) => ({ content: text }))),
  ]
  const limit = call.body.max_completion_tokens ?? call.body.max_tokens ?? Number.POSITIVE_INFINITY
  const finish = deltas.length > limit ? 'length' : uses.length > 0 ? 'tool_calls' : 'stop'
  return { deltas: deltas.slice(0, limit), finish: prompt.directives.finish ?? finish }
}

/** Models whose name says that they reason. */
const speaksReasoning = (call: Call): boolean => /reason/i.test(call.model.model)

const reasoningFor = ({ text }: Prompt): string => `The user wrote ${countWords(text)} words. I answer from the sandbox.`

/** The most of a message that is repeated, in UTF-16 units: an answer need not be as large as a request may be. */
const MAX_REPEATED = 20_000

function textFor(call: Call, prompt: Prompt): string {
  const said = prompt.text.slice(0, MAX_REPEATED)
  const { chunks } = prompt.directives
  if (chunks !== undefined) return Array.from({ length: chunks }, (_, index) => index + 1).join(' ')
  const json = jsonAnswer(call.body.response_format, said)
  if (json !== undefined) return json
  if (prompt.toolResult !== undefined) return `The tool said: ${prompt.toolResult.slice(0, MAX_REPEATED)}`
  if (call.model.model === 'echo') return said
  return `Hello from the sandbox, which answers for ${call.model.id}. You said: ${said}`
}

/** As many sequences as OpenAI takes. */
const MOST_STOPS = 4

function untilStop(text: string, stop: string | readonly string[] | null | undefined): string {
  const sequences = [stop ?? []].flat()
  if (sequences.length > MOST_STOPS) throw new Refusal('stop', `The sandbox takes ${MOST_STOPS} stop sequences at most.`)
  const ends = sequences.filter((sequence) => sequence !== '').map((sequence) => text.indexOf(sequence))
  return text.slice(0, Math.min(...ends.filter((end) => end !== -1), text.length))
}

/** As OpenAI streams a call: its name first, then its arguments piece by piece. */
function toolDeltas({ name, input }: ToolUse, index: number, id: string): ChatDelta[] {
  const first = { tool_calls: [{ index, id, type: 'function' as const, function: { name, arguments: '' } }] }
  const pieces = splitWords(JSON.stringify(input))
  return [first, ...pieces.map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] }))]
}
