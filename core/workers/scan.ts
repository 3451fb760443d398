import { ScanError, type ScanErrorCode, type ScannedObject, scanObject } from '../protocol/json.ts'

/** The result of a scan. An error loses its class between threads, so its code is returned. */
export type ScanResult = ScannedObject | { readonly error: ScanErrorCode }

/** Scans the top-level members of a large body. It runs in a worker thread, which loads no tokenizer for it. */
export function scanBody(bytes: Uint8Array): ScanResult {
  try {
    return scanObject(Buffer.from(bytes.buffer))
  } catch (error) {
    if (error instanceof ScanError) return { error: error.code }
    throw error
  }
}

/** Does nothing: a task of it starts a thread. */
export function startThread(): void {}
