import type { ToolCallDelta, TranslatedChoice, TranslatedChunk } from 'unified-model-gateway/plugin'
import type { Quirk } from './quirk.ts'

/**
 * The parts of streamed tool calls have no index, the same index for all calls, or an empty id after the first part. Calls are
 * distinguished by their ids instead; a part without an id belongs to the call before it.
 */
export const toolCallParts: Quirk = {
  name: 'tool-call-parts',

  stream() {
    const choices = new Map<number, Numbering>()
    const numberingOf = (choice: number): Numbering => {
      const numbering = choices.get(choice) ?? new Numbering()
      choices.set(choice, numbering)
      return numbering
    }
    const renumber = (choice: TranslatedChoice): TranslatedChoice => {
      const parts = choice.delta?.tool_calls
      if (!Array.isArray(parts)) return choice
      const numbering = numberingOf(choice.index ?? 0)
      return { ...choice, delta: { ...choice.delta, tool_calls: parts.map((part) => numbering.number(part)) } }
    }
    return (chunk: TranslatedChunk) => ({ ...chunk, choices: chunk.choices.map(renumber) })
  },
}

/** The tool calls of one choice, numbered in order of appearance. */
class Numbering {
  readonly #byId = new Map<string, number>()
  /** The last call with the upstream's index. */
  readonly #byIndex = new Map<number | undefined, number>()
  #count = 0
  #last = 0

  number({ id, ...part }: ToolCallDelta): ToolCallDelta {
    const index = id ? this.#byId.get(id) : this.#byIndex.get(part.index)
    this.#last = index ?? (id ? this.#count++ : this.#last)
    this.#byIndex.set(part.index, this.#last)
    if (!id) return { ...part, index: this.#last }
    this.#byId.set(id, this.#last)
    return { ...part, id, index: this.#last }
  }
}

/** A stream with tool calls ends with `stop`: agents that wait for `tool_calls` would never run them. */
export const toolFinish: Quirk = {
  name: 'tool-finish',

  stream() {
    const called = new Set<number>()
    const correct = (choice: TranslatedChoice): TranslatedChoice => {
      const index = choice.index ?? 0
      if (choice.delta?.tool_calls?.length) called.add(index)
      return choice.finish_reason === 'stop' && called.has(index) ? { ...choice, finish_reason: 'tool_calls' } : choice
    }
    return (chunk: TranslatedChunk) => ({ ...chunk, choices: chunk.choices.map(correct) })
  },
}
