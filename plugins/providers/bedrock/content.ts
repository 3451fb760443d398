import {
  type ChatMessage,
  type ContentPart,
  type InlineData,
  invalidValue,
  readDataUrl,
  unsupportedParameter,
} from 'unified-model-gateway/plugin'
import { markOf } from '../anthropic/content.ts'
import type { AudioFormat, Block, Bytes, CachePoint, DocumentBlock, DocumentFormat, ImageFormat, TextBlock } from './wire.ts'

const IMAGES: ReadonlyMap<string, ImageFormat> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/jpg', 'jpeg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
])

const DOCUMENTS: ReadonlyMap<string, DocumentFormat> = new Map([
  ['application/pdf', 'pdf'],
  ['text/csv', 'csv'],
  ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['text/html', 'html'],
  ['text/plain', 'txt'],
  ['text/markdown', 'md'],
])

const SOUNDS: ReadonlySet<string> = new Set(['wav', 'mp3'] satisfies AudioFormat[])

/** The state and the settings of a conversation's translation. */
export interface ContentOptions {
  readonly names: DocumentNames
  /** Whether the model caches prompts: others answer 400 to a cache point. */
  readonly caching: boolean
}

/** Translates a message's content. `path`: its place in the client's body. Throws `GatewayError` (400) for content that Converse does not take. */
export function toBlocks(content: ChatMessage['content'], path: string, options: ContentOptions): Block[] {
  if (typeof content === 'string') return toText(content)
  return (content ?? []).flatMap((part, index) => {
    const block = toBlock(part, `${path}[${index}]`, options)
    return [...block, ...(block.length > 0 && options.caching ? toCachePoint(part) : [])]
  })
}

/** A text block; none for a blank text, to which Bedrock answers 400. */
export function toText(text: string | null | undefined): TextBlock[] {
  return text == null || text.trim() === '' ? [] : [{ text }]
}

function toBlock(part: ContentPart, path: string, { names }: ContentOptions): Block[] {
  switch (part.type) {
    case 'text':
      return toText(part.text)
    case 'refusal':
      return toText(part.refusal)
    case 'image_url':
      return [{ image: toImage(part.image_url.url, `${path}.image_url.url`) }]
    case 'file':
      return [{ document: toDocument(part.file, `${path}.file`, names) }]
    case 'input_audio':
      return [{ audio: toSound(part.input_audio, `${path}.input_audio`) }]
    default:
      throw unsupportedParameter(path, 'Bedrock reads text, images, files and sound.')
  }
}

/** A cache point if a client marks the part, tool or tool call as the end of a prefix to cache. */
export function toCachePoint(part: object): CachePoint[] {
  const mark = markOf(part)
  return mark ? [{ cachePoint: { type: 'default', ...(mark.ttl && { ttl: mark.ttl }) } }] : []
}

function toImage(url: string, path: string): { format: ImageFormat; source: Bytes } {
  const { mediaType, data } = readInline(url, path)
  const format = IMAGES.get(mediaType)
  if (!format) throw unsupportedParameter(path, 'Bedrock reads PNG, JPEG, GIF and WebP images.')
  return { format, source: { bytes: data } }
}

function toDocument(
  file: Extract<ContentPart, { type: 'file' }>['file'],
  path: string,
  names: DocumentNames,
): DocumentBlock['document'] {
  if (typeof file.file_data !== 'string') throw unsupportedParameter(`${path}.file_id`, 'Send the file itself in `file_data`.')
  const { mediaType, data } = readInline(file.file_data, `${path}.file_data`)
  const format = DOCUMENTS.get(mediaType)
  if (!format)
    throw unsupportedParameter(`${path}.file_data`, `Bedrock reads ${[...new Set(DOCUMENTS.values())].join(', ')} files.`)
  return { format, name: names.take(file.filename), source: { bytes: data } }
}

function toSound({ data, format }: { data: string; format: string }, path: string): { format: AudioFormat; source: Bytes } {
  if (!SOUNDS.has(format)) throw unsupportedParameter(`${path}.format`, `Send ${[...SOUNDS].join(' or ')}.`)
  return { format: format as AudioFormat, source: { bytes: data } }
}

function readInline(url: string, path: string): InlineData {
  if (/^(https?|s3):/i.test(url)) throw unsupportedParameter(path, 'Bedrock fetches nothing: send a base64 data URL.')
  const inline = readDataUrl(url)
  if (!inline) throw invalidValue(path, 'expected a base64 data URL (data:<type>;base64,…)')
  return inline
}

/** The longest name that Bedrock takes. */
const MAX_NAME = 200

/**
 * Gives every file of a conversation a unique name that Bedrock takes: letters, digits, single blanks, hyphens, parentheses and square
 * brackets, of which the last only number copies. A name depends on earlier files only: the next turn gives the same names, which prompt
 * caches require.
 */
export class DocumentNames {
  /** By names in lower case: how many files have had them. */
  readonly #counts = new Map<string, number>()

  /** The name for the next file. */
  take(filename: string | undefined): string {
    const name = fit(filename ?? '') || 'document'
    const count = (this.#counts.get(name.toLowerCase()) ?? 0) + 1
    this.#counts.set(name.toLowerCase(), count)
    return count === 1 ? name : `${name} [${count}]`
  }
}

/** The name without extension and invalid characters, short enough to append the number of a copy. */
function fit(filename: string): string {
  return filename
    .replace(/\.[a-z\d]{1,5}$/i, '')
    .replace(/[^a-z\d()-]+/gi, ' ')
    .slice(0, MAX_NAME - 8)
    .trim()
}
