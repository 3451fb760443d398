import type { ContentPart } from '../../sdk/api.ts'
import { isRecord, textOf } from '../../sdk/json.ts'
import type { Notes } from '../notes.ts'
import type { Members } from './wire.ts'

/** The content of a message or of a tool's output as parts. `path`: its place in the client's body. */
export function toParts(content: unknown, path: string, notes: Notes): ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  const parts: readonly unknown[] = Array.isArray(content) ? content : []
  return parts.map((part, index) => toPart(isRecord(part) ? part : {}, `${path}[${index}]`, notes))
}

function toPart(part: Members, path: string, notes: Notes): ContentPart {
  if (part.prompt_cache_breakpoint != null) notes.drop('prompt_cache_breakpoint')
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: textOf(part.text) }
    case 'refusal':
      return { type: 'refusal', refusal: textOf(part.refusal) }
    case 'input_image':
      return toImage(part, path, notes)
    case 'input_file':
      return toFile(part, path, notes)
    case 'input_audio':
      return part as unknown as ContentPart
    default:
      notes.refuse(path, `Only an upstream with OpenAI's Responses API takes content of type '${textOf(part.type)}'.`)
      return part as unknown as ContentPart
  }
}

function toImage(part: Members, path: string, notes: Notes): ContentPart {
  const { image_url: url, detail } = part
  if (typeof url !== 'string') return stored(part, path, notes)
  const asked = typeof detail === 'string' && detail !== 'auto'
  return { type: 'image_url', image_url: { url, ...(asked && { detail }) } }
}

function toFile(part: Members, path: string, notes: Notes): ContentPart {
  const { filename, file_data: data, file_url: url, detail } = part
  const own = typeof data === 'string' ? data : url
  if (typeof own !== 'string') return stored(part, path, notes)
  if (detail != null && detail !== 'auto') notes.drop('input_file.detail')
  return { type: 'file', file: { filename: textOf(filename) || 'document.pdf', file_data: own } }
}

function stored(part: Members, path: string, notes: Notes): ContentPart {
  notes.refuse(`${path}.file_id`, "Only an upstream with OpenAI's Responses API has its files: send the data itself.")
  return part as unknown as ContentPart
}
