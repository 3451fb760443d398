import {
  type ChatMessage,
  type ContentPart,
  invalidValue,
  isRecord,
  readDataUrl,
  unsupportedParameter,
} from 'unified-model-gateway/plugin'
import type { CacheMark, ContentBlock, DocumentBlock, DocumentSource, ImageType, Source, TextBlock } from './wire.ts'

const IMAGES: ReadonlyMap<string, ImageType> = new Map([
  ['image/jpeg', 'image/jpeg'],
  ['image/jpg', 'image/jpeg'],
  ['image/png', 'image/png'],
  ['image/gif', 'image/gif'],
  ['image/webp', 'image/webp'],
])
const PDF = 'application/pdf'
const PLAIN = 'text/plain'

/** Translates a message's content. `path`: its place in the client's body. Throws `GatewayError` (400) for content that Claude cannot read. */
export function toBlocks(content: ChatMessage['content'], path: string): ContentBlock[] {
  if (typeof content === 'string') return toText(content)
  return (content ?? []).flatMap((part, index) => {
    const blocks = toBlock(part, `${path}[${index}]`)
    const mark = markOf(part)
    return mark ? blocks.map((block) => ({ ...block, cache_control: mark })) : blocks
  })
}

/** A text block; none for a blank text, to which Anthropic answers 400. */
export function toText(text: string | null | undefined): TextBlock[] {
  return text == null || text.trim() === '' ? [] : [{ type: 'text', text }]
}

/** The mark of a part, a tool or a tool call as the end of a prefix to cache: OpenAI's (`prompt_cache_breakpoint`) or Anthropic's own. */
export function markOf(part: object): CacheMark | undefined {
  const { cache_control: own, prompt_cache_breakpoint: breakpoint } = part as Readonly<Record<string, unknown>>
  if (isRecord(own)) return { type: 'ephemeral', ...((own.ttl === '5m' || own.ttl === '1h') && { ttl: own.ttl }) }
  return breakpoint == null ? undefined : { type: 'ephemeral' }
}

function toBlock(part: ContentPart, path: string): ContentBlock[] {
  switch (part.type) {
    case 'text':
      return toText(part.text)
    case 'refusal':
      return toText(part.refusal)
    case 'image_url':
      return [{ type: 'image', source: toImage(part.image_url.url, `${path}.image_url.url`) }]
    case 'file':
      return [toDocument(part.file, `${path}.file`)]
    default:
      throw unsupportedParameter(path, 'Claude reads text, images, and files that are PDF or plain text.')
  }
}

function toImage(url: string, path: string): Source<ImageType> {
  if (isRemote(url)) return { type: 'url', url }
  const { mediaType, data } = readInline(url, path)
  const type = IMAGES.get(mediaType)
  if (!type) throw unsupportedParameter(path, 'Claude reads JPEG, PNG, GIF and WebP images.')
  return { type: 'base64', media_type: type, data }
}

function toDocument(file: Extract<ContentPart, { type: 'file' }>['file'], path: string): DocumentBlock {
  if (typeof file.file_data !== 'string') throw unsupportedParameter(`${path}.file_id`, 'Send the file itself in `file_data`.')
  return { type: 'document', source: toFile(file.file_data, `${path}.file_data`), ...(file.filename && { title: file.filename }) }
}

function toFile(url: string, path: string): DocumentSource {
  if (isRemote(url)) return { type: 'url', url }
  const { mediaType, data } = readInline(url, path)
  if (mediaType === PLAIN) return { type: 'text', media_type: PLAIN, data: Buffer.from(data, 'base64').toString() }
  if (mediaType !== PDF) throw unsupportedParameter(path, 'Claude reads PDF files and plain text.')
  return { type: 'base64', media_type: PDF, data }
}

function isRemote(url: string): boolean {
  return /^https?:\/\//i.test(url)
}

function readInline(url: string, path: string) {
  const inline = readDataUrl(url)
  if (!inline) throw invalidValue(path, 'expected an http(s) URL or a base64 data URL (data:<type>;base64,…)')
  return inline
}
