import { GatewayError } from '../errors.ts'
import type { PriceList } from '../prices/price-list.ts'
import { type BudgetCounter, budgetCounters } from '../quota/budgets.ts'
import type { Charge, Leases, Refusal, Taken } from '../quota/leases.ts'
import { toGatewayError } from '../quota/limits.ts'
import { boundsOf } from '../quota/window.ts'
import { withDefaults } from '../routing/operation.ts'
import { candidatesOf, type Route } from '../routing/route.ts'
import {
  answerEstimate,
  type Call,
  countPrompt,
  formatUsd,
  type Host,
  isWorthCounting,
  type MoneyBudget,
  type Outcome,
  type Principal,
  promptEstimate,
} from '../sdk/api.ts'
import { formatBudget } from '../text/budgets.ts'

/** A call whose caller has budgets. */
export interface BudgetedCall {
  readonly call: Call
  readonly principal: Principal
  readonly route: Route
  readonly prices: Pick<PriceList, 'highestCharge'>
  readonly settings: { readonly timeZone: string; readonly onOutage: Charge['onOutage'] }
}

/** What a call is charged to budgets, until it has ended. */
export interface BudgetCharge {
  /** Replaces the charge by what the call has cost. */
  settle(outcome: Pick<Outcome, 'usage' | 'cost'>): void
}

type Charged = BudgetCharge | undefined

/** The charge, or the refusal if a budget has too little left. */
type Result = Charged | GatewayError

/** Charges calls to the budgets of their callers. */
export class Budgets {
  readonly #leases: Pick<Leases, 'take' | 'view'>
  readonly #counting: Pick<Host, 'countTokens' | 'log'>

  constructor(leases: Pick<Leases, 'take' | 'view'>, counting: Pick<Host, 'countTokens' | 'log'>) {
    this.#leases = leases
    this.#counting = counting
  }

  /**
   * Charges the most that a call may cost to every budget of its caller, or to none. Undefined: the call is free. Synchronous while the
   * leases suffice. Throws and rejects with `budget_exhausted`, `price_unknown` or `limits_unavailable`.
   */
  charge(request: BudgetedCall): Charged | Promise<Charged> {
    const taken = this.#take(request, promptEstimate(request.call))
    return taken instanceof Promise || taken instanceof GatewayError ? this.#chargeCounted(request, taken) : taken
  }

  /** `estimated`: the result by the estimate of the prompt. */
  async #chargeCounted(request: BudgetedCall, estimated: Result | Promise<Result>): Promise<Charged> {
    const taken = await estimated
    if (!(taken instanceof GatewayError)) return taken
    if (!isWorthCounting(request.call)) throw taken
    // Counting costs more than the estimate, which is far too high for images.
    const again = await this.#take(request, await countPrompt(request.call, this.#counting))
    if (again instanceof GatewayError) throw again
    return again
  }

  #take(request: BudgetedCall, prompt: number): Result | Promise<Result> {
    const { principal, settings } = request
    const amount = highestCharge(request, prompt)
    if (amount === 0) return undefined
    const counters = budgetCounters(principal, settings.timeZone)
    const charges = counters.map((counter) => ({ counter, amount, onOutage: settings.onOutage }))
    const resultOf = (taken: Taken | Refusal): Result => {
      if (!('refused' in taken)) return chargeOf(taken, charges)
      const counter = taken.refused.counter as BudgetCounter
      return refusal(request, counter, { left: this.#leases.view(counter).remaining, amount })
    }
    const taken = this.#leases.take(charges)
    return taken instanceof Promise ? taken.then(resultOf, toGatewayError) : resultOf(taken)
  }
}

/** The most that a call may cost, whichever of its targets serves it. */
function highestCharge({ call, route, prices }: BudgetedCall, prompt: number): number {
  let highest = 0
  for (const { target, defaults } of candidatesOf(route.leads)) {
    const filled = defaults === undefined ? call : withDefaults(call, defaults)
    const charge = prices.highestCharge(target.served, { input: prompt, output: answerEstimate(filled) })
    if (charge === undefined) throw new GatewayError('price_unknown', { param: 'model', values: { model: target.id } })
    highest = Math.max(highest, charge)
  }
  return highest
}

function chargeOf(taken: Taken, charges: readonly Charge[]): BudgetCharge {
  return {
    settle({ usage, cost }) {
      // The cost of usage that has no price after all is unknown: the charge stays.
      if (usage !== undefined && cost === undefined) return
      for (const index of charges.keys()) taken.correct(index, cost?.nanoUsd ?? 0)
    },
  }
}

interface Amounts {
  readonly left: number
  /** What the call may cost. */
  readonly amount: number
}

function refusal({ call }: BudgetedCall, { owner, limit, window }: BudgetCounter, { left, amount }: Amounts): GatewayError {
  const budget: MoneyBudget = { nanoUsd: limit, per: window.unit }
  const renewsAt = new Date(boundsOf(window, Date.now()).end).toISOString()
  const detail =
    `You exceeded your current quota: of the budget of your ${owner.kind}, ${formatBudget(budget)}, ${formatUsd(left)} USD is left, ` +
    `and this call to \`${call.model.id}\` may cost up to ${formatUsd(amount)} USD. The budget renews at ${renewsAt}. ` +
    'Until then, ask for a shorter answer, use a cheaper model, or ask the operator for a larger budget.'
  return new GatewayError('budget_exhausted', { values: { detail } })
}
