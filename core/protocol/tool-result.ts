import type { ContentPart } from '../sdk/api.ts'

/** The result of a tool: its texts, and what has to stand in the user's message after it. */
export interface ToolResult {
  readonly texts: ContentPart[]
  readonly files: ContentPart[]
}

/** Most upstreams take only text as a tool's result: its images and files follow in the user's message. `id`: of the tool call. */
export function toToolResult(id: string, parts: readonly ContentPart[]): ToolResult {
  const texts = parts.filter(({ type }) => type === 'text')
  const files = parts.filter(({ type }) => type !== 'text')
  const note: ContentPart[] = files.length > 0 ? [{ type: 'text', text: `The result of the tool call ${id} continues:` }] : []
  return { texts, files: [...note, ...files] }
}
