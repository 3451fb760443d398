import {
  type Call,
  type CallState,
  GatewayError,
  type Host,
  type HostCounter,
  type Outcome,
  type Principal,
  type Reservation,
} from 'unified-model-gateway/plugin'
import type { RateClass } from './classes.ts'
import { goDuration, rateHeaders, unitOf } from './classes.ts'

/** A call that asks to be let in. */
export interface Applicant {
  readonly state: CallState
  readonly principal: Principal
  readonly rateClass: RateClass
  /** Absent where the body was not needed. */
  readonly call: Call | undefined
}

/**
 * Takes from the budgets of a call's key, and has what was not used given back when the call has ended. Throws the 429 of a call
 * that a budget has no room for.
 */
export async function admit(applicant: Applicant, host: Host, limited: HostCounter): Promise<Reservation> {
  const { state, rateClass } = applicant
  let granted: Reservation | undefined
  let ended: Outcome | undefined
  // Before it is granted, so that a call which ends meanwhile gives back what it is about to get.
  state.onSettled((outcome) => {
    ended = outcome
    return granted && giveBack(granted, outcome, applicant, host)
  })
  const asked = reserve(applicant, host)
  // Where the budgets are at hand nothing is waited for.
  const { reservation, tokens } = asked instanceof Promise ? await asked : asked
  granted = reservation
  if (ended !== undefined) await giveBack(granted, ended, applicant, host)
  const { refusedBy } = reservation
  if (refusedBy === undefined) return reservation
  limited.add(1, rateClass.name, refusedBy)
  throw refusal({ rateClass, reservation, refusedBy, tokens, model: state.model?.id })
}

/** At once where the upstream said what the call used: settling is part of every call. */
function giveBack(granted: Reservation, outcome: Outcome, { rateClass, call }: Applicant, host: Host): void | Promise<void> {
  const used = rateClass.limits.tokens === undefined || call === undefined ? 0 : charged(outcome, call, host)
  return typeof used === 'number' ? granted.settle(used) : used.then((tokens) => granted.settle(tokens))
}

interface Asked {
  readonly reservation: Reservation
  /** How many were asked for. */
  readonly tokens: number
}

function reserve({ principal, rateClass, call }: Applicant, host: Host): Asked | Promise<Asked> {
  const { name, limits } = rateClass
  // A key that changes its class starts anew; two links share a budget only where they name the same class.
  const subject = `${name}/${principal.keyId}`
  const tokens = limits.tokens === undefined || call === undefined ? 0 : estimateByBytes(call)
  const count = (reservation: Reservation): Asked | Promise<Asked> => {
    if (call === undefined || !isWorthCounting(reservation, call)) return { reservation, tokens }
    return estimateByCount(call, host).then(async (counted) => ({
      reservation: await host.limits.reserve(subject, limits, counted),
      tokens: counted,
    }))
  }
  const reservation = host.limits.reserve(subject, limits, tokens)
  return reservation instanceof Promise ? reservation.then(count) : count(reservation)
}

/** A prompt is counted only where its bytes alone would refuse the call: counting is what a refused client must not get for nothing. */
const isWorthCounting = ({ refusedBy, tokens }: Reservation, call: Call): boolean =>
  refusedBy === 'tokens' && worthCounting(call, tokens?.remaining ?? 0)

/** Below this size a quarter of the bytes is close enough. Above, base64 of images makes it far too many. */
const COUNT_FROM = 4096
const BYTES_PER_TOKEN = 4

/** Whether counting the prompt could bring the estimate by bytes below `tokens`. */
export const worthCounting = (call: Call, tokens: number): boolean => call.size >= COUNT_FROM && answerTokens(call) < tokens

/** The prompt's tokens by its bytes, and all that the call lets the model answer: costs nothing. */
export const estimateByBytes = (call: Call): number => promptByBytes(call) + answerTokens(call)

/** The prompt's tokens as a thread counts them, and all that the call lets the model answer. */
export const estimateByCount = async (call: Call, host: Host): Promise<number> =>
  (await countPrompt(call, host)) + answerTokens(call)

/** Tokens to charge: what the upstream said, or an estimate where it took the call and never said. */
export function charged({ usage, usageEstimated }: Outcome, call: Call, host: Host): number | Promise<number> {
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

/** Nobody knows when a call under way ends. */
const UNKNOWN_WAIT_MS = 1000

/** The 429 of a refused call, in the words of OpenAI's. A call that no wait can help says so instead of when to come back. */
export function refusal(call: Refused): GatewayError {
  const { rateClass, reservation, refusedBy, tokens } = call
  const waitMs = reservation.retryAfterMs || UNKNOWN_WAIT_MS
  const { budget, limit, used } = budgetOf(call)
  const requested = refusedBy === 'tokens' ? tokens : 1
  const whom = call.model === undefined ? 'your key' : `\`${call.model}\``
  const where = `for ${whom} in class ${rateClass.name} on ${budget}: Limit ${limit},`
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
