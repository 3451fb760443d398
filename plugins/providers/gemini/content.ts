import {
  type ChatMessage,
  type ContentPart,
  invalidValue,
  isRecord,
  readDataUrl,
  unsupportedParameter,
} from 'unified-model-gateway/plugin'
import type { Part } from './wire.ts'

/** Types by the extension of an address: Vertex AI requires the type of a file that it fetches. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['gif', 'image/gif'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['wav', 'audio/wav'],
  ['mp3', 'audio/mp3'],
  ['mp4', 'video/mp4'],
])
/** The type of an image whose address has no known extension. */
const DEFAULT_IMAGE = 'image/jpeg'

/**
 * Translates a message's content. `path`: its place in the client's body. Throws `GatewayError` (400) for content that Gemini cannot read.
 */
export function toParts(content: ChatMessage['content'], path: string): Part[] {
  if (typeof content === 'string') return toText(content)
  return (content ?? []).flatMap((part, index) => toPart(part, `${path}[${index}]`))
}

/** A text part; none for an empty text, to which Vertex AI answers 400. */
export function toText(text: string | null | undefined): Part[] {
  return text ? [{ text }] : []
}

/** The pictures that a model has made, which a client sends back as it got them. Throws `GatewayError` (400) for what is not a picture. */
export function toMadeImages(images: unknown, path: string): Part[] {
  if (!Array.isArray(images)) return []
  return images.map((image, index) => {
    const url = isRecord(image) && isRecord(image.image_url) ? image.image_url.url : undefined
    if (typeof url !== 'string') throw invalidValue(`${path}[${index}]`, 'expected a picture as it was in the reply')
    return toMedia(url, `${path}[${index}].image_url.url`, DEFAULT_IMAGE)
  })
}

function toPart(part: ContentPart, path: string): Part[] {
  switch (part.type) {
    case 'text':
      return toText(part.text)
    case 'refusal':
      return toText(part.refusal)
    case 'image_url':
      return [toMedia(part.image_url.url, `${path}.image_url.url`, DEFAULT_IMAGE)]
    case 'input_audio':
      return [{ inlineData: { mimeType: `audio/${part.input_audio.format}`, data: part.input_audio.data } }]
    case 'file':
      return [toFile(part.file, `${path}.file`)]
    default:
      throw unsupportedParameter(path, 'Gemini reads text, images, sound and files.')
  }
}

function toFile({ file_data: data, file_id: id }: Extract<ContentPart, { type: 'file' }>['file'], path: string): Part {
  if (typeof data === 'string') return toMedia(data, `${path}.file_data`)
  if (typeof id === 'string' && isAddress(id)) return toMedia(id, `${path}.file_id`)
  throw unsupportedParameter(`${path}.file_id`, 'Send the file itself in `file_data`, or its address (https://).')
}

/** A data URL is sent inline, an address is fetched by Google. `otherwise`: the type of an address without a known extension. */
function toMedia(url: string, path: string, otherwise?: string): Part {
  if (isAddress(url)) {
    const mimeType = TYPES.get(/\.(\w+)(?:[?#]|$)/.exec(url)?.[1]?.toLowerCase() ?? '') ?? otherwise
    return { fileData: { fileUri: url, ...(mimeType && { mimeType }) } }
  }
  const inline = readDataUrl(url)
  // Google answers 400 to an empty type.
  if (!inline?.mediaType) throw invalidValue(path, 'expected an http(s) or gs URL, or a base64 data URL (data:<type>;base64,…)')
  return { inlineData: { mimeType: inline.mediaType === 'image/jpg' ? 'image/jpeg' : inline.mediaType, data: inline.data } }
}

function isAddress(url: string): boolean {
  return /^(?:https?|gs):\/\//i.test(url)
}
