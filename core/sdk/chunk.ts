/**
 * The parts of a translated stream, as chunks: `yield chunk.content('Hel')`. Core's normaliser adds the id, created, model and role,
 * renumbers tool calls and moves usage to the last chunk.
 */
import type { ChatDelta, FinishReason, Usage } from './chat.ts'
import { expectText } from './json.ts'
import type { TranslatedChunk, UrlCitation } from './translated.ts'

/** A piece of the answer's text. */
export const content = (text: string, choice = 0): TranslatedChunk => delta({ content: text }, choice)

/** A piece of the model's refusal. */
export const refusal = (text: string, choice = 0): TranslatedChunk => delta({ refusal: text }, choice)

/** A piece of the model's reasoning. */
export const reasoning = (text: string, choice = 0): TranslatedChunk => delta({ reasoning_content: text }, choice)

/**
 * The chunk of an upstream's value, made by `content`, `refusal` or `reasoning`: `chunk.fromText(chunk.content, event.text)`. None for null,
 * an absent and an empty text; throws an Error for anything else.
 */
export const fromText = (toChunk: (text: string) => TranslatedChunk, value: unknown): readonly TranslatedChunk[] => {
  const text = expectText(value, 'a text')
  return text === '' ? [] : [toChunk(text)]
}

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

/** The sources of what the answer has said. */
export const annotations = (sources: readonly UrlCitation[], choice = 0): TranslatedChunk =>
  delta({ annotations: sources }, choice)

/** Why a choice ended; once per choice. */
export const finish = (reason: FinishReason, choice = 0): TranslatedChunk => ({
  choices: [{ index: choice, delta: {}, finish_reason: reason }],
})

/** The usage of the call so far, as soon as the upstream reports it: later counts replace earlier ones. */
export const usage = (tokens: Partial<Usage>): TranslatedChunk => ({ choices: [], usage: tokens })

function delta(part: ChatDelta, choice: number): TranslatedChunk {
  return { choices: [{ index: choice, delta: part }] }
}
