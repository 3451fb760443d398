import type { Translator } from 'unified-model-gateway/plugin'
import { toCompletion } from './completion.ts'
import { MessageStream } from './stream.ts'

/** Reads the reply to `POST /v1/messages`. */
export function messagesTranslator(): Translator {
  return Object.assign(new MessageStream(), { completion: toCompletion })
}
