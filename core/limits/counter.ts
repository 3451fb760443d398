import { type Window, windowEnd } from './window.ts'

/** A limit that many processes share: an amount per window, or, without a window, an amount in use at the same time. */
export interface Counter {
  /** The same for all processes, and after a change of the amount. */
  readonly id: string
  readonly limit: number
  /** Undefined: places, which are in use until they are given back. */
  readonly window: Window | undefined
}

/**
 * What a holder reports of its lease of a counter, and asks for. All amounts are absolute, so that a message that is repeated, or that
 * reaches an authority which has forgotten, is right.
 */
export interface LeaseRequest {
  readonly counter: Counter
  /** The end of the window that `spent` and `keep` belong to, as the authority told it; 0: the holder has no lease. */
  readonly windowEnd: number
  /** What the holder has spent in this window. Places: 0. */
  readonly spent: number
  /** The part of `spent` that calls under way have reserved. Absent: 0. */
  readonly reserved?: number
  /** What it holds and has not spent. Places: those in use, too. */
  readonly keep: number
  /** What it needs in addition. */
  readonly need: number
  /** What it would like in addition, `need` included. */
  readonly want: number
}

/** What a holder may spend of a counter. */
export interface Grant {
  /** Whether it includes what was needed. */
  readonly granted: boolean
  /** What the holder had spent and held in the window, as the authority knew it before. Processes of older versions read it. */
  readonly known: number
  /** What the holder has spent in the window, as the authority counts it. */
  readonly spent: number
  /** What it holds now: `keep`, with what was granted. Less than `keep` if the limit was lowered, or the window has ended. */
  readonly held: number
  /** What no process has spent or holds. */
  readonly remaining: number
  /** Whether others hold unspent what was needed and not granted: it is asked back. */
  readonly isAskedBack: boolean
  /** Whether another process needs what this one holds and does not spend. */
  readonly isWanted: boolean
  /** How many processes have told of the counter lately, this one included. */
  readonly holders: number
  /** Milliseconds since 1970; 0 for places. */
  readonly windowEnd: number
  /** Milliseconds until then, by the clock of the authority; 0 for places. */
  readonly resetMs: number
}

/** A grant, and what the authority says of itself. */
export interface Lease extends Grant {
  /** Another one than before: the authority may have lost what it was told. */
  readonly epoch: string
  /** How many processes have told of any counter lately, this one included. */
  readonly holders: number
}

/** The truth of a counter, which an authority keeps. It is JSON. */
export interface CounterState {
  /** Milliseconds since 1970; 0 for places. */
  readonly windowEnd: number
  /** What was spent without a lease below: before the counter was known, and by holders that have ended. */
  readonly used: number
  /** The part of `used` that the ledger reported at first: usage that no holder has claimed yet is included. */
  readonly unclaimed?: number
  /** What was spent in the window at least, as the ledger says. */
  readonly least?: number
  /** A holder needs what others hold, until this time in milliseconds since 1970, and who. */
  readonly wanted?: { readonly by: string; readonly until: number } | undefined
  /** Increased by each change: a storage whose state has a lower one was set back. */
  readonly version?: number
  readonly leases: Readonly<Record<string, HolderState>>
}

/** Reads the text of a state. Undefined if there is none, or if it cannot be read: it is lost. */
export function parseState(text: string | null): CounterState | undefined {
  try {
    const state: unknown = JSON.parse(text ?? '')
    return isState(state) ? state : undefined
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

const areNumbers = (object: Readonly<Record<string, unknown>>, names: readonly string[]): boolean =>
  names.every((name) => typeof object[name] === 'number')

const isState = (value: unknown): value is CounterState =>
  isObject(value) &&
  areNumbers(value, ['windowEnd', 'used']) &&
  isObject(value.leases) &&
  Object.values(value.leases).every((lease) => isObject(lease) && areNumbers(lease, ['spent', 'held', 'expiresAt']))

/**
 * What is known of a counter that was set back, whose storage has `stored` and of which this gateway remembers `own`: of each holder what it
 * told last.
 */
export function merge(stored: CounterState, own: CounterState): CounterState {
  if (stored.windowEnd !== own.windowEnd) return own
  const leases = { ...own.leases }
  for (const [holder, lease] of Object.entries(stored.leases))
    if (lease.expiresAt > (leases[holder]?.expiresAt ?? 0)) leases[holder] = lease
  return { ...own, used: Math.max(stored.used, own.used), leases }
}

/** The lease of one holder. */
export interface HolderState {
  readonly spent: number
  /** The part of `spent` that calls under way have reserved. Absent: 0. */
  readonly reserved?: number
  readonly held: number
  /** When it last reported calls that had ended, in milliseconds since 1970. Absent: long ago. */
  readonly endedAt?: number
  /** Milliseconds since 1970. A holder that is silent for so long has ended. */
  readonly expiresAt: number
}

/** How long a lease is valid without renewal, in milliseconds. */
export const LEASE_MS = 10_000

/** How long the lease of a silent holder is remembered by its name, in milliseconds: it may only have been cut off. */
export const REMEMBERED_MS = 3_600_000

/** A holder gets at most this part of what remains, divided by the number of holders: the others need some too. */
const SHARE = 1 / 4

/** What others hold is asked back for a need of more than this part of the limit: a smaller one waits until they have used it. */
const LARGE = 1 / 4
/** For how long it is asked back, in milliseconds: the others tell of their leases every two seconds. */
const WANTED_MS = 3_000

/** Who asks, and when. */
export interface Grantee {
  readonly holder: string
  /** Milliseconds since 1970, of one clock for all holders. */
  readonly now: number
  /** What was spent in the window before the counter was known. */
  readonly initial: number
}

/**
 * Answers a holder's request: the new state of the counter, and the holder's lease. By this alone, the sum of what all holders have spent
 * and hold never exceeds the limit.
 */
export function grant(
  state: CounterState | undefined,
  request: LeaseRequest,
  { holder, now, initial }: Grantee,
): { readonly state: CounterState; readonly lease: Grant } {
  const { counter, need } = request
  const current = currentState(state, request, now, initial)
  // Amounts reported for an ended window are ignored. Another window that has not ended is one that the authority has forgotten.
  const isCurrent = counter.window === undefined || request.windowEnd > now
  const spent = isCurrent ? request.spent : 0
  const keep = isCurrent ? request.keep : 0
  const others = Object.entries(current.leases).filter(([name]) => name !== holder)
  const { unclaimed = 0 } = current
  const claimed = holder in current.leases ? 0 : Math.min(unclaimed, spent)
  const used = current.used - claimed
  const isSpent = others.reduce((sum, [, lease]) => sum + lease.spent, used + spent)
  const isHeld = others.reduce((sum, [, lease]) => sum + lease.held, 0)
  const available = Math.max(0, counter.limit - Math.max(isSpent, current.least ?? 0) - isHeld)
  const granted = keep + need <= available
  const living = others.filter(([, { expiresAt }]) => expiresAt > now)
  const holders = 1 + living.length
  const isAskedBack =
    !granted && need > counter.limit * LARGE && keep + need <= available + living.reduce((sum, [, lease]) => sum + lease.held, 0)
  const known = current.wanted !== undefined && current.wanted.until > now ? current.wanted : undefined
  const isWanted = known !== undefined && known.by !== holder
  const wanted = isAskedBack ? { by: holder, until: now + WANTED_MS } : isWanted ? known : undefined
  const { want } = request
  const held = granted ? extended(need, isWanted ? need : want, keep, (available - keep) / holders) : Math.min(keep, available)
  const before = current.leases[holder]
  const reserved = isCurrent ? request.reserved : undefined
  const isSame = before !== undefined && settledOf(before) === spent - (reserved ?? 0)
  const endedAt = isSame ? before.endedAt : now
  const lease: HolderState = {
    spent,
    ...(reserved && { reserved }),
    held,
    ...(endedAt && { endedAt }),
    expiresAt: now + LEASE_MS,
  }
  const mine = spent + held === 0 ? [] : [[holder, lease] as const]
  return {
    state: {
      ...current,
      used,
      wanted,
      ...(claimed > 0 && { unclaimed: unclaimed - claimed }),
      leases: Object.fromEntries([...others, ...mine]),
    },
    lease: {
      granted,
      known: before === undefined ? 0 : before.spent + before.held,
      spent,
      held,
      remaining: available - held,
      isAskedBack,
      isWanted,
      holders,
      windowEnd: current.windowEnd,
      resetMs: Math.max(0, current.windowEnd - now),
    },
  }
}

/** What is granted where there is enough: what is needed, and of what is wanted a share of its part, so that others need not be refused. */
function extended(need: number, want: number, keep: number, ownPart: number): number {
  return keep + Math.max(need, Math.min(want, Math.floor(ownPart * SHARE)))
}

/** A holder that is silent for so long has reported all its calls, in milliseconds: the ledger says what it has spent. */
const REPORTED_MS = 60_000
/** The rows of calls that a holder has reported are in the ledger after so long, in milliseconds. */
const RECORDED_MS = 3_000

/** What the calls of a holder have cost that have ended. */
const settledOf = ({ spent, reserved = 0 }: HolderState): number => spent - reserved

/** Whether a counter has leases of ended holders whose usage the ledger knows. */
export const hasEndedLeases = (state: CounterState | undefined, now: number): boolean =>
  Object.values(state?.leases ?? {}).some(({ expiresAt }) => expiresAt <= now - REPORTED_MS)

/**
 * Compares the truth of a counter with what the ledger says was spent in its window, which is right if more: an authority may have been
 * restored from an old copy. If holders have ended, the ledger is right also if less: it knows what they have spent, and neither what they
 * held nor what their last calls had reserved. All that the ledger says counts, and in addition what the others have reserved. That waits
 * until the ledger knows the last calls of the others too.
 */
export function reconcile(state: CounterState, recorded: number, now: number): CounterState {
  if (state.windowEnd <= now) return state
  const least = Math.max(recorded, state.least ?? 0)
  if (!hasEndedLeases(state, now)) return { ...state, least }
  const leases = splitByAge(state, now - REPORTED_MS)[1]
  const others = Object.values(leases)
  if (others.some(({ endedAt = 0 }) => endedAt > now - RECORDED_MS)) return { ...state, least }
  const settled = others.reduce((sum, lease) => sum + settledOf(lease), 0)
  return { windowEnd: state.windowEnd, used: Math.max(0, recorded - settled), least, leases }
}

/** The state at `now`: in a new window if the last has ended, and without what need not be remembered of ended holders. */
function currentState(
  state: CounterState | undefined,
  { counter: { window }, windowEnd: known }: LeaseRequest,
  now: number,
  initial: number,
): CounterState {
  // A place is free when its holder has ended.
  if (window === undefined) return { windowEnd: 0, used: 0, leases: splitByAge(state, now)[1] }
  if (state === undefined || state.windowEnd <= now) {
    const end = windowEnd(window, now)
    // An authority that has forgotten, or was restored from an old copy, learns the window from its holders.
    const isNew = state === undefined && initial > 0
    return {
      windowEnd: known > now && known < end ? known : end,
      used: isNew ? initial : 0,
      ...(isNew && { unclaimed: initial }),
      leases: {},
    }
  }
  // What an ended holder held may have been spent: it counts until the window ends.
  const [ended, leases] = splitByAge(state, now - REMEMBERED_MS)
  const used = Object.values(ended).reduce((sum, { spent, held }) => sum + spent + held, state.used)
  return { ...state, used, leases }
}

/** The leases that had expired at a time, and the others. */
function splitByAge(state: CounterState | undefined, at: number): readonly [CounterState['leases'], CounterState['leases']] {
  const entries = Object.entries(state?.leases ?? {})
  const only = (isExpired: boolean) => Object.fromEntries(entries.filter(([, { expiresAt }]) => expiresAt <= at === isExpired))
  return [only(true), only(false)]
}
