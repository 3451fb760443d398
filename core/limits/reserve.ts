import {
  answerEstimate,
  type Call,
  type CallLimits,
  countPrompt,
  type Host,
  type InputBounds,
  inputEstimate,
  isWorthCounting,
  type LimitedContext,
  type LimitScope,
  type LimitStates,
  type Limits,
  type Outcome,
  type Rate,
  type Reservation,
  uncappedAnswer,
  usualInput,
} from '../sdk/api.ts'

/** How a call takes what it may use. `Answer`: what it got, or why it got nothing. */
export interface Demand<Answer> {
  /** Takes all or nothing. `prompt`: the counted tokens of the prompt; absent: they are estimated. */
  take(prompt?: number): Answer | Promise<Answer>
  /** Whether the estimate alone may be why it got nothing: counting costs more than the rest of most calls. */
  mayCountAdmit(answer: Answer): boolean
  count(): Promise<number>
}

/** Reserves by an estimate and, if a count of the prompt may admit what that refused, once more by the count. */
export function reserve<Answer>(demand: Demand<Answer>): Answer | Promise<Answer> {
  const estimated = demand.take()
  return estimated instanceof Promise ? estimated.then((answer) => orCounted(answer, demand)) : orCounted(estimated, demand)
}

const orCounted = <Answer>(answer: Answer, demand: Demand<Answer>): Answer | Promise<Answer> =>
  demand.mayCountAdmit(answer) ? demand.count().then((prompt) => demand.take(prompt)) : answer

/** A part of limits that was taken. It ends once, by either. */
export interface Part {
  /** Puts what was used in its place; undefined: that is not known, and the part stays taken. */
  settle(used: number | undefined): void | Promise<void>
  /** Gives it back. */
  cancel(): void | Promise<void>
}

/** What a call has reserved until it is settled: for one attempt, and more for each one that follows attempts which have used something. */
export class CallReservation {
  readonly #first: Part
  #more: readonly Part[] = NONE
  #amount: number
  #isOver = false

  constructor(part: Part, amount: number) {
    this.#first = part
    this.#amount = amount
  }

  /** All that is reserved. */
  get amount(): number {
    return this.#amount
  }

  /** Takes what is missing for another attempt. `used`: by those before. `next`: the most that it may use. Throws what `take` throws. */
  async extend(used: number, next: number, take: (missing: number) => Part | Promise<Part>): Promise<void> {
    const missing = used + next - this.#amount
    if (missing <= 0) return
    const part = await take(missing)
    this.#more = [...this.#more, part]
    this.#amount += missing
    // The call has ended meanwhile, without another attempt.
    if (this.#isOver) void part.cancel()
  }

  /** Puts what the call has used in the place of all that is reserved; undefined: that is not known, and all stays reserved. */
  settle(used: number | undefined): void | Promise<void> {
    this.#isOver = true
    for (const part of this.#more) void (used === undefined ? part.settle(used) : part.cancel())
    return this.#first.settle(used)
  }
}

const NONE: readonly Part[] = []

/** What limits of tokens reserve for a call. */
export interface TokenTerms {
  readonly input: InputBounds
  /** For an answer without a cap. */
  readonly uncapped: number
}

/** By the smallest limit of tokens; undefined if there is none. `answerTokens`: for an answer without a cap, if the operator says it. */
export function tokenTerms(scopes: readonly LimitScope[], answerTokens?: number): TokenTerms | undefined {
  let least: Rate | undefined
  for (const { limits } of scopes) {
    const { tokens } = limits
    if (tokens !== undefined && (least === undefined || tokens.amount < least.amount)) least = tokens
  }
  return least && { input: usualInput(least), uncapped: answerTokens ?? uncappedAnswer(least) }
}

/** The tokens to reserve for a call; `counted`: those of its prompt. */
export const tokensOf = (call: Call, { input, uncapped }: TokenTerms, counted?: number): number =>
  inputEstimate(call, input, counted) + answerEstimate(call, uncapped)

/** Whether a call may fit into `room` tokens if its prompt is counted. */
export const mayFitCounted = (call: Call, { uncapped }: TokenTerms, room: number): boolean =>
  isWorthCounting(call) && answerEstimate(call, uncapped) < room

/** What counts the tokens of prompts. */
export type Counting = Pick<Host, 'countTokens' | 'log'>

/** A body up to this size (bytes) is read before anything is reserved: it takes little memory, and a second reservation costs more. */
const SMALL_BODY = 64 * 1024

/** The limits that plugins get. */
export class HostLimits implements Limits {
  readonly #counters: Pick<Limits, 'reserve'>
  readonly #counting: Counting

  constructor(counters: Pick<Limits, 'reserve'>, counting: Counting) {
    this.#counters = counters
    this.#counting = counting
  }

  reserve(scopes: readonly LimitScope[], tokens: number): Reservation | Promise<Reservation> {
    return this.#counters.reserve(scopes, tokens)
  }

  reserveFor(ctx: LimitedContext, wanted: CallLimits): LimitStates | Promise<LimitStates> {
    const terms = tokenTerms(wanted.scopes, wanted.answerTokens)
    return terms === undefined && wanted.onBody === undefined
      ? this.#reserveRequest(ctx, wanted)
      : this.#reserveWithBody(ctx, wanted, terms)
  }

  #reserveRequest({ state }: LimitedContext, wanted: CallLimits): LimitStates | Promise<LimitStates> {
    return andThen(this.reserve(wanted.scopes, 0), (reservation) => {
      expectGranted(reservation, wanted, 0)
      state.onSettled(() => reservation.settle(0))
      return reservation
    })
  }

  async #reserveWithBody(ctx: LimitedContext, wanted: CallLimits, terms: TokenTerms | undefined): Promise<LimitStates> {
    const { state, request } = ctx
    const { scopes, onBody } = wanted
    const isSmall = request.length !== undefined && request.length <= SMALL_BODY
    // The bodies of refused calls take no memory.
    const early = isSmall ? undefined : expectGranted(await this.reserve(scopes.map(withoutTokens), 0), wanted, 0)
    let call: Call
    try {
      call = await state.call()
      onBody?.()
    } finally {
      // It is reserved once more with the tokens; if the body is refused, there is no call to charge.
      void early?.cancel()
    }
    return terms === undefined ? this.#reserveRequest(ctx, wanted) : this.#reserveTokens(state, wanted, terms, call)
  }

  #reserveTokens(
    state: LimitedContext['state'],
    wanted: CallLimits,
    terms: TokenTerms,
    call: Call,
  ): LimitStates | Promise<LimitStates> {
    const { scopes } = wanted
    let needed = 0
    const made = reserve({
      take: (prompt) => {
        needed = tokensOf(call, terms, prompt)
        return this.reserve(scopes, needed)
      },
      mayCountAdmit: ({ refusedBy, tokens }) => refusedBy === 'tokens' && mayFitCounted(call, terms, tokens?.remaining ?? 0),
      count: () => countPrompt(call, this.#counting),
    })
    return andThen(made, (reservation) => {
      expectGranted(reservation, wanted, needed)
      const reserved = new CallReservation(reservation, needed)
      const takeMore = async (missing: number): Promise<Part> =>
        expectGranted(await this.reserve(scopes.map(onlyTokens), missing), wanted, missing)
      state.onRetry(({ total_tokens }) => reserved.extend(total_tokens, needed, takeMore))
      // It runs at once if the call has ended meanwhile.
      state.onSettled((outcome) => andThen(tokensUsed(outcome, call, this.#counting), (used) => reserved.settle(used)))
      return reservation
    })
  }
}

const onlyTokens = (scope: LimitScope): LimitScope => ({
  ...scope,
  limits: { ...scope.limits, requests: undefined, concurrent: undefined },
})

const withoutTokens = (scope: LimitScope): LimitScope => ({ ...scope, limits: { ...scope.limits, tokens: undefined } })

/** Throws the refusal of a reservation that was not granted. */
function expectGranted(reservation: Reservation, { refusal }: CallLimits, neededTokens: number): Reservation {
  const { refusedBy, refusedFor } = reservation
  if (refusedBy === undefined) return reservation
  throw refusal({ ...reservation, refusedBy, refusedFor: refusedFor!, neededTokens })
}

/** The tokens that a call has used: those that upstreams reported, or an estimate if one accepted the call and reported none. */
function tokensUsed({ usage, usageEstimated, attempts }: Outcome, call: Call, counting: Counting): number | Promise<number> {
  if (usage === undefined) return 0
  // Several attempts have read the prompt several times.
  return usageEstimated && attempts.length <= 1
    ? countPrompt(call, counting).then((prompt) => prompt + usage.completion_tokens)
    : usage.total_tokens
}

/** Calls a function with a value: at once if it is there, as most are, and else when it comes. */
export function andThen<Value, Result>(
  value: Value | Promise<Value>,
  next: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(next) : next(value)
}
