import {
  type Budget,
  GatewayError,
  type HostLog,
  type Principal,
  type Rate,
  type RateLimits,
  type Reservation,
} from 'unified-model-gateway/plugin'

/** Each unit a rate may name: its milliseconds, and the word that OpenAI's messages use. */
const UNITS = {
  s: { ms: 1000, word: 'sec' },
  min: { ms: 60_000, word: 'min' },
  h: { ms: 3_600_000, word: 'hour' },
  d: { ms: 86_400_000, word: 'day' },
} as const

/** Other spellings that people write. */
const ALIASES: Readonly<Record<string, keyof typeof UNITS>> = { sec: 's', minute: 'min', hour: 'h', day: 'd' }

const MULTIPLES: Readonly<Record<string, number>> = { k: 1000, M: 1_000_000 }

/** `60/min`, `100k/min`, `5M/day`. */
export const RATE = `^([1-9]\\d{0,8})([kM]?)/(${[...Object.keys(UNITS), ...Object.keys(ALIASES)].join('|')})$`

/** Reads a rate. Throws an Error that says what a rate looks like. */
export function parseRate(text: string): Rate {
  const [, digits, multiple, unit] = new RegExp(RATE).exec(text) ?? []
  if (digits === undefined || multiple === undefined || unit === undefined) {
    throw new Error(`"${text}" is not a rate; write an amount per s, min, h or d, such as 60/min or 100k/min`)
  }
  const { ms } = UNITS[ALIASES[unit] ?? (unit as keyof typeof UNITS)]
  return { amount: Number(digits) * (MULTIPLES[multiple] ?? 1), windowMs: ms }
}

/** `min` for a rate per minute. */
export function unitOf({ windowMs }: Rate): string {
  return Object.values(UNITS).find(({ ms }) => ms === windowMs)!.word
}

/**
 * Milliseconds as Go prints a duration, which is how OpenAI's `x-ratelimit-reset-*` and its messages say one: `12ms`, `1s`,
 * `1.798s`, `6m0s`, `24h0m0s`. Fractions of a millisecond are rounded up.
 */
export function goDuration(ms: number): string {
  const whole = Math.ceil(ms)
  if (whole === 0) return '0s'
  if (whole < 1000) return `${whole}ms`
  const hours = Math.floor(whole / 3_600_000)
  const minutes = Math.floor(whole / 60_000) % 60
  const seconds = `${(whole % 60_000) / 1000}s`
  if (hours > 0) return `${hours}h${minutes}m${seconds}`
  return minutes > 0 ? `${minutes}m${seconds}` : seconds
}

/**
 * OpenAI's `x-ratelimit-{limit,remaining,reset}-{requests,tokens}` for the budgets that have a limit. `age`: milliseconds since the
 * reservation was made.
 */
export function rateHeaders({ requests, tokens }: Reservation, age: number): Record<string, string> {
  const headers: Record<string, string> = {}
  if (requests !== undefined) tell(headers, REQUESTS, requests, age)
  if (tokens !== undefined) tell(headers, TOKENS, tokens, age)
  return headers
}

interface Names {
  readonly limit: string
  readonly remaining: string
  readonly reset: string
}

const namesOf = (dimension: string): Names => ({
  limit: `x-ratelimit-limit-${dimension}`,
  remaining: `x-ratelimit-remaining-${dimension}`,
  reset: `x-ratelimit-reset-${dimension}`,
})
const REQUESTS = namesOf('requests')
const TOKENS = namesOf('tokens')

function tell(headers: Record<string, string>, names: Names, { limit, remaining, resetMs }: Budget, age: number): void {
  headers[names.limit] = String(limit)
  headers[names.remaining] = String(remaining)
  headers[names.reset] = goDuration(Math.max(0, resetMs - age))
}

/** The limits of a class, as routes.yaml writes them. */
export interface WrittenLimits {
  readonly requests?: string
  readonly tokens?: string
  readonly concurrent?: number
}

interface ClassConfig {
  readonly classes: Readonly<Record<string, WrittenLimits>>
  readonly default: string
}

/** A rate class, ready for use. */
export interface RateClass {
  readonly name: string
  readonly limits: RateLimits
}

/**
 * Finds the class of a principal: the one its key names, else the default. A key that names a class which is not declared is
 * refused: any other class might grant it what its owner must not have. Throws an Error where the default is not declared.
 */
export function createClasses({ classes, default: fallback }: ClassConfig, log: HostLog): (principal: Principal) => RateClass {
  const declared = new Map(Object.entries(classes).map(([name, limits]) => [name, { name, limits: limitsOf(limits) }]))
  const names = [...declared.keys()].join(', ')
  if (!declared.has(fallback)) throw new Error(`default: there is no class "${fallback}"; the declared ones are ${names}`)
  const reported = new Set<string>()

  return ({ rateClass = fallback }) => {
    const found = declared.get(rateClass)
    if (found !== undefined) return found
    if (!reported.has(rateClass)) {
      reported.add(rateClass)
      log.warn({ class: rateClass, declared: names }, 'a key names a rate class that is not declared; its calls are refused')
    }
    const detail = `Your key names the rate class \`${rateClass}\`, which this gateway does not declare. Ask the operator to declare it or to give your key another class.`
    throw new GatewayError('request_refused', { values: { detail } })
  }
}

const limitsOf = ({ requests, tokens, concurrent }: WrittenLimits): RateLimits => ({
  ...(requests !== undefined && { requests: parseRate(requests) }),
  ...(tokens !== undefined && { tokens: parseRate(tokens) }),
  ...(concurrent !== undefined && { concurrent }),
})
