import { Piscina } from 'piscina'
import { Semaphore } from '../async/semaphore.ts'
import { CodedError, GatewayError } from '../errors.ts'
import { ScanError } from '../protocol/json.ts'
import type { ScannedBody } from '../protocol/json-body.ts'
import { asSent } from '../protocol/translation.ts'
import type { Call, CallFunction, EndpointName } from '../sdk/api.ts'
import type { Computation, Computed } from './compute.ts'
import type { ParsedReply, Scan, ScanResult } from './scan.ts'

/** Threads for work that would block the event loop. Large bodies have threads of their own: other work does not wait for them. */
export interface Workers {
  /** Counts the tokens of a call's prompt. */
  countTokens(call: Call): Promise<number>
  /** Scans a large JSON object. Takes the bytes over, and returns them without a copy. `endpoint`: of a request; undefined for a reply. Throws `ScanError`. */
  scan(bytes: Buffer, endpoint?: EndpointName): Promise<ScannedBody>
  /** Parses JSON of an upstream. Takes the bytes over. Throws `ScanError` for what is no JSON, or beyond its bounds. */
  parse(bytes: Buffer): Promise<unknown>
  /** Calls a function of a large call, and throws what it throws. */
  compute<Input, Result>(call: Call, fn: CallFunction<Input, Result>, input: Input): Promise<Result>
  /** Calls an exported function of a module; `input` and the result are cloned. */
  run(module: URL, exportName: string, input: unknown): Promise<unknown>
  /** Tasks that wait for a thread. */
  readonly queueSize: number
  /** Ends the threads; running and waiting tasks reject. */
  close(): Promise<void>
}

/** The options of worker threads. */
export interface WorkersOptions {
  /** Half as many, and at least one, work on large bodies. */
  readonly threads: number
  /** The error for a large body if too many wait. */
  readonly overloaded: () => GatewayError
}

/** A thread that has counted tokens holds some 80 MB of tables: an idle gateway frees them. */
const IDLE_MS = 60_000
/** Deadline of a task, its time in Piscina's queue included: a call waits for it. */
const TASK_TIMEOUT_MS = 30_000
/** A waiting task may hold a copy of a body. */
const MAX_QUEUE = 256
/** Large bodies that wait for a thread, each for a few hundred milliseconds. */
const MAX_LARGE_QUEUE = 16

const COMPUTE = new URL('./compute.ts', import.meta.url).href
const TOKENS = new URL('./tokens.ts', import.meta.url).href
const SCAN = new URL('./scan.ts', import.meta.url).href
/** Lets a local plugin's `.ts`, in any folder, import the plugin API inside a thread too. */
const RESOLVE_PLUGIN_API = new URL('../plugins/resolve-plugin-api.ts', import.meta.url).href
/** The same for threads for large bodies. */
const LARGE_BODIES = new URL('./large-bodies.ts', import.meta.url).href

const COUNT_TOKENS = { filename: TOKENS, name: 'countPromptTokens' }
const SCAN_BODY = { filename: SCAN, name: 'scanBody' }
const PARSE_REPLY = { filename: SCAN, name: 'parseReply' }
const COMPUTE_RESULT = { filename: COMPUTE, name: 'compute' }

/** A module and its function, in Piscina's terms. */
interface TaskFunction {
  readonly filename: string
  readonly name: string
}

/** A task's argument, and its buffers that move to the thread. */
interface TaskInput {
  readonly input: unknown
  readonly moved: readonly ArrayBuffer[]
}

/** Creates the worker threads; the first task starts the first one. */
export function createWorkers({ threads, overloaded }: WorkersOptions): Workers {
  const pool = createPool(threads, RESOLVE_PLUGIN_API)
  const largeThreads = Math.max(1, threads >> 1)
  const largePool = createPool(largeThreads, LARGE_BODIES)
  const places = new Semaphore(largeThreads)

  async function run({ input, moved }: TaskInput, fn: TaskFunction): Promise<unknown> {
    if (pool.queueSize >= MAX_QUEUE)
      throw new CodedError('THREADS_BUSY', `all ${threads} worker threads are busy and ${MAX_QUEUE} tasks wait for them`)
    try {
      return await start(pool, { input, moved }, fn)
    } finally {
      restart()
    }
  }

  /** `prepare` is called when there is a thread: bodies that wait are not copied. */
  async function runLarge(prepare: () => TaskInput, fn: TaskFunction): Promise<unknown> {
    if (places.waiting >= MAX_LARGE_QUEUE) throw overloaded()
    return places.run(() => start(largePool, prepare(), fn))
  }

  /** Piscina replaces a dead thread only when a new task comes: while tasks wait, an empty one starts a thread. */
  function restart(): void {
    if (pool.queueSize === 0 || pool.threads.length > 0) return
    start(pool, { input: undefined, moved: [] }, { filename: SCAN, name: 'startThread' }).catch(() => undefined)
  }

  return {
    countTokens(call) {
      // The client's own bytes, which need no translation to be counted.
      const body = () => bytesOnly(asSent(call).splice({}))
      return (call.large ? runLarge(body, COUNT_TOKENS) : run(body(), COUNT_TOKENS)) as Promise<number>
    },
    async scan(bytes, endpoint) {
      const result = (await runLarge(() => scanOf(bytes, endpoint), SCAN_BODY)) as ScanResult
      if ('error' in result) throw new ScanError(result.error)
      return { bytes: Buffer.from(result.bytes.buffer), scanned: result.scanned }
    },
    async parse(bytes) {
      const result = (await runLarge(() => bytesOnly(bytes), PARSE_REPLY)) as ParsedReply
      if ('error' in result) throw new ScanError(result.error)
      return result.value
    },
    async compute<Input, Result>(call: Call, fn: CallFunction<Input, Result>, input: Input) {
      const computed = (await runLarge(() => computationOf(call, fn, input), COMPUTE_RESULT)) as Computed<Result>
      if (!('refused' in computed)) return computed.result
      const { row, message, ...details } = computed.refused
      const refused = new GatewayError(row, details)
      refused.message = message
      throw refused
    },
    run: (module, name, input) => run({ input, moved: [] }, { filename: module.href, name }),
    get queueSize() {
      return pool.queueSize + places.waiting
    },
    async close() {
      await Promise.all([pool.destroy(), largePool.destroy()])
    },
  }
}

/** `imported`: a module that each thread imports first. */
function createPool(maxThreads: number, imported: string): Piscina {
  const pool = new Piscina({
    minThreads: 0,
    maxThreads,
    idleTimeout: IDLE_MS,
    execArgv: ['--import', imported],
    recordTiming: false,
  })
  // A thread that cannot start: the tasks that wait for it end by their deadline.
  pool.on('error', () => undefined)
  return pool
}

const start = (pool: Piscina, { input, moved }: TaskInput, fn: TaskFunction): Promise<unknown> =>
  pool.run(input, { ...fn, transferList: [...moved], signal: AbortSignal.timeout(TASK_TIMEOUT_MS) })

function scanOf(bytes: Uint8Array, endpoint: EndpointName | undefined): TaskInput {
  const own = ownBytes(bytes)
  return { input: { bytes: own, endpoint } satisfies Scan, moved: [own.buffer] }
}

function bytesOnly(bytes: Uint8Array): TaskInput {
  const own = ownBytes(bytes)
  return { input: own, moved: [own.buffer] }
}

function computationOf<Input>(call: Call, { module, name }: CallFunction<Input, unknown>, input: Input): TaskInput {
  const { id, endpoint, model } = call
  const bytes = ownBytes(call.splice({}))
  const computation: Computation = { bytes, id, endpoint, model, module, name, input }
  return { input: computation, moved: [bytes.buffer] }
}

/** Bytes whose buffer holds nothing else: these, if so, or a copy. */
function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
    ? new Uint8Array(buffer)
    : (new Uint8Array(bytes) as Uint8Array<ArrayBuffer>)
}
