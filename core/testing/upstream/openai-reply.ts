import type { ChatChunk, ChatCompletion, ChatDelta, FinishReason, Usage } from '../../sdk/api.ts'
import { DONE, event } from './replies.ts'

/** A tool call, as the client reads it. */
export interface SaidTool {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** Default: one that counts the calls of a reply. Those of vendors are random. */
  readonly id?: string
}

/** The content of a reply, in OpenAI's terms. A part that is left out must be absent from the reply. */
export interface Said {
  readonly text?: string
  readonly reasoning?: string
  readonly refusal?: string
  readonly tools?: readonly SaidTool[]
  /** Default: `tool_calls` if there are tools, else `stop`. */
  readonly finish?: FinishReason
  /** The fields to compare. */
  readonly usage?: Partial<Usage>
}

/** The finish reason of a reply. */
export function finishOf({ finish, tools = [] }: Said): FinishReason {
  return finish ?? (tools.length > 0 ? 'tool_calls' : 'stop')
}

const HEAD = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'some-model-2026' }

const USAGE: Usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }

/**
 * The reply of an OpenAI-compatible upstream with this content: whole, and as the events of a stream, each text and each tool's
 * arguments in two pieces, or as many as `count`. The default usage is 5 and 2 tokens.
 */
export function openaiReply(says: Said, count = 2): { readonly whole: ChatCompletion; readonly stream: readonly string[] } {
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
      ...inPieces(reasoning, count).map((reasoning_content) => chunk({ reasoning_content })),
      ...inPieces(text, count).map((content) => chunk({ content })),
      ...inPieces(refusal, count).map((piece) => chunk({ refusal: piece })),
      ...tools.flatMap((tool, index) => toolDeltas(tool, index, count)).map((delta) => chunk(delta)),
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

const toolStart = ({ name, id }: SaidTool, index: number) => ({
  id: id ?? `call_${index + 1}`,
  type: 'function' as const,
  function: { name, arguments: '' },
})

function toolDeltas(tool: SaidTool, index: number, count: number): ChatDelta[] {
  const parts = inPieces(called(tool).arguments, count).map((text) => ({ index, function: { arguments: text } }))
  return [{ index, ...toolStart(tool, index) }, ...parts].map((part) => ({ tool_calls: [part] }))
}

/** A text in pieces of equal length, cut between two characters: `count` of them at most, none of an empty text. */
export function inPieces(text = '', count = 2): string[] {
  const characters = [...text]
  const length = Math.max(1, Math.ceil(characters.length / count))
  const starts = Array.from({ length: Math.ceil(characters.length / length) }, (_, index) => index * length)
  return starts.map((start) => characters.slice(start, start + length).join(''))
}
