import type { ChatChunk, ChatCompletion, ChatDelta, FinishReason, Usage } from '../sdk/api.ts'
import { DONE, event } from './replies.ts'
import { finishOf, type Said, type SaidTool } from './said.ts'

const HEAD = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'some-model-2026' }

const USAGE: Usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }

/**
 * What an upstream that speaks OpenAI's protocol answers to say this: as a whole reply, and as the events of a stream, each text and
 * each tool's arguments in two pieces. The usage is 5 and 2 tokens, if it does not say another.
 */
export function openaiReply(says: Said): { readonly whole: ChatCompletion; readonly stream: readonly string[] } {
  const { text, reasoning, refusal, tools = [] } = says
  const usage = { ...USAGE, ...says.usage }
  const message = {
    role: 'assistant' as const,
    content: text ?? null,
    refusal: refusal ?? null,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(tools.length > 0 && { tool_calls: tools.map((tool, index) => ({ ...toolStart(tool, index), function: called(tool) })) }),
  }
  const choice = { index: 0, message, logprobs: null, finish_reason: finishOf(says) }
  return {
    whole: { ...HEAD, object: 'chat.completion', choices: [choice], usage },
    stream: [
      chunk({ role: 'assistant', content: '' }),
      ...halves(reasoning).map((reasoning_content) => chunk({ reasoning_content })),
      ...halves(text).map((content) => chunk({ content })),
      ...halves(refusal).map((piece) => chunk({ refusal: piece })),
      ...tools.flatMap(toolDeltas).map((delta) => chunk(delta)),
      chunk({}, finishOf(says)),
      event({ ...HEAD, object: 'chat.completion.chunk', choices: [], usage } satisfies ChatChunk),
      DONE,
    ],
  }
}

/** One event of a stream. */
function chunk(delta: ChatDelta, finish: FinishReason | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  return event({ ...HEAD, object: 'chat.completion.chunk', choices } satisfies ChatChunk)
}

const called = ({ name, arguments: values }: SaidTool) => ({ name, arguments: JSON.stringify(values) })

const toolStart = ({ name }: SaidTool, index: number) => ({
  id: `call_${index + 1}`,
  type: 'function' as const,
  function: { name, arguments: '' },
})

function toolDeltas(tool: SaidTool, index: number): ChatDelta[] {
  const pieces = halves(called(tool).arguments).map((text) => ({ index, function: { arguments: text } }))
  return [{ index, ...toolStart(tool, index) }, ...pieces].map((part) => ({ tool_calls: [part] }))
}

/** Never within a character. */
function halves(text = ''): string[] {
  const characters = [...text]
  const middle = Math.ceil(characters.length / 2)
  return [characters.slice(0, middle), characters.slice(middle)].map((half) => half.join('')).filter((half) => half !== '')
}
