import type { Call, Translator } from 'unified-model-gateway/plugin'
import { toCompletion } from './completion.ts'
import { GenerateStream } from './stream.ts'

/** Reads the reply to `:generateContent` or `:streamGenerateContent`. */
export function generateTranslator(call: Call): Translator {
  return Object.assign(new GenerateStream(call), { completion: toCompletion })
}
