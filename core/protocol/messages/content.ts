import type { ContentPart } from '../../sdk/api.ts'
import { isRecord, textOf } from '../../sdk/json.ts'
import type { Notes } from '../notes.ts'
import { fittedName } from '../tool-names.ts'
import type { Block } from './wire.ts'

/** The content of a message or of a tool's result as parts. `path`: its place in the client's body. */
export function toParts(content: unknown, path: string, notes: Notes): ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return blocksOf(content).flatMap((block, index) => {
    const parts = toBlockParts(block, `${path}[${index}]`, notes)
    const last = parts.pop()
    return last === undefined ? [] : [...parts, { ...last, ...notes.marksOf(block) }]
  })
}

/** The blocks of a content. */
export function blocksOf(content: unknown): readonly Block[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content : []
}

const text = (...lines: readonly unknown[]): ContentPart => ({ type: 'text', text: lines.map(textOf).filter(Boolean).join('\n') })

function toBlockParts(block: Block, path: string, notes: Notes): ContentPart[] {
  switch (block.type) {
    case 'text':
      if (block.citations != null) notes.drop('citations')
      return [text(block.text)]
    case 'image':
      if (block.transformations != null) notes.drop('transformations')
      return [toImage(block, path, notes)]
    case 'document':
      return toDocument(block, path, notes)
    case 'search_result':
      if (isEnabled(block.citations)) notes.drop('citations')
      return [text(block.title, block.source), ...toParts(block.content, `${path}.content`, notes)]
    case 'tool_reference':
      return [text(`The tool ${fittedName(textOf(block.tool_name))} can be called now.`)]
    case 'compaction':
      return [text(block.content)]
    default:
      if (isHosted(block)) {
        notes.drop(`content.${block.type}`)
        return []
      }
      notes.refuse(path, `Only an upstream with Anthropic's Messages API takes content of type '${block.type}'.`)
      return [block as unknown as ContentPart]
  }
}

/**
 * What the tools that Anthropic runs did before the answer that follows (@anthropic-ai/sdk 1.11, `ContentBlockParam`): a conversation goes on
 * without it.
 */
const HOSTED: ReadonlySet<string> = new Set([
  'bash_code_execution_tool_result',
  'code_execution_tool_result',
  'mcp_tool_result',
  'mcp_tool_use',
  'server_tool_use',
  'text_editor_code_execution_tool_result',
  'tool_search_tool_result',
  'web_fetch_tool_result',
  'web_search_tool_result',
])

const isHosted = ({ type }: Block): boolean => HOSTED.has(type)

function toImage(block: Block, path: string, notes: Notes): ContentPart {
  const url = toUrl(block, path, notes)
  return url === undefined ? (block as unknown as ContentPart) : { type: 'image_url', image_url: { url } }
}

function toDocument(block: Block, path: string, notes: Notes): ContentPart[] {
  const { source, title, context, citations } = block
  if (isEnabled(citations)) notes.drop('citations')
  const before = typeof context === 'string' && context !== '' ? [text(context)] : []
  const own: Readonly<Record<string, unknown>> = isRecord(source) ? source : {}
  if (own.type === 'text') return [...before, text(title, own.data)]
  if (own.type === 'content') {
    const heading = typeof title === 'string' && title !== '' ? [text(title)] : []
    return [...before, ...heading, ...toParts(own.content, `${path}.source.content`, notes)]
  }
  const url = toUrl(block, path, notes)
  if (url === undefined) return [...before, block as unknown as ContentPart]
  return [...before, { type: 'file', file: { filename: textOf(title) || 'document.pdf', file_data: url } }]
}

/** The address of a source, or its data as a data URL; undefined for a file that is stored at Anthropic. */
function toUrl({ source }: Block, path: string, notes: Notes): string | undefined {
  const own: Readonly<Record<string, unknown>> = isRecord(source) ? source : {}
  if (own.type === 'url') return textOf(own.url)
  if (own.type === 'base64') return `data:${textOf(own.media_type)};base64,${textOf(own.data)}`
  notes.refuse(`${path}.source`, "Only an upstream with Anthropic's Messages API has its files: send the data itself.")
  return undefined
}

const isEnabled = (citations: unknown): boolean => isRecord(citations) && citations.enabled === true
