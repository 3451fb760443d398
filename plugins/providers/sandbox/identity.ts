import { createHash } from 'node:crypto'
import type { Call } from 'unified-model-gateway/plugin'

/** The ids and the time of a reply: the same for the same request. */
export interface Identity {
  /** After the prefix of its kind, such as `chatcmpl-`. */
  readonly id: string
  /** Unix seconds. */
  readonly created: number
  toolCallId(index: number): string
}

/** 2023-11-14T22:13:20Z, and the year after it. */
const EPOCH = 1_700_000_000
const YEAR = 31_536_000

/** Derives a reply's identity from the model and the body's bytes. */
export function identify(call: Call): Identity {
  const digest = createHash('sha256').update(JSON.stringify(call.model.id)).update(call.splice({})).digest()
  const hex = digest.toString('hex')
  return {
    id: hex.slice(0, 24),
    created: EPOCH + (digest.readUInt32BE(12) % YEAR),
    toolCallId: (index) => `call_${hex.slice(32, 54)}${index.toString().padStart(2, '0')}`,
  }
}
