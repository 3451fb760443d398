import { soughtAt } from '../protocol/guarded-members.ts'
import { ScanError, type ScanErrorCode, type ScannedObject, scanObject } from '../protocol/json.ts'
import { parseWithin } from '../protocol/upstream-json.ts'
import type { EndpointName } from '../sdk/api.ts'
import { moved } from './moved.ts'

/** A large body to scan. */
export interface ScanInput {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly endpoint: EndpointName
}

/** The result of a scan. An error loses its class between threads, so its code is returned. */
export type ScanResult =
  | { readonly bytes: Uint8Array<ArrayBuffer>; readonly scanned: ScannedObject }
  | { readonly error: ScanErrorCode }

/** A body, and the endpoint of a request; undefined for a reply. */
export interface Scan {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly endpoint: EndpointName | undefined
}

/** Scans a large body. It runs in a worker thread, which loads no tokenizer for it. Resolves to a `ScanResult`. */
export function scanBody({ bytes, endpoint }: Scan): unknown {
  try {
    const scanned = scanObject(Buffer.from(bytes.buffer), endpoint && soughtAt(endpoint))
    return moved({ bytes, scanned } satisfies ScanResult, [bytes.buffer])
  } catch (error) {
    // An idle thread collects no garbage: this frees the bytes now.
    bytes.buffer.transfer(0)
    if (error instanceof ScanError) return { error: error.code } satisfies ScanResult
    throw error
  }
}

/** A parsed reply, which is cloned to the event loop: that takes a fraction of the time of parsing it. */
export type ParsedReply = { readonly value: unknown } | { readonly error: ScanErrorCode }

/** Parses a large reply of an upstream, whose bounds are checked first. */
export function parseReply(bytes: Uint8Array<ArrayBuffer>): ParsedReply {
  try {
    return { value: parseWithin(Buffer.from(bytes.buffer), Number.POSITIVE_INFINITY) }
  } catch (error) {
    if (error instanceof ScanError) return { error: error.code }
    if (error instanceof SyntaxError) return { error: 'syntax' }
    throw error
  } finally {
    // An idle thread collects no garbage: this frees the bytes now.
    bytes.buffer.transfer(0)
  }
}

/** Does nothing: a task of it starts a thread. */
export function startThread(): void {}
