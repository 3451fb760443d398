import { defineCallFunction } from '../../sdk/call-function.ts'
import { isRecord } from '../../sdk/json.ts'
import { Notes } from '../notes.ts'

/** The header by which clients choose a version of the Messages API. */
export const VERSION_HEADER = 'anthropic-version'

/**
 * The newest version that is known, which @anthropic-ai/sdk sends since 1.0.0 and the Python SDK since 2.0.0 (platform.claude.com, "Versions" and
 * "Migrating to 2026-10-21", read in November 2026). Versions are dates: later ones are greater as text.
 */
const NEWEST = '2026-10-21'

type Members = Readonly<Record<string, unknown>>

/**
 * Holds a request that is translated to the version that its client asked for: an upstream of another protocol would take what Anthropic refuses.
 * Clients without the header, and those of earlier versions, have the rules of 2023-06-01.
 */
export function expectVersion(body: Members, version: string | undefined, notes: Notes): void {
  if (version === undefined || version < NEWEST) return
  if (version > NEWEST)
    notes.refuse(
      VERSION_HEADER,
      `This upstream is served in version ${NEWEST} and earlier ones: send one of them, or name a model of Anthropic.`,
    )
  expectMembers(body, notes)
}

/** What the client's version refuses of a prompt whose tokens the gateway counts itself; undefined if nothing. Anthropic has the same checks there. */
export const refusedOfCount = defineCallFunction(import.meta.url, 'refusedOfCount', (call, version: string): Notes['foreign'] => {
  const notes = new Notes()
  if (version >= NEWEST) expectMembers(call.body, notes)
  return notes.foreign
})

function expectMembers(body: Members, notes: Notes): void {
  for (const name of SAMPLING)
    if (body[name] != null) notes.refuse(name, `Version ${NEWEST} has no sampling parameters: leave it out.`)
  for (const [index, message] of listOf(body.messages).entries()) expectContent(message, `messages[${index}].content`, notes)
}

/** Refused also at their default values. */
const SAMPLING = ['temperature', 'top_p', 'top_k'] as const

function expectContent({ role, content }: Members, path: string, notes: Notes): void {
  for (const [index, block] of listOf(content).entries()) {
    const place = `${path}[${index}]`
    if (role === 'assistant' && block.type === 'document')
      notes.refuse(place, `Version ${NEWEST} takes no documents in messages of the assistant: send them in the user's.`)
    if (role !== 'user') continue
    expectUncited(block, place, notes)
    if (block.type === 'search_result')
      for (const [at, inner] of listOf(block.content).entries()) expectUncited(inner, `${place}.content[${at}]`, notes)
  }
}

function expectUncited({ type, citations }: Members, place: string, notes: Notes): void {
  if (type === 'text' && Array.isArray(citations) && citations.length > 0)
    notes.refuse(`${place}.citations`, `Version ${NEWEST} takes no citations in texts of the user: leave them out.`)
}

const listOf = (value: unknown): readonly Members[] => (Array.isArray(value) ? value.filter(isRecord) : [])
