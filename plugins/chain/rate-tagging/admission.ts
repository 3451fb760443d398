import type { Call, CallState, Host, HostCounter, Outcome, Principal, Reservation } from 'unified-model-gateway/plugin'
import type { RateClass } from './classes.ts'
import { charged, estimateByBytes, estimateByCount, worthCounting } from './estimate.ts'
import { refusal } from './refusal.ts'

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
