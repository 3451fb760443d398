import type { Call } from '../sdk/api.ts'
import { defineCallFunction } from '../sdk/call-function.ts'
import { isRecord } from '../sdk/json.ts'

/**
 * Types of tools that the client runs, or that cost nothing but tokens; without the date at their end. Every other type is one that the vendor
 * runs and bills: an unknown one too.
 */
const CLIENT_RUN: ReadonlySet<string> = new Set([
  'function',
  'custom',
  'namespace',
  'tool_search',
  'tool_search_tool_bm25',
  'tool_search_tool_regex',
  'local_shell',
  'apply_patch',
  'bash',
  'text_editor',
  'memory',
  'computer',
  'computer_use_preview',
  'computer_toolset',
  'browser_toolset',
])

/** A shell runs in containers of the vendor, unless its environment is `local` (developers.openai.com/api/docs/guides/tools-shell, read 2026-11-26). */
const isClientRun = (type: string, { environment }: Readonly<Record<string, unknown>>): boolean =>
  CLIENT_RUN.has(type) || (type === 'shell' && isRecord(environment) && environment.type === 'local')

/** Members of requests that ask for a tool that the vendor runs, by the name of that tool. */
const ASKING: Readonly<Record<string, string>> = {
  web_search_options: 'web_search',
  search_parameters: 'web_search',
  enable_search: 'web_search',
  mcp_servers: 'mcp',
  plugins: 'plugins',
}

/** `web_search_20250305` and `web_search_preview_2025_03_11` are versions of one tool. */
const DATE = /_\d{4}_?\d{2}_?\d{2}$/

/** The tools of a call that its vendor runs, by their types without dates; for large calls in a thread. */
export const hostedTools = defineCallFunction(import.meta.url, 'hostedTools', (call): readonly string[] => hostedToolsIn(call))

function hostedToolsIn(call: Pick<Call, 'keys' | 'member'>): readonly string[] {
  const asked = new Set<string>()
  for (const key of call.keys) {
    const name = Object.hasOwn(ASKING, key) ? ASKING[key] : undefined
    if (name !== undefined && call.member(key)) asked.add(name)
  }
  if (call.keys.includes('tools')) addTypes(call.member('tools'), asked)
  // Items of a conversation add tools too, whatever their type: `additional_tools`, `tool_search_output`.
  if (call.keys.includes('input')) for (const { tools } of recordsIn(call.member('input'))) addTypes(tools, asked)
  return asked.size === 0 ? NONE : [...asked]
}

const NONE: readonly string[] = []

const recordsIn = (list: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(list) ? list.filter(isRecord) : []

/** A tool may have tools of its own: a `namespace`. One without a type is the client's. */
function addTypes(tools: unknown, into: Set<string>): void {
  for (const tool of recordsIn(tools)) {
    const type = String(tool.type ?? 'function').replace(DATE, '')
    if (!isClientRun(type, tool)) into.add(type)
    addTypes(tool.tools, into)
  }
}
