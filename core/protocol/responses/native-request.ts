import { isRecord } from '../../sdk/json.ts'
import type { CleanedBody } from '../client-protocol.ts'
import { readState, STATE_PREFIX } from '../state.ts'

/** Text of a body that may not reach an upstream of the protocol as it is: the state of another upstream. */
export const SUSPICIOUS = [`"${STATE_PREFIX}`] as const

/** Removes the reasoning items of another upstream: OpenAI answers 400 to an encrypted content that it did not write. */
export function cleaned(body: Readonly<Record<string, unknown>>): CleanedBody {
  const items: readonly unknown[] = Array.isArray(body.input) ? body.input : []
  const input = items.filter((item) => !isForeign(item))
  return { changes: input.length === items.length ? {} : { input }, dropped: [] }
}

const isForeign = (item: unknown): boolean =>
  isRecord(item) && item.type === 'reasoning' && readState(item.encrypted_content) !== undefined
