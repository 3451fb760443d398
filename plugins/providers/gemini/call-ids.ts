import { randomUUID } from 'node:crypto'

/** OpenAI refuses an id of more than 40 characters, which a client may bring there in its next turn. */
const FIT = /^[\w-]{1,24}$/

/** What ids of function calls are made of where Google gives none: the same for the same reply, and alike in no two. */
export function idBase(responseId: unknown): string {
  return typeof responseId === 'string' && FIT.test(responseId) ? responseId : randomUUID().slice(0, 23)
}

/** The id of a reply's `call`th function call of a choice, both from 0. */
export function callId(base: string, choice: number, call: number): string {
  return `call_${base}_${choice}_${call}`
}
