import { createHash } from 'node:crypto'
import type { Call } from 'unified-model-gateway/plugin'

/** What a reply calls itself: the same for the same request. */
export interface Identity {
  readonly id: string
  /** Unix seconds. */
  readonly created: number
  toolCallId(index: number): string
}

/** 2023-11-14T22:13:20Z, and a year from there on. */
const EPOCH = 1_700_000_000
const YEAR = 31_536_000

/** Derives the reply's identity from the model and the body's bytes. */
export function identify(call: Call): Identity {
  const digest = createHash('sha256').update(JSON.stringify(call.model.id)).update(call.splice({})).digest()
  const hex = digest.toString('hex')
  return {
    id: `chatcmpl-${hex.slice(0, 24)}`,
    created: EPOCH + (digest.readUInt32BE(12) % YEAR),
    toolCallId: (index) => `call_${hex.slice(32, 54)}${index.toString().padStart(2, '0')}`,
  }
}
