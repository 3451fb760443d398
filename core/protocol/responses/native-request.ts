import { GatewayError } from '../../errors.ts'
import { isRecord } from '../../sdk/json.ts'
import type { CleanedBody, KeptReferences } from '../client-protocol.ts'
import { isKeptBy, unsealed } from '../kept-ids.ts'
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

/** The member with the id of a response. */
const PREVIOUS = 'previous_response_id'

/** A response is found by its id alone, and only for the account that it was made for. */
export const REFERENCES: KeptReferences = {
  unnamed: ['conversation', 'prompt'],
  toUpstream(call) {
    const id = unsealed(call.member(PREVIOUS))
    return id === undefined ? {} : { [PREVIOUS]: id }
  },
  idIn: (call) => call.member(PREVIOUS),
  check(call, keeper) {
    const id = call.member(PREVIOUS)
    if (id == null || isKeptBy(id, keeper)) return
    throw new GatewayError('previous_response_not_found', { param: PREVIOUS, values: { id: String(id).slice(0, 200) } })
  },
}
