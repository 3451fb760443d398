import type { ChatChunk, ToolCallDelta, Usage } from '../../sdk/api.ts'

/** One assembled choice of a stream. */
export interface GatheredChoice {
  content: string
  reasoning: string
  refusal: string
  /** By the index in the chunks. `arguments` is the joined pieces. */
  readonly tools: GatheredTool[]
  /** Absent if the choice never finished. */
  finish?: string
}

/** An assembled tool call of a stream. */
export interface GatheredTool {
  readonly id: string | undefined
  readonly name: string | undefined
  arguments: string
  /** Fields of this upstream only, such as a signature that it expects back. */
  readonly extra_content?: Readonly<Record<string, unknown>>
}

/** An assembled stream. */
export interface Gathered {
  readonly choices: readonly GatheredChoice[]
  readonly usage: Usage | undefined
}

/** Assembles the chunks of a stream, as clients do. */
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
