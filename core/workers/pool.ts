import { Piscina } from 'piscina'
import { type Member, ScanError } from '../protocol/json.ts'
import type { ScanResult } from './scan.ts'

/** Threads for work that would block the event loop. */
export interface Workers {
  /** Counts the tokens of the prompt of a chat request, given as JSON. Copies the bytes. */
  countTokens(json: Uint8Array): Promise<number>
  /** Finds the top-level members of a JSON object. Copies the bytes. Throws `ScanError`. */
  scan(json: Uint8Array): Promise<readonly Member[]>
  /** Calls an exported function of a module; `input` and the result are cloned. */
  run(module: URL, exportName: string, input: unknown): Promise<unknown>
  /** Tasks that wait for a thread. */
  readonly queueSize: number
  /** Ends the threads; running and waiting tasks reject. */
  close(): Promise<void>
}

/** A thread that has counted tokens holds some 80 MB of tables: an idle gateway frees them. */
const IDLE_MS = 60_000
/** Deadline of a task, its time in the queue included: a call waits for it. */
const TASK_TIMEOUT_MS = 30_000
/** A waiting task may hold a copy of a body. */
const MAX_QUEUE = 256

const TOKENS = new URL('./tokens.ts', import.meta.url).href
const SCAN = new URL('./scan.ts', import.meta.url).href
/** Lets a local plugin's `.ts`, in any folder, import the seam inside a thread too. */
const RESOLVE_SEAM = new URL('../plugins/resolve-seam.ts', import.meta.url).href

/** A task's module and function, in Piscina's terms. */
interface TaskFunction {
  readonly filename: string
  readonly name: string
}

/** Creates the worker threads; the first task starts the first one. */
export function createWorkers({ threads }: { readonly threads: number }): Workers {
  const pool = new Piscina({
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: IDLE_MS,
    execArgv: ['--import', RESOLVE_SEAM],
    recordTiming: false,
  })
  // A thread that cannot start: the tasks that wait for it end by their deadline.
  pool.on('error', () => undefined)

  async function run(input: unknown, fn: TaskFunction, transferList: ArrayBuffer[] = []): Promise<unknown> {
    if (pool.queueSize >= MAX_QUEUE)
      throw new Error(`all ${threads} worker threads are busy and ${MAX_QUEUE} tasks wait for them`)
    try {
      return await pool.run(input, { ...fn, transferList, signal: AbortSignal.timeout(TASK_TIMEOUT_MS) })
    } finally {
      restart()
    }
  }

  /** Transfers a copy to the thread: the caller keeps its bytes. */
  function runOnCopy(bytes: Uint8Array, fn: TaskFunction): Promise<unknown> {
    const copy = new Uint8Array(bytes)
    return run(copy, fn, [copy.buffer])
  }

  /** Piscina replaces a dead thread only when a new task comes: while tasks wait, an empty one starts a thread. */
  function restart(): void {
    if (pool.queueSize === 0 || pool.threads.length > 0) return
    const signal = AbortSignal.timeout(TASK_TIMEOUT_MS)
    pool.run(undefined, { filename: SCAN, name: 'startThread', signal }).catch(() => undefined)
  }

  return {
    countTokens: (json) => runOnCopy(json, { filename: TOKENS, name: 'countPromptTokens' }) as Promise<number>,
    async scan(json) {
      const result = (await runOnCopy(json, { filename: SCAN, name: 'scanBody' })) as ScanResult
      if ('error' in result) throw new ScanError(result.error)
      return result.members
    },
    run: (module, exportName, input) => run(input, { filename: module.href, name: exportName }),
    get queueSize() {
      return pool.queueSize
    },
    close: () => pool.destroy(),
  }
}
