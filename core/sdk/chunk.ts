import type { ChatDelta, FinishReason, Usage } from './chat.ts'
import type { TranslatedChunk } from './translated.ts'

/**
 * The parts a translated stream is made of, as chunks: `yield chunk.content('Hel')`. Core's normaliser adds the id, created,
 * model and role, renumbers tool calls and puts usage where it belongs.
 */

const delta = (part: ChatDelta, choice: number): TranslatedChunk => ({ choices: [{ index: choice, delta: part }] })

/** A piece of the answer's text. */
export const content = (text: string, choice = 0): TranslatedChunk => delta({ content: text }, choice)

/** A piece of the model's refusal. */
export const refusal = (text: string, choice = 0): TranslatedChunk => delta({ refusal: text }, choice)

/** A piece of the model's reasoning. */
export const reasoning = (text: string, choice = 0): TranslatedChunk => delta({ reasoning_content: text }, choice)

/** The start of a tool call. `index`: any number that its later parts repeat. */
export const toolCall = (
  call: { readonly index: number; readonly id: string; readonly name: string; readonly extra_content?: Record<string, unknown> },
  choice = 0,
): TranslatedChunk => {
  const { index, id, name, ...extra } = call
  return delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' }, ...extra }] }, choice)
}

/** A piece of a tool call's arguments, which concatenate to a JSON text. */
export const toolArguments = (index: number, text: string, choice = 0): TranslatedChunk =>
  delta({ tool_calls: [{ index, function: { arguments: text } }] }, choice)

/** Why a choice ended; once per choice. */
export const finish = (reason: FinishReason, choice = 0): TranslatedChunk => ({
  choices: [{ index: choice, delta: {}, finish_reason: reason }],
})

/** What the call used; the last one counts. */
export const usage = (tokens: Usage): TranslatedChunk => ({ choices: [], usage: tokens })
