import { andThen } from '../async/and-then.ts'
import {
  type Call,
  type CallLimits,
  countPrompt,
  type LimitedContext,
  type LimitScope,
  type LimitStates,
  type Limits,
  type Outcome,
  type Reservation,
} from '../sdk/api.ts'
import {
  CallReservation,
  type Counting,
  mayFitCounted,
  type Part,
  reserve,
  type TokenTerms,
  tokensOf,
  tokenTerms,
} from './reserve.ts'

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
