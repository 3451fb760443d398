import { Piscina } from 'piscina'
import { type Member, ScanError } from '../protocol/json.ts'
import type { Scanned } from './scan.ts'

/** Threads for work that would hold up the event loop. */
export interface Workers {
  /** Tokens of the prompt of a chat request, given as its JSON. The bytes are copied first. */
  countTokens(text: Uint8Array): Promise<number>
  /** The top-level members of a JSON object. The bytes are copied first. Throws `ScanError`. */
  scan(bytes: Uint8Array): Promise<readonly Member[]>
  /** Calls an exported function of a module; `input` and the result are cloned. */
  run(module: URL, exportName: string, input: unknown): Promise<unknown>
  /** Tasks that wait for a thread. */
  readonly queueSize: number
  /** Ends the threads; what still runs or waits rejects. */
  close(): Promise<void>
}

/** A thread that has counted tokens holds some 80 MB of tables: an idle gateway gives them back. */
const IDLE_MS = 60_000
/** For waiting and running together: nothing that a call waits for may last longer. */
const TASK_MS = 30_000
/** Each task that waits may hold a copy of a body. */
const MAX_QUEUE = 256

const TOKENS = new URL('./tokens.ts', import.meta.url).href
const SCAN = new URL('./scan.ts', import.meta.url).href
/** So that a plugin's own `.ts`, wherever it lies, can import the seam inside a thread too. */
const RESOLVE_SEAM = new URL('../plugins/resolve-seam.ts', import.meta.url).href

/** Starts no thread before there is work. */
export function createWorkers({ threads }: { threads: number }): Workers {
  const pool = new Piscina({
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: IDLE_MS,
    execArgv: ['--import', RESOLVE_SEAM],
    recordTiming: false,
  })
  // A thread that could not start: the tasks that wait for it end by their deadline.
  pool.on('error', () => undefined)

  async function task(input: unknown, what: { filename: string; name: string; transferList?: ArrayBuffer[] }): Promise<unknown> {
    if (pool.queueSize >= MAX_QUEUE)
      throw new Error(`all ${threads} worker threads are busy and ${MAX_QUEUE} tasks wait for them`)
    try {
      return await pool.run(input, { ...what, signal: AbortSignal.timeout(TASK_MS) })
    } finally {
      wake()
    }
  }

  /** The caller's own bytes stay as they are; the copy goes over to the thread. */
  function onCopy(bytes: Uint8Array, what: { filename: string; name: string }): Promise<unknown> {
    const copy = new Uint8Array(bytes)
    return task(copy, { ...what, transferList: [copy.buffer] })
  }

  /** A thread that died is not replaced while others wait; only a new task brings one. */
  function wake(): void {
    if (pool.queueSize === 0 || pool.threads.length > 0) return
    pool.run(undefined, { filename: TOKENS, name: 'wake', signal: AbortSignal.timeout(TASK_MS) }).catch(() => undefined)
  }

  return {
    countTokens: (text) => onCopy(text, { filename: TOKENS, name: 'countPromptTokens' }) as Promise<number>,
    async scan(bytes) {
      const scanned = (await onCopy(bytes, { filename: SCAN, name: 'scanBody' })) as Scanned
      if ('fault' in scanned) throw new ScanError(scanned.fault)
      return scanned.members
    },
    run: (module, exportName, input) => task(input, { filename: module.href, name: exportName }),
    get queueSize() {
      return pool.queueSize
    },
    close: () => pool.destroy(),
  }
}
