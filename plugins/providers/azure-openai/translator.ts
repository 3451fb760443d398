import type { TranslatedChunk, Translator } from 'unified-model-gateway/plugin'
import { createTranslator } from '../openai-compatible/translate.ts'

/**
 * OpenAI's format, but for what Azure's filters add. A stream begins with a chunk of no choice, no id and no model that says what the
 * filters make of the prompt: its findings go to the client with the first chunk that has one ("Content filtering",
 * learn.microsoft.com).
 */
export function azureTranslator(): Translator {
  const openai = createTranslator([])
  let findings: Readonly<Record<string, unknown>> = {}

  function* read(chunk: TranslatedChunk): Generator<TranslatedChunk> {
    const { id, prompt_filter_results, ...rest } = chunk
    if (prompt_filter_results !== undefined) findings = { prompt_filter_results }
    if (rest.choices.length === 0 && rest.usage === undefined) return
    yield { ...rest, ...(id && { id }), ...findings }
    if (rest.choices.length > 0) findings = {}
  }

  return {
    completion: (body) => openai.completion(body),
    *event(event) {
      for (const chunk of openai.event(event)) yield* read(chunk)
    },
    get over() {
      return openai.over === true
    },
  }
}
