import { type ChatMessage, type ContentPart, invalidValue, readDataUrl, unsupportedParameter } from 'unified-model-gateway/plugin'
import type { Message } from './wire.ts'

/** What a message says, and shows. */
export type Content = Pick<Message, 'content' | 'images'>

/** A message's content. `path`: its place in the client's body. Throws `GatewayError` for what Ollama cannot take. */
export function toContent(content: ChatMessage['content'], path: string): Content {
  if (typeof content === 'string') return { content }
  const parts = (content ?? []).map((part, index) => toPart(part, `${path}[${index}]`))
  const images = parts.flatMap((part) => part.image ?? [])
  const texts = parts.flatMap((part) => part.text ?? [])
  return { content: texts.join('\n'), ...(images.length > 0 && { images }) }
}

/** A message's content where only words can stand. */
export function toText(content: ChatMessage['content'], path: string): string {
  const { content: text, images } = toContent(content, path)
  if (images) throw unsupportedParameter(path, 'Ollama takes images and sound in the messages of users only.')
  return text
}

function toPart(part: ContentPart, path: string): { readonly text?: string; readonly image?: string } {
  switch (part.type) {
    case 'text':
      return { text: part.text }
    case 'refusal':
      return { text: part.refusal }
    case 'image_url':
      return { image: toImage(part.image_url.url, `${path}.image_url.url`) }
    case 'input_audio':
      return { image: part.input_audio.data }
    default:
      throw unsupportedParameter(path, 'Ollama takes text, images and sound.')
  }
}

function toImage(url: string, path: string): string {
  const inline = readDataUrl(url)
  if (inline) return inline.data
  if (/^https?:\/\//i.test(url)) throw unsupportedParameter(path, 'Ollama fetches no images: send a base64 data URL.')
  throw invalidValue(path, 'expected a base64 data URL (data:<type>;base64,…)')
}
