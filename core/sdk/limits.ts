import type { CallState } from './call.ts'

/** An amount in a window of time. */
export interface Rate {
  readonly amount: number
  readonly window: RateWindow
}

/** A length of time in which a limit holds. `fixed`: it begins with the first use. `calendar`: it begins with the unit, in a time zone. */
export type RateWindow =
  | { readonly kind: 'fixed'; readonly ms: number }
  | { readonly kind: 'calendar'; readonly unit: 'day' | 'week' | 'month'; readonly timeZone: string }

/** What a subject may use. What is absent is not limited. */
export interface RateLimits {
  readonly requests?: Rate
  readonly tokens?: Rate
  /** Concurrent calls. */
  readonly concurrent?: number
  /** While the counters that processes share do not answer: `serve` at most a tenth of the limit in all (default), or `refuse`. Both spend what a process holds. */
  readonly onOutage?: 'serve' | 'refuse'
}

/** Whose limits a call takes from. */
export interface LimitScope {
  /** Names the counters, for all plugins: `fair-share/acc_1`. */
  readonly subject: string
  readonly limits: RateLimits
}

/** Limits of requests, tokens and concurrent calls, kept by core. */
export interface Limits {
  /**
   * Takes one request, `tokens` tokens and one concurrent call from the limits of each scope, or nothing at all. The subjects must
   * differ.
   */
  reserve(scopes: readonly LimitScope[], tokens: number): Reservation | Promise<Reservation>
  /**
   * Reserves for a call what it may use of limits, until it has ended: one request, one concurrent call and, if a scope limits tokens, those of its
   * prompt and answer. The prompt is estimated by its size; if that alone refuses the call, its tokens are counted. Before an attempt that follows failed
   * ones, what they have used and another one may use is reserved too. In the end what was used takes the place of all this; of a call that
   * did not reach an upstream that is the request. Call it before `next()`. A body of more than 64 KiB is read after its request is reserved.
   * Throws the `refusal`, also out of a later attempt, and what reading the body throws. Synchronous if no body is read and this process has
   * room. Returns how much is left, for headers.
   */
  reserveFor(ctx: LimitedContext, limits: CallLimits): LimitStates | Promise<LimitStates>
}

/** The `ctx` of a link, as far as limits need it. */
export interface LimitedContext {
  readonly state: Pick<CallState, 'call' | 'onRetry' | 'onSettled'>
  /** `length`: of the body, in bytes, if its head says it. */
  readonly request: { readonly length?: number | undefined }
}

/** The limits of a call, and what follows from them. */
export interface CallLimits {
  /** Their subjects must differ. */
  readonly scopes: readonly LimitScope[]
  /** Tokens to reserve for the answer of a call that sets no cap. Absent: 1024, but at most a tenth of the smallest limit of tokens. */
  readonly answerTokens?: number | undefined
  /** Called when the body is read, before its tokens are reserved. If present, the body is read although no scope limits tokens. */
  readonly onBody?: (() => void) | undefined
  /** The error of a call, or of another attempt of it, that a limit has no room for. */
  refusal(refusal: LimitRefusal): Error
}

/** What is left of limits: of each kind, the limit with the least left. */
export interface LimitStates {
  readonly requests?: LimitState
  readonly tokens?: LimitState
}

/** The state of a limit, as in `x-ratelimit-*`. */
export interface LimitState {
  readonly limit: number
  readonly remaining: number
  /** Milliseconds until it is full again. */
  readonly resetMs: number
}

/** Why a call was refused. Of the kind that is exhausted, the state is that of the exhausted limit. */
export interface LimitRefusal extends LimitStates {
  /** The exhausted limit. */
  readonly refusedBy: 'requests' | 'tokens' | 'concurrent'
  /** The subject whose limit it is. */
  readonly refusedFor: string
  /** Milliseconds until the exhausted limit allows the call; 0 for `concurrent`. */
  readonly retryAfterMs: number
  /** The tokens that the call, or another attempt of it, needs. */
  readonly neededTokens: number
}

/** What a call reserved of its limits, or why it was refused. */
export interface Reservation extends LimitStates {
  /** The exhausted limit; absent: granted. */
  readonly refusedBy?: LimitRefusal['refusedBy']
  /** The subject whose limit it is. */
  readonly refusedFor?: string
  /** Milliseconds until the exhausted limit allows the call; 0 for `concurrent`. */
  readonly retryAfterMs: number
  /** Call once, after the call. `tokens`: its actual usage. Ends the concurrent call. */
  settle(tokens: number): void | Promise<void>
  /** Instead of `settle`, if there is no call after all: gives everything back, the request included. */
  cancel(): void | Promise<void>
}

/** Each unit a rate may name: its milliseconds, and the word that OpenAI's messages use. A month is one of the calendar. */
const UNITS = {
  s: { ms: 1000, word: 'sec' },
  min: { ms: 60_000, word: 'min' },
  h: { ms: 3_600_000, word: 'hour' },
  d: { ms: 86_400_000, word: 'day' },
  month: { ms: undefined, word: 'month' },
} as const

/** Other spellings that people write. */
const ALIASES: Readonly<Record<string, keyof typeof UNITS>> = { sec: 's', minute: 'min', hour: 'h', day: 'd' }

const MULTIPLES: Readonly<Record<string, number>> = { k: 1000, M: 1_000_000 }

/** The pattern of a rate: `60/min`, `100k/min`, `5M/day`, `1M/month`. */
export const RATE = `^([1-9]\\d{0,8})([kM]?)/(${[...Object.keys(UNITS), ...Object.keys(ALIASES)].join('|')})$`

/** Reads a rate. `timeZone`: of months. Throws an Error that says what a rate looks like. */
export function parseRate(text: string, timeZone: string): Rate {
  const [, digits, multiple, unit] = new RegExp(RATE).exec(text) ?? []
  if (digits === undefined || multiple === undefined || unit === undefined) {
    throw new Error(`"${text}" is not a rate; write an amount per s, min, h, d or month, such as 60/min or 100k/min`)
  }
  const { ms } = UNITS[ALIASES[unit] ?? (unit as keyof typeof UNITS)]
  return {
    amount: Number(digits) * (MULTIPLES[multiple] ?? 1),
    window: ms === undefined ? { kind: 'calendar', unit: 'month', timeZone } : { kind: 'fixed', ms },
  }
}

/** The unit of a rate, as OpenAI's messages say it: `min` for one per minute. */
export function unitOf({ window }: Rate): string {
  return window.kind === 'calendar' ? window.unit : Object.values(UNITS).find(({ ms }) => ms === window.ms)!.word
}
