import {
  type Budget,
  type Call,
  type CallState,
  GatewayError,
  type Host,
  type HostCounter,
  type HostLog,
  type Outcome,
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
function parseRate(text: string): Rate {
  const [, digits, multiple, unit] = new RegExp(RATE).exec(text) ?? []
  if (digits === undefined || multiple === undefined || unit === undefined) {
    throw new Error(`"${text}" is not a rate; write an amount per s, min, h or d, such as 60/min or 100k/min`)
  }
  const { ms } = UNITS[ALIASES[unit] ?? (unit as keyof typeof UNITS)]
  return { amount: Number(digits) * (MULTIPLES[multiple] ?? 1), windowMs: ms }
}

/** `min` for a rate per minute. */
function unitOf({ windowMs }: Rate): string {
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

/** A call that takes from its limits. */
export interface Applicant {
  readonly state: CallState
  readonly principal: Principal
  readonly rateClass: RateClass
  /** Length of its body in bytes, as its head says; undefined if it does not. */
  readonly length: number | undefined
  /** Called when the body has been read; absent: only a limit on tokens needs the body. */
  readonly onBody: (() => void) | undefined
}

/** A body up to this size (bytes) is read before anything is reserved: it takes little memory, and a second reservation costs more. */
const SMALL_BODY = 64 * 1024

/**
 * Takes from the budgets of a call's key: a request and a place before a body is read that is not small, so that the bodies of refused
 * calls take no memory, and tokens after it. What was not used is given back when the call has ended. Throws the 429 of a call that a
 * budget has no room for, and what reading the body throws.
 */
export async function admit(applicant: Applicant, host: Host, limited: HostCounter): Promise<Reservation> {
  const { rateClass, length, onBody } = applicant
  const { limits } = rateClass
  const charge = new CallCharge(applicant, host, limited)
  if (limits.tokens === undefined && onBody === undefined) return charge.take(limits, 0)
  if (length === undefined || length > SMALL_BODY) await charge.take({ ...limits, tokens: undefined }, 0)
  const call = await charge.readBody()
  onBody?.()
  const estimate = estimateByBytes(call)
  const reservation = await charge.reserve(limits, estimate)
  if (!isWorthCounting(reservation, call)) return charge.granted(reservation, estimate)
  return charge.take(limits, await estimateByCount(call, host))
}

/** What a call holds of the budgets of its key, until it has ended. */
class CallCharge {
  readonly #applicant: Applicant
  readonly #host: Host
  readonly #limited: HostCounter
  #call: Call | undefined
  #held: Reservation | undefined
  #outcome: Outcome | undefined

  constructor(applicant: Applicant, host: Host, limited: HostCounter) {
    this.#applicant = applicant
    this.#host = host
    this.#limited = limited
    // Before anything is granted, so that a call which ends meanwhile gives back what it is about to get.
    applicant.state.onSettled((outcome) => {
      this.#outcome = outcome
      return this.#held && this.#settle(this.#held, outcome)
    })
  }

  /** Reserves instead of what is held. */
  async reserve(limits: RateLimits, tokens: number): Promise<Reservation> {
    const { rateClass, principal } = this.#applicant
    await this.#held?.cancel()
    // A key that changes its class starts anew; two links share a budget only where they name the same class.
    this.#held = await this.#host.limits.reserve(`${rateClass.name}/${principal.keyId}`, limits, tokens)
    if (this.#outcome !== undefined) await this.#settle(this.#held, this.#outcome)
    return this.#held
  }

  /** The reservation, if it was granted; else throws its 429. */
  granted(reservation: Reservation, tokens: number): Reservation {
    const { rateClass, state } = this.#applicant
    const { refusedBy } = reservation
    if (refusedBy === undefined) return reservation
    this.#limited.add(1, rateClass.name, refusedBy)
    throw refusal({ rateClass, reservation, refusedBy, tokens, model: state.model?.id })
  }

  /** Reserves instead of what is held, or throws the 429. */
  async take(limits: RateLimits, tokens: number): Promise<Reservation> {
    return this.granted(await this.reserve(limits, tokens), tokens)
  }

  /** Reads the call's body. If that fails, there is no call to charge. */
  async readBody(): Promise<Call> {
    try {
      this.#call = await this.#applicant.state.call()
      return this.#call
    } catch (error) {
      await this.#held?.cancel()
      throw error
    }
  }

  /** Synchronous if the upstream reported the usage: every call is settled. */
  #settle(reservation: Reservation, outcome: Outcome): void | Promise<void> {
    const { limits } = this.#applicant.rateClass
    const used = limits.tokens === undefined || this.#call === undefined ? 0 : charged(outcome, this.#call, this.#host)
    return typeof used === 'number' ? reservation.settle(used) : used.then((tokens) => reservation.settle(tokens))
  }
}

/** A prompt is counted only if its size alone would refuse the call: counting costs more than the estimate. */
const isWorthCounting = ({ refusedBy, tokens }: Reservation, call: Call): boolean =>
  refusedBy === 'tokens' && worthCounting(call, tokens?.remaining ?? 0)

/** Below this size a quarter of the bytes is close enough. Above, base64 of images makes it far too many. */
const COUNT_FROM = 4096
const BYTES_PER_TOKEN = 4

/** Whether counting the prompt could bring the estimate by bytes below `tokens`. */
const worthCounting = (call: Call, tokens: number): boolean => call.size >= COUNT_FROM && answerTokens(call) < tokens

/** The prompt's tokens by its bytes, and all that the call lets the model answer: costs nothing. */
const estimateByBytes = (call: Call): number => promptByBytes(call) + answerTokens(call)

/** The prompt's tokens as a thread counts them, and all that the call lets the model answer. */
const estimateByCount = async (call: Call, host: Host): Promise<number> => (await countPrompt(call, host)) + answerTokens(call)

/** Tokens to charge: those that the upstream reported, or an estimate if it accepted the call and reported none. */
function charged({ usage, usageEstimated }: Outcome, call: Call, host: Host): number | Promise<number> {
  if (usage === undefined) return 0
  return usageEstimated ? countPrompt(call, host).then((prompt) => prompt + usage.completion_tokens) : usage.total_tokens
}

const promptByBytes = (call: Call): number => Math.ceil(call.size / BYTES_PER_TOKEN)

function answerTokens(call: Call): number {
  const cap = call.member('max_completion_tokens') ?? call.member('max_tokens') ?? call.member('max_output_tokens')
  return typeof cap === 'number' ? Math.max(0, cap) : 0
}

async function countPrompt(call: Call, host: Host): Promise<number> {
  try {
    return await host.countTokens(call)
  } catch (error) {
    host.log.warn({ call: call.id, error: String(error) }, 'tokens could not be counted; they are estimated by bytes')
    return promptByBytes(call)
  }
}

/** A call that was refused. */
export interface Refused {
  readonly rateClass: RateClass
  readonly reservation: Reservation
  readonly refusedBy: NonNullable<Reservation['refusedBy']>
  /** Tokens it asked for. */
  readonly tokens: number
  /** The model id; absent where the body was not read. */
  readonly model: string | undefined
}

/** The end of a call in progress is unknown. */
const UNKNOWN_WAIT_MS = 1000

/** The 429 of a refused call, worded like OpenAI's. For a call that exceeds the whole limit it has no time to wait. */
function refusal(call: Refused): GatewayError {
  const { rateClass, reservation, refusedBy, tokens } = call
  const waitMs = reservation.retryAfterMs || UNKNOWN_WAIT_MS
  const { budget, limit, used } = budgetOf(call)
  const requested = refusedBy === 'tokens' ? tokens : 1
  const scope = call.model === undefined ? 'your key' : `\`${call.model}\``
  const where = `for ${scope} in class ${rateClass.name} on ${budget}: Limit ${limit},`
  const tooLarge = requested > limit
  const detail = tooLarge
    ? `Request too large ${where} Requested ${requested}. The prompt or the requested answer must be reduced to run successfully.`
    : `Rate limit reached ${where} Used ${used}, Requested ${requested}. Please try again in ${goDuration(waitMs)}.`
  return new GatewayError(refusedBy === 'tokens' ? 'rate_limit_tokens' : 'rate_limit_requests', {
    values: { detail },
    headers: { ...rateHeaders(reservation, 0), 'retry-after': String(Math.ceil(waitMs / 1000)) },
    ...(tooLarge && { retry: false }),
  })
}

function budgetOf({ rateClass: { limits }, reservation, refusedBy }: Refused): { budget: string; limit: number; used: number } {
  if (refusedBy === 'concurrent') {
    const limit = limits.concurrent!
    return { budget: 'concurrent requests', limit, used: limit }
  }
  const { limit, remaining } = reservation[refusedBy]!
  return { budget: `${refusedBy} per ${unitOf(limits[refusedBy]!)}`, limit, used: limit - remaining }
}
