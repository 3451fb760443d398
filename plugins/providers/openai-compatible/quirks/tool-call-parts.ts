import type { ToolCallDelta, TranslatedChoice, TranslatedChunk } from 'unified-model-gateway/plugin'
import type { Quirk } from '../quirk.ts'

/**
 * The parts of streamed tool calls carry no index, the same one for all, or an empty id after the first part. Calls are told apart
 * by their ids instead; a part that has none belongs to the call before it.
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
  /** The call that the upstream's own index last stood for. */
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
