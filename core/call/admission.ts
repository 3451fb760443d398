import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { EventLoopLag } from '../async/event-loop.ts'
import { GatewayError } from '../errors.ts'
import type { HostCounter } from '../sdk/api.ts'

/** What this process may use. Beyond it, calls are refused. */
export interface AdmissionLimits {
  /** Bytes of all request bodies in flight and of their parsed forms. */
  readonly bodies: number
  /** Bytes of all forms in flight, whose files are on the disk. */
  readonly uploads: number
  /** Sockets of clients. */
  readonly sockets: number
  /** Bytes of the conversations that sockets remember. */
  readonly conversations: number
  /** Background calls under way, and streams of their events that are read again. */
  readonly background: number
  /** Bytes of V8's heap. */
  readonly heap: number
  /** Mean delay of the event loop over a sample, in milliseconds. */
  readonly lag: number
}

/** The exhausted resource: a label of `umg_shed_total`. */
const REASONS = ['bodies', 'uploads', 'background', 'heap', 'event_loop', 'threads', 'sockets'] as const
type ShedReason = (typeof REASONS)[number]

/** By V8's heap, and the memory of the container or machine, which `processes` share. */
function defaultLimits(processes: number): AdmissionLimits {
  const { heap_size_limit: heap } = getHeapStatistics()
  const memory = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem()) / processes
  // A body takes twice its length: the client's bytes, and those for the upstream.
  const bodies = Math.min(heap / 4, memory / 8)
  return {
    bodies,
    uploads: UPLOADS / processes,
    sockets: SOCKETS,
    conversations: bodies,
    background: BACKGROUND,
    heap: heap * 0.85,
    lag: 500,
  }
}

/** The options of admission. */
export interface AdmissionOptions {
  /** Counts refused calls, by a `ShedReason`. */
  readonly shed: HostCounter
  /** Processes that share the memory of the container or machine. */
  readonly processes: number
  /** Replace those that are derived from the memory. */
  readonly limits: Partial<AdmissionLimits> | undefined
}

/** Of a process. An account has half of them at most. */
const SOCKETS = 8192
/** In bytes. */
const LARGEST_BODY = 32 << 20
/** In bytes: several of the largest recordings and pictures that vendors take. */
const UPLOADS = 2 ** 30
/** Background calls and readers of one process: half as many of one account. */
const BACKGROUND = 1000
/** The share of the allowance that a body may have at most: there is room to parse it if no other key has one. */
const LARGEST_SHARE = 1 / 4

/** Between two samples of the heap and the event loop, in milliseconds. */
const SAMPLE_MS = 500
/** Two samples in a row: one long task is no overload. */
const LATE_SAMPLES = 2
/** Samples without a call after which the process is left to rest. */
const QUIET_SAMPLES = 10

/**
 * Refuses calls that this process has no room for, before their body is read: docs/decisions/admission.md. It samples the process only while
 * calls come.
 */
export class Admission {
  readonly #limits: AdmissionLimits
  readonly #counter: HostCounter
  readonly #bodies: Allowance
  readonly #uploads: Allowance
  readonly #sockets: Allowance
  readonly #conversations: Allowance
  readonly #background: Allowance
  /** Present while calls come. */
  #sampling: { readonly timer: NodeJS.Timeout; readonly lag: EventLoopLag } | undefined
  /** Samples since the last call. */
  #quietSamples = 0
  #lateSamples = 0
  #overloaded: ShedReason | undefined

  constructor({ shed, processes, limits }: AdmissionOptions) {
    this.#limits = { ...defaultLimits(processes), ...limits }
    this.#bodies = new Allowance(this.#limits.bodies, () => this.shed('bodies'))
    this.#uploads = new Allowance(this.#limits.uploads, () => this.shed('uploads'))
    this.#sockets = new Allowance(this.#limits.sockets, () => this.shed('sockets'))
    // What finds no room is not remembered, and nothing is refused for it.
    this.#conversations = new Allowance(this.#limits.conversations, () => new GatewayError('gateway_overloaded'))
    this.#background = new Allowance(this.#limits.background, (isFull) =>
      isFull ? this.shed('background') : new GatewayError('background_limit_reached'),
    )
    this.#counter = shed
    for (const reason of REASONS) this.#counter.add(0, reason)
  }

  /** The largest body of a call, in bytes. */
  get largestBody(): number {
    return Math.min(LARGEST_BODY, Math.floor(this.#limits.bodies * LARGEST_SHARE))
  }

  /** The largest form of a call, in bytes. */
  get largestUpload(): number {
    return Math.floor(this.#limits.uploads * LARGEST_SHARE)
  }

  /** Throws 503 while the process is overloaded. */
  check(): void {
    this.#quietSamples = 0
    if (this.#sampling === undefined) this.#begin()
    if (this.#overloaded !== undefined) throw this.shed(this.#overloaded)
  }

  /** The memory of a call of this key. */
  memoryFor(key: string): CallMemory {
    return new CallMemory(key, this.#bodies)
  }

  /** The room on the disk of a call of this key. */
  diskFor(key: string): CallMemory {
    return new CallMemory(key, this.#uploads)
  }

  /** The places of the sockets of this account: each takes one. */
  socketFor(account: string): CallMemory {
    return new CallMemory(account, this.#sockets)
  }

  /** The memory of a conversation of this account, on a socket. */
  conversationFor(account: string): CallMemory {
    return new CallMemory(account, this.#conversations)
  }

  /** The place of a background call of this account, or of a reader of its events. Throws 503, or 429 if the account has its share. */
  placeFor(account: string): CallMemory {
    const place = new CallMemory(account, this.#background)
    place.take(1)
    return place
  }

  /** Counts a refused call and returns its error. */
  shed(reason: ShedReason): GatewayError {
    this.#counter.add(1, reason)
    return new GatewayError(reason === 'threads' ? 'workers_busy' : 'gateway_overloaded')
  }

  close(): void {
    clearInterval(this.#sampling?.timer)
    this.#sampling?.lag.stop()
    this.#sampling = undefined
  }

  #begin(): void {
    const lag = new EventLoopLag()
    this.#sampling = { lag, timer: setInterval(() => this.#sample(lag), SAMPLE_MS).unref() }
    this.#sample(lag)
  }

  #sample(lag: EventLoopLag): void {
    if (++this.#quietSamples > QUIET_SAMPLES) this.close()
    this.#lateSamples = lag.mean() > this.#limits.lag ? this.#lateSamples + 1 : 0
    if (getHeapStatistics().used_heap_size > this.#limits.heap) this.#overloaded = 'heap'
    else this.#overloaded = this.#lateSamples >= LATE_SAMPLES ? 'event_loop' : undefined
  }
}

/**
 * An amount that keys share: a key may hold at most as much as is left free (the dynamic threshold of shared packet buffers, Choudhury
 * and Hahne 1998). So one key has half of it at most, large amounts are refused before small ones, and something is always left for a
 * key that holds nothing.
 */
class Allowance {
  readonly #refusal: (isFull: boolean) => GatewayError
  readonly #held = new Map<string, number>()
  #free: number

  /** `refusal`: gets whether there is no room although the key holds nothing. */
  constructor(amount: number, refusal: (isFull: boolean) => GatewayError) {
    this.#free = amount
    this.#refusal = refusal
  }

  /** Throws the refusal if there is no room. */
  take(key: string, amount: number): void {
    const held = (this.#held.get(key) ?? 0) + amount
    const free = this.#free - amount
    if (held > free) throw this.#refusal(held === amount)
    this.#held.set(key, held)
    this.#free = free
  }

  giveBack(key: string, amount: number): void {
    const held = this.#held.get(key)! - amount
    if (held > 0) this.#held.set(key, held)
    else this.#held.delete(key)
    this.#free += amount
  }
}

/** What one call has of an amount. */
export class CallMemory {
  readonly #key: string
  readonly #allowance: Allowance
  #bytes = 0
  #isReleased = false

  constructor(key: string, allowance: Allowance) {
    this.#key = key
    this.#allowance = allowance
  }

  /** Takes more bytes. Throws 503 if there is no room. What a call needs after its end is free at once, and takes nothing. */
  take(bytes: number): void {
    if (this.#isReleased) return
    this.#allowance.take(this.#key, bytes)
    this.#bytes += bytes
  }

  /** Gives everything back. */
  release(): void {
    if (this.#bytes > 0) this.#allowance.giveBack(this.#key, this.#bytes)
    this.#bytes = 0
    this.#isReleased = true
  }
}
