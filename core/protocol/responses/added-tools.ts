import { isRecord } from '../../sdk/json.ts'
import type { Members } from './wire.ts'

/** The objects of a list. */
export const membersOf = (list: unknown): readonly Members[] => (Array.isArray(list) ? list.filter(isRecord) : [])

/** A tool, and its place in the client's body. */
export interface PlacedTool {
  readonly tool: Members
  readonly path: string
}

/** Items that add tools to those of the request. */
const ADDING: ReadonlySet<unknown> = new Set(['additional_tools', 'tool_search_output'])

/** The tools that the items of a conversation add. */
export function addedTools(input: unknown): readonly PlacedTool[] {
  const items: readonly unknown[] = Array.isArray(input) ? input : []
  return items.flatMap((item, index) => {
    if (!isRecord(item) || !ADDING.has(item.type)) return []
    return membersOf(item.tools).map((tool, at) => ({ tool, path: `input[${index}].tools[${at}]` }))
  })
}
