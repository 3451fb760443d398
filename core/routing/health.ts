import type { ErrorName } from '../error-table.ts'
import type { BreakerState, CircuitBreaker } from './circuit-breaker.ts'
import { ANYONE, Cooldown } from './cooldown.ts'

/** `available`: tried in order. `coolingDown`: tried after all available targets. `open`: its breaker is open, so it is not tried. */
export type Availability = 'available' | 'coolingDown' | 'open'

/** The breakers that an attempt probes. */
export type Probes = readonly CircuitBreaker[]

/** An attempt that said something of its target: when it ended, in monotonic milliseconds, and how. */
export interface LastAttempt {
  readonly at: number
  readonly failed: boolean
}

/** Why an attempt failed by the fault of its target. */
export interface TargetFailure {
  readonly row: ErrorName
  /** Of the upstream's reply, if it refused. */
  readonly status?: number
}

/** The last failure of a target. `at`: monotonic milliseconds. */
export interface LastFailure extends TargetFailure {
  readonly at: number
}

/** Of an attempt that is no probe. */
export const NO_PROBES: Probes = []

/** What failed: the connection to the upstream, or its reply. */
export type FailedPart = 'connection' | 'reply'

/** How much the newest time counts in the average. */
const SMOOTHING = 0.2

/**
 * The health of one target: its circuit breakers, a cooldown after refusals, its load and its latency. A failure that the client
 * caused counts as a success, an aborted call as neither. Times are milliseconds of a monotonic clock.
 */
export class TargetHealth {
  /** Running attempts. */
  busy = 0
  /** Time to the first byte of a reply, smoothed; 0 until the first reply. */
  latency = 0
  /** Undefined until an attempt has said something of the target: what nobody has called is not healthy. */
  last: LastAttempt | undefined
  /** Undefined until one has failed. */
  lastFailure: LastFailure | undefined
  readonly #recent = new RecentAttempts()
  readonly #cooldown = new Cooldown()
  readonly #replies: CircuitBreaker | undefined
  readonly #connections: CircuitBreaker | undefined
  readonly #breakers: readonly CircuitBreaker[]

  /** `replies`: undefined for a target without a breaker. `connections`: one that it shares with others; absent: `replies` counts them too. */
  constructor(replies: CircuitBreaker | undefined, connections?: CircuitBreaker) {
    this.#replies = replies
    this.#connections = connections
    this.#breakers = [replies, connections].filter((breaker) => breaker !== undefined)
  }

  /** `account`: of the caller. */
  availability(now: number, account = ANYONE): Availability {
    for (const breaker of this.#breakers) if (breaker.stops(now, account)) return 'open'
    return now < this.#cooldown.until(account) ? 'coolingDown' : 'available'
  }

  /** As `availability`, for the account that fares worst: where a breaker is open, or a cooldown lasts, for one alone, for that one. */
  availabilityAtWorst(now: number): Availability {
    if (this.#breakers.some((breaker) => breaker.stops(now, breaker.openFor ?? ANYONE))) return 'open'
    return now < this.#cooldown.longest ? 'coolingDown' : 'available'
  }

  /** Of the breaker that is worst. */
  state(now: number): BreakerState {
    const states = this.#breakers.map((breaker) => breaker.state(now))
    return states.find((state) => state === 'open') ?? states.find((state) => state === 'half_open') ?? 'closed'
  }

  /** When the cooldown of an account is over. */
  cooledDownAt(account: string): number {
    return this.#cooldown.until(account)
  }

  /** The attempts of the last minutes that said something of the target. */
  recent(now: number): RecentCounts {
    return this.#recent.counts(now)
  }

  /** When the cooldown is over for the account that waits longest. */
  get longestCooldown(): number {
    return this.#cooldown.longest
  }

  /** When the breakers permit a probe. */
  get probeAt(): number {
    return Math.max(0, ...this.#breakers.map(({ probeAt }) => probeAt))
  }

  /** When the breakers permit a probe and the cooldown is over, for the account that fares worst. */
  get availableAt(): number {
    return Math.max(this.probeAt, this.#cooldown.longest)
  }

  /** Begins an attempt. Returns the breakers that it probes, to be passed to `end`, `succeeded` and `failed`. */
  begin(account = ANYONE): Probes {
    this.busy++
    let probes = NO_PROBES
    for (const breaker of this.#breakers) if (breaker.begin(account)) probes = [...probes, breaker]
    return probes
  }

  /** Ends an attempt. `succeeded` or `failed` follows, or neither if the target is not responsible for the result. */
  end(probes: Probes): void {
    this.busy--
    for (const breaker of probes) breaker.endProbe()
  }

  /** The target replied correctly. `firstByteMs`: the time to its first byte. */
  succeeded(now: number, firstByteMs: number, probes: Probes = NO_PROBES, account = ANYONE): void {
    this.last = { at: now, failed: false }
    this.#recent.count(now, false)
    this.latency = this.latency === 0 ? firstByteMs : this.latency + SMOOTHING * (firstByteMs - this.latency)
    for (const breaker of this.#breakers) breaker.succeeded(now, probes.includes(breaker), account)
  }

  /** An attempt failed by the fault of the target: evidence for the operator. `failed` and `coolDown` follow, if other calls are to be kept off. */
  failedBy(now: number, failure: TargetFailure): void {
    this.last = { at: now, failed: true }
    this.lastFailure = { at: now, ...failure }
    this.#recent.count(now, true)
  }

  /** The target failed. A reply that is wrong says that the connection is right; a connection that fails says nothing of replies. */
  failed(now: number, part: FailedPart, probes: Probes = NO_PROBES, account = ANYONE): void {
    const failing = part === 'connection' ? (this.#connections ?? this.#replies) : this.#replies
    failing?.failed(now, probes.includes(failing), account)
    if (part === 'reply') this.#connections?.succeeded(now, probes.includes(this.#connections), account)
  }

  /** The target refused an attempt: for `ms`, it is tried after all others, by calls of this account; of `ANYONE`: by all calls. */
  coolDown(now: number, ms: number, account = ANYONE): void {
    this.#cooldown.begin(now + ms, account)
  }
}

/** Attempts in a time that ends now. */
export interface RecentCounts {
  readonly attempts: number
  readonly failures: number
  /** How long ago the time began, in milliseconds. */
  readonly ms: number
}

/** Half of the longest time in which attempts are counted, in milliseconds. */
const HALF_MS = 5 * 60_000

/** Counts the attempts of the last five to ten minutes: in two halves, the older of which is forgotten as a whole. */
class RecentAttempts {
  #newer = { attempts: 0, failures: 0 }
  #older = { attempts: 0, failures: 0 }
  /** When the newer half began. */
  #began = 0

  count(now: number, failed: boolean): void {
    this.#turn(now)
    this.#newer.attempts++
    if (failed) this.#newer.failures++
  }

  counts(now: number): RecentCounts {
    this.#turn(now)
    const { attempts, failures } = this.#older
    const ms = now - this.#began + (attempts > 0 ? HALF_MS : 0)
    return { attempts: attempts + this.#newer.attempts, failures: failures + this.#newer.failures, ms }
  }

  #turn(now: number): void {
    const age = now - this.#began
    if (age < HALF_MS) return
    this.#older = age < 2 * HALF_MS ? this.#newer : { attempts: 0, failures: 0 }
    this.#newer = { attempts: 0, failures: 0 }
    // A time without attempts before is not counted: the first one begins it.
    this.#began = age < 2 * HALF_MS ? this.#began + HALF_MS : now
  }
}
