import { type Member, ScanError, type ScanErrorCode, scanObject } from '../protocol/json.ts'

/** The result of a scan. An error loses its class between threads, so its code is returned. */
export type ScanResult = { readonly members: readonly Member[] } | { readonly error: ScanErrorCode }

/** Scans the top-level members of a large body. It runs in a worker thread, which loads no tokenizer for it. */
export function scanBody(bytes: Uint8Array): ScanResult {
  try {
    return { members: scanObject(Buffer.from(bytes.buffer)) }
  } catch (error) {
    if (error instanceof ScanError) return { error: error.code }
    throw error
  }
}

/** Does nothing: a task of it starts a thread. */
export function startThread(): void {}
