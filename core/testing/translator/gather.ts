import type { ChatChunk, ToolCallDelta, Usage } from '../../sdk/api.ts'

/** One choice of a stream, put together. */
export interface GatheredChoice {
  content: string
  reasoning: string
  refusal: string
  /** By the index that the client was told. `arguments` is what their pieces join to. */
  readonly tools: GatheredTool[]
  /** Absent: it never finished. */
  finish?: string
}

/** A tool call of a stream, put together. */
export interface GatheredTool {
  readonly id: string | undefined
  readonly name: string | undefined
  arguments: string
  /** What only this upstream has, such as a signature that it wants back. */
  readonly extra_content?: Readonly<Record<string, unknown>>
}

/** What a client has of a stream when it is over. */
export interface Gathered {
  readonly choices: readonly GatheredChoice[]
  readonly usage: Usage | undefined
}

/** Puts the chunks of a stream together, as clients do. */
export function gather(chunks: readonly Pick<ChatChunk, 'choices' | 'usage'>[]): Gathered {
  const choices: GatheredChoice[] = []
  let usage: Usage | undefined
  for (const chunk of chunks) {
    usage = chunk.usage ?? usage
    for (const { index, delta, finish_reason } of chunk.choices) {
      choices[index] ??= { content: '', reasoning: '', refusal: '', tools: [] }
      const choice = choices[index]
      choice.content += delta.content ?? ''
      choice.reasoning += delta.reasoning_content ?? ''
      choice.refusal += delta.refusal ?? ''
      for (const call of delta.tool_calls ?? []) addTool(choice.tools, call)
      if (finish_reason !== null) choice.finish = finish_reason
    }
  }
  return { choices, usage }
}

function addTool(tools: GatheredTool[], { index, id, function: called, extra_content }: ToolCallDelta): void {
  tools[index] ??= { id, name: called?.name, arguments: '', ...(extra_content && { extra_content }) }
  tools[index].arguments += called?.arguments ?? ''
}
