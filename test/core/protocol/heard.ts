import type { ChatMessage } from '../../../core/sdk/api.ts'

interface AnyPart {
  readonly text?: string
  readonly image_url?: { readonly url: string }
  readonly file?: { readonly file_data: string }
}

/** The lines of all texts of messages, and their pictures and files, sorted: texts that follow each other may be one text. */
export function heardIn(messages: readonly ChatMessage[]): string[] {
  const parts = messages.flatMap(({ content }): readonly AnyPart[] =>
    Array.isArray(content) ? (content as readonly AnyPart[]) : [{ text: String(content) }],
  )
  return linesOf(parts.map(({ text, image_url: image, file }) => text ?? image?.url ?? String(file?.file_data)))
}

/** The lines of texts, sorted. */
export const linesOf = (texts: readonly string[]): string[] => texts.join('\n').split('\n').sort()
