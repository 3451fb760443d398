import { GatewayError } from '../errors.ts'
import type { LimitScope, LimitState, LimitStates, Limits, Rate, RateLimits, Reservation } from '../sdk/api.ts'
import { MemoryStorage, StoredAuthority } from './authority.ts'
import type { Counter } from './counter.ts'
import { AuthorityUnavailable, type Debit, Leases, type Taken } from './leases.ts'
import { windowName } from './window.ts'

type Dimension = 'requests' | 'tokens' | 'concurrent'

/** The debit of a call to one of its limits. */
interface LimitDebit extends Debit {
  readonly subject: string
  readonly dimension: Dimension
}

/** The limits of plugins, kept by counters that all processes share. */
export class LeasedLimits implements Pick<Limits, 'reserve'> {
  readonly #leases: Leases

  constructor(leases: Leases) {
    this.#leases = leases
  }

  reserve(scopes: readonly LimitScope[], amount: number): Reservation | Promise<Reservation> {
    if (!(amount >= 0)) throw new RangeError(`cannot reserve ${amount} tokens; give a number from 0`)
    const debits = debitsOf(scopes, Math.ceil(amount))
    const taken = this.#leases.take(debits)
    return taken instanceof Promise
      ? taken.then((later) => this.#reservationOf(debits, later), toGatewayError)
      : this.#reservationOf(debits, taken)
  }

  #reservationOf(debits: readonly LimitDebit[], result: Awaited<ReturnType<Leases['take']>>): Reservation {
    const states = this.#statesOf(debits)
    if (!('refused' in result)) return granted(debits, result, states)
    const { dimension: refusedBy, subject: refusedFor, counter } = result.refused as LimitDebit
    const { remaining, resetMs } = this.#leases.view(counter)
    const exhausted = refusedBy === 'concurrent' ? {} : { [refusedBy]: { limit: counter.limit, remaining, resetMs } }
    return { refusedBy, refusedFor, retryAfterMs: resetMs, ...states, ...exhausted, settle() {}, cancel() {} }
  }

  /** Of each dimension, the tightest limit: the headers of a reply show it. */
  #statesOf(debits: readonly LimitDebit[]): LimitStates {
    const states: { [dimension in Dimension]?: LimitState } = {}
    for (const { dimension, counter } of debits) {
      if (dimension === 'concurrent') continue
      const { remaining, resetMs } = this.#leases.view(counter)
      const other = states[dimension]
      if (other === undefined || isTighter({ remaining, resetMs }, other))
        states[dimension] = { limit: counter.limit, remaining, resetMs }
    }
    return states
  }
}

/** Whether less is left of a limit than of another one or, of as much, for a longer time. */
const isTighter = ({ remaining, resetMs }: Omit<LimitState, 'limit'>, other: LimitState): boolean =>
  remaining < other.remaining || (remaining === other.remaining && resetMs > other.resetMs)

/** Limits in the memory of this process only. `clock`: milliseconds. */
export function memoryLimits(clock: () => number = Date.now): LeasedLimits {
  const authority = new StoredAuthority(new MemoryStorage(clock))
  return new LeasedLimits(
    new Leases({ renew: (requests) => authority.renew('this process', requests), onAsked: () => undefined, clock }),
  )
}

function debitsOf(scopes: readonly LimitScope[], amount: number): LimitDebit[] {
  const debits: LimitDebit[] = []
  for (const scope of scopes) {
    if (debits.some(({ subject }) => subject === scope.subject))
      throw new RangeError(`cannot reserve twice for "${scope.subject}"; give each subject once`)
    addDebits(debits, scope, amount)
  }
  return debits
}

function addDebits(debits: LimitDebit[], { subject, limits }: LimitScope, tokens: number): void {
  const { onOutage = 'serve' } = limits
  for (const { dimension, suffix, limit, window } of partsOf(limits)) {
    const amount = dimension === 'tokens' ? tokens : 1
    debits.push({ subject, dimension, counter: { id: subject + suffix, limit, window }, amount, onOutage })
  }
}

/** One dimension of limits: of a counter, what is the same for all subjects. */
interface LimitPart extends Omit<Counter, 'id'> {
  readonly dimension: Dimension
  /** The end of the id of the counter. */
  readonly suffix: string
}

const parts = new WeakMap<RateLimits, readonly LimitPart[]>()

/** Made once for each object of limits: a class has the same for all calls. */
function partsOf(limits: RateLimits): readonly LimitPart[] {
  let made = parts.get(limits)
  if (made === undefined) {
    const { requests, tokens, concurrent } = limits
    made = [
      ...(requests === undefined ? [] : [partOf('requests', requests)]),
      ...(tokens === undefined ? [] : [partOf('tokens', tokens)]),
      ...(concurrent === undefined
        ? []
        : [{ dimension: 'concurrent', suffix: '/concurrent', limit: concurrent, window: undefined } as const]),
    ]
    parts.set(limits, made)
  }
  return made
}

/**
 * The id of a counter has the window, not the limit: usage is kept when a reload changes an amount. Windows of another length count for
 * themselves.
 */
const partOf = (dimension: Dimension, { amount, window }: Rate): LimitPart => ({
  dimension,
  suffix: `/${dimension}/${windowName(window)}`,
  limit: amount,
  window,
})

function granted(debits: readonly LimitDebit[], taken: Taken, states: LimitStates): Reservation {
  let isOver = false
  function end(used: Readonly<Record<Dimension, number>>): void {
    if (isOver) return
    isOver = true
    for (let index = 0; index < debits.length; index++) {
      const amount = used[debits[index]!.dimension]
      // A wrong count changes nothing.
      if (Number.isSafeInteger(amount) && amount >= 0) taken.correct(index, amount)
    }
  }
  return {
    retryAfterMs: 0,
    ...states,
    settle: (tokens) => end({ requests: 1, tokens, concurrent: 0 }),
    cancel: () => end({ requests: 0, tokens: 0, concurrent: 0 }),
  }
}

/** Throws the client's error for an error of `Leases.take`: `limits_unavailable` if the authority cannot be reached, else the error itself. */
export function toGatewayError(error: unknown): never {
  if (error instanceof AuthorityUnavailable) throw new GatewayError('limits_unavailable', { cause: error })
  throw error
}
