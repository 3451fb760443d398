import { GatewayError } from '../errors.ts'
import type { GuardedMember } from './guarded-members.ts'
import type { Edit } from './json.ts'
import { isKeptBy, type Keeper, keptTokensOf, unsealed } from './kept-ids.ts'
import { ITEM_CONTENT } from './members.ts'

/** The ids in a call of what a single keeper has: docs/decisions/kept-responses.md. */
export function keptIds(members: readonly GuardedMember[]): readonly GuardedMember[] {
  return members.filter((member) => member.kind === 'response' || (member.kind === 'item' && isReference(member)))
}

/** Throws `GatewayError` (400) if a keeper does not have what a call refers to. */
export function checkKept(members: readonly GuardedMember[], keeper: Keeper): void {
  for (const { kind, param, value } of keptIds(members)) {
    if (isKeptBy(value, keeper)) continue
    const row = kind === 'response' ? 'previous_response_not_found' : 'item_not_found'
    throw new GatewayError(row, { param, values: { id: String(value).slice(0, 200) } })
  }
}

/** The body's values to replace for the upstream, with those that it knows. */
export function toUpstream(members: readonly GuardedMember[]): readonly Edit[] {
  return members.flatMap(({ kind, value, start, end }) => {
    if (kind === 'comparison') return [{ start, end, text: 'null' }]
    const own = kind === 'response' || kind === 'item' ? unsealed(value) : undefined
    return own === undefined ? [] : [{ start, end, text: JSON.stringify(own) }]
  })
}

/** The most tokens that what a call refers to adds to its prompt; undefined if an id does not say, as those of kept objects never do. */
export function keptTokensIn(members: readonly GuardedMember[]): number | undefined {
  if (members.some(({ kind }) => kind === 'kept')) return undefined
  let sum = 0
  for (const { value } of keptIds(members)) {
    const tokens = keptTokensOf(value)
    if (tokens === undefined) return undefined
    sum += tokens
  }
  return sum
}

/** Whether an item of a conversation is known by its id alone. */
export const isReferenceItem = (item: Readonly<Record<string, unknown>>): boolean =>
  item.id != null && lacksContent((name) => item[name])

const isReference = (id: GuardedMember): boolean => !id.param.endsWith('.id') || lacksContent((name) => id.beside(name))

/** Whether an item, by its members, is known by its id alone. One that has its content is not: the upstream reads that. */
function lacksContent(member: (name: string) => unknown): boolean {
  const type = member('type') ?? (member('role') == null ? undefined : 'message')
  const holders = typeof type === 'string' && Object.hasOwn(ITEM_CONTENT, type) ? ITEM_CONTENT[type]! : []
  return !holders.map(member).some((held) => held != null && !(Array.isArray(held) && held.length === 0))
}
