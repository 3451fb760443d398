import { type Member, ScanError, type ScanErrorCode, scanObject } from '../protocol/json.ts'

/** What a scan comes to; errors do not keep their class from thread to thread. */
export type Scanned = { readonly members: readonly Member[] } | { readonly fault: ScanErrorCode }

/** Runs in a worker thread: the top-level members of a large body. */
export function scanBody(bytes: Uint8Array): Scanned {
  try {
    return { members: scanObject(Buffer.from(bytes.buffer)) }
  } catch (error) {
    if (error instanceof ScanError) return { fault: error.code }
    throw error
  }
}
