import { GatewayError } from '../errors.ts'
import type { Unpriced } from '../prices/price.ts'
import type { ModelLimits, PriceList } from '../prices/price-list.ts'
import { formsOf } from '../protocol/call-forms.ts'
import { type BudgetCounter, budgetCounters } from '../quota/budgets.ts'
import { KeyShares } from '../quota/key-shares.ts'
import type { Charge, Leases, Refusal, Taken } from '../quota/leases.ts'
import { toGatewayError } from '../quota/limits.ts'
import { boundsOf } from '../quota/window.ts'
import { withDefaults } from '../routing/operation.ts'
import { type Candidate, candidatesOf, type Route } from '../routing/route.ts'
import {
  answerEstimate,
  asksForSound,
  type Call,
  capOf,
  countPrompt,
  formatUsd,
  type Host,
  inputEstimate,
  isWorthCounting,
  type MoneyBudget,
  type Outcome,
  type Principal,
  type Served,
  takesCap,
  UNCAPPED_ANSWER,
} from '../sdk/api.ts'
import { formatBudget } from '../text/budgets.ts'

/** A call whose caller has budgets. */
export interface BudgetedCall {
  readonly call: Call
  readonly principal: Principal
  readonly route: Route
  readonly prices: Pick<PriceList, 'highestCharge' | 'limitsOf' | 'unpricedService'>
  /** Whether the vendor runs tools for it, whose results are part of the prompt. */
  readonly hasHostedTools: boolean
  readonly settings: { readonly timeZone: string; readonly onOutage: Charge['onOutage'] }
}

/** What a call is charged to budgets, until it has ended. */
export interface BudgetCharge {
  /** The most tokens of an answer that a candidate may write, if neither the call nor its route says how many. */
  capFor(candidate: Candidate): number
  /** The tokens of a prompt for a target, as they were reserved: with its media, and what the upstream adds; undefined for other targets. */
  promptFor(target: Target): number | undefined
  /** Replaces the charge by what the call has cost. */
  settle(outcome: Partial<Pick<Outcome, 'usage' | 'cost' | 'usageEstimated'>>): void
  /** The charge stays: what the call will have cost is not known. */
  keep(): void
}

/** What names a target. */
type Target = Pick<Served, 'namespace' | 'model'>

type Charged = BudgetCharge | undefined

/** The charge, or the refusal if a budget has too little left. */
type Result = Charged | GatewayError

/** Charges calls to the budgets of their callers. */
export class Budgets {
  readonly #leases: Pick<Leases, 'take' | 'view'>
  readonly #counting: Pick<Host, 'countTokens' | 'log'>
  readonly #shares = new KeyShares()

  constructor(leases: Pick<Leases, 'take' | 'view'>, counting: Pick<Host, 'countTokens' | 'log'>) {
    this.#leases = leases
    this.#counting = counting
  }

  /**
   * Charges the most that a call may cost to every budget of its caller, or to none. Undefined: the call is free. Synchronous while the
   * leases suffice. Throws and rejects with `budget_exhausted`, `price_unknown` or `limits_unavailable`.
   */
  charge(request: BudgetedCall): Charged | Promise<Charged> {
    const taken = this.#takeBill(billOf(request))
    return taken instanceof Promise || taken instanceof GatewayError ? this.#chargeCounted(request, taken) : taken
  }

  /** `estimated`: the result by the estimate of the prompt. */
  async #chargeCounted(request: BudgetedCall, estimated: Result | Promise<Result>): Promise<Charged> {
    const taken = await estimated
    if (!(taken instanceof GatewayError)) return taken
    if (!isWorthCounting(request.call)) throw taken
    // Counting costs more than the estimate, which is far too high for images.
    const again = await this.#takeBill(billOf(request, await countPrompt(request.call, this.#counting)))
    if (again instanceof GatewayError) throw again
    return again
  }

  /** What is left is known by the last answer of the authority: after a refusal, a smaller cap may fit. */
  #takeBill(bill: Bill): Result | Promise<Result> {
    const taken = this.#take(bill)
    if (!bill.isUncapped) return taken
    if (!(taken instanceof Promise)) return taken instanceof GatewayError ? this.#take(bill) : taken
    return taken.then((first) => (first instanceof GatewayError ? this.#take(bill) : first))
  }

  #take(bill: Bill): Result | Promise<Result> {
    const { principal, settings } = bill.request
    const counters = budgetCounters(principal, settings.timeZone)
    const leftOf = (counter: BudgetCounter): number => this.#leases.view(counter).remaining
    const left = Math.min(...counters.map(leftOf))
    const cap = bill.isUncapped ? bill.capWithin(left) : 0
    const amount = bill.amountAt(cap)
    if (amount === 0) return undefined
    const charges = counters.map((counter) => ({ counter, amount, onOutage: settings.onOutage }))
    const end = this.#shares.hold(counters, principal.firstKeyId ?? principal.keyId, amount, leftOf)
    if (typeof end !== 'function')
      return refusal(bill.request, end.counter, { left: leftOf(end.counter), share: end.share, amount })
    const resultOf = (taken: Taken | Refusal): Result => {
      if (!('refused' in taken)) return chargeOf(taken, { charges, bill, cap, end })
      end()
      const counter = taken.refused.counter as BudgetCounter
      return refusal(bill.request, counter, { left: leftOf(counter), amount })
    }
    const taken = this.#leases.take(charges)
    if (!(taken instanceof Promise)) return resultOf(taken)
    return taken.then(resultOf, (error: unknown) => {
      end()
      return toGatewayError(error)
    })
  }
}

/** An uncapped call gets this part of what is left, so that those at the same time have some too. */
const SHARE = 1 / 10

/** Below this, an answer is of little use: an uncapped call is refused instead. */
const LEAST_CAP = 256

/** What one candidate may cost. */
interface Item {
  readonly candidate: Candidate
  readonly limits: ModelLimits
  /** The most tokens of the prompt. */
  readonly input: number
  /** Whether neither the call nor its route says how much the candidate may write. */
  readonly isUncapped: boolean
  /** Nano-dollars if a text has at most so many tokens. */
  amountAt(cap: number): number
}

/** What a call may cost, whichever of its candidates serves it. */
class Bill {
  readonly request: BudgetedCall
  readonly #items: readonly Item[]

  constructor(request: BudgetedCall, items: readonly Item[]) {
    this.request = request
    this.#items = items
  }

  /** Whether a cap decides what it costs: that of a free model does not. */
  get isUncapped(): boolean {
    return this.#items.some(({ isUncapped, amountAt }) => isUncapped && amountAt(LEAST_CAP) > amountAt(0))
  }

  /** Whether the answer is sound, and no text of which the length is known. */
  get isSpeech(): boolean {
    return this.request.call.endpoint === 'audio.speech'
  }

  /** The most nano-dollars, with this cap where there is no other. */
  amountAt(cap: number): number {
    return Math.max(...this.#items.map((item) => item.amountAt(item.isUncapped ? capOfItem(item, cap) : 0)))
  }

  /** The cap for a caller who has so many nano-dollars left: by a share of them, or, if that is little, by all. */
  capWithin(left: number): number {
    const cap = Math.max(this.#affordable(left * SHARE), Math.min(UNCAPPED_ANSWER, this.#affordable(left)))
    return Math.max(cap, LEAST_CAP)
  }

  /** What a candidate may write if the cap of the call is this. */
  capFor(candidate: Candidate, cap: number): number {
    return capOfItem(this.#items.find((item) => item.candidate === candidate)!, cap)
  }

  promptFor({ namespace, model }: Target): number | undefined {
    const isAsked = ({ candidate: { target } }: Item) => target.served.namespace === namespace && target.served.model === model
    return this.#items.find(isAsked)?.input
  }

  /** The most tokens of a text that cost at most so many nano-dollars at each candidate. */
  #affordable(nanoUsd: number): number {
    const caps = this.#items.map(({ isUncapped, amountAt }) => {
      const base = amountAt(0)
      const perToken = (amountAt(MEASURED) - base) / MEASURED
      return !isUncapped || perToken === 0 ? Number.POSITIVE_INFINITY : Math.floor((nanoUsd - base - 1) / perToken)
    })
    return Math.max(0, Math.min(...caps))
  }
}

/** So many tokens tell the price of one. */
const MEASURED = 1_000_000

/** Prompt and answer must fit into the context window; a model does not write more than its own maximum. */
const capOfItem = ({ limits, input }: Item, cap: number): number =>
  Math.max(LEAST_CAP, Math.min(cap, limits.output, limits.context - input))

/** The bill of a call. `counted`: the tokens of its body, if they have been counted. */
function billOf(request: BudgetedCall, counted?: number): Bill {
  return new Bill(
    request,
    candidatesOf(request.route.leads).map((candidate) => itemOf(candidate, request, counted)),
  )
}

function itemOf(candidate: Candidate, request: BudgetedCall, counted: number | undefined): Item {
  const { call, prices, hasHostedTools } = request
  const { target, defaults } = candidate
  const filled = defaults === undefined ? call : withDefaults(call, defaults)
  const priced = pricedCall(candidate, call)
  const unpriced = prices.unpricedService(target.served, priced)
  if (unpriced !== undefined) throw new PriceUnknown(request, { model: target.id, ...describe(unpriced) })
  const limits = prices.limitsOf(target.served)
  const { picture, context } = limits
  // What the vendor's tools find is part of the prompt: they may fill all of the window.
  const [found, kept] = hasHostedTools ? [context, 0] : [0, context]
  const input = inputEstimate(call, { picture, files: context, kept }, counted) + found
  const silent = !asksForSound(filled)
  return {
    candidate,
    limits,
    input,
    isUncapped: takesCap(call) && capOf(filled) === undefined,
    amountAt(cap) {
      const output = answerEstimate(filled, takesCap(call) ? cap : Number.POSITIVE_INFINITY)
      const charge = prices.highestCharge(target.served, { input, output, silent }, priced)
      if (charge === undefined) throw new PriceUnknown(request, { param: 'model', model: target.id, detail: '' })
      return charge
    },
  }
}

/** The call whose members decide on its price: the client's own, with the defaults of the target. */
function pricedCall({ defaults }: Candidate, call: Call): Call {
  const client = formsOf(call)?.unedited ?? call
  return defaults === undefined ? client : withDefaults(client, defaults)
}

const describe = ({ member, value }: Unpriced): { readonly param: string; readonly detail: string } => ({
  param: member,
  detail: ` with \`${member}: ${JSON.stringify(value.slice(0, 100))}\``,
})

/** The refusal of a call since a target of its route has no price. */
export class PriceUnknown extends GatewayError {
  /** The ids of all targets without one. */
  readonly targets: readonly string[]

  constructor({ call, route, prices }: BudgetedCall, { param, model, detail }: { param: string; model: string; detail: string }) {
    super('price_unknown', { param, values: { model, detail } })
    const unpriced = candidatesOf(route.leads).filter((candidate) => {
      const { served } = candidate.target
      const priced = pricedCall(candidate, call)
      const isServiceUnpriced = prices.unpricedService(served, priced) !== undefined
      return isServiceUnpriced || prices.highestCharge(served, LEAST, priced) === undefined
    })
    this.targets = unpriced.map(({ target }) => target.id)
  }
}

/** Enough to ask whether there is a price. */
const LEAST = { input: 1, output: 1, silent: true }

interface ChargeParts {
  readonly charges: readonly Charge[]
  readonly bill: Bill
  /** Of the call's answer, if it has none of its own. */
  readonly cap: number
  /** Gives back what the call holds of the share of its key. */
  end(): void
}

function chargeOf(taken: Taken, { charges, bill, cap, end }: ChargeParts): BudgetCharge {
  return {
    capFor: (candidate) => bill.capFor(candidate, cap),
    promptFor: (target) => bill.promptFor(target),
    keep: end,
    settle({ usage, cost, usageEstimated }) {
      end()
      // The cost of usage that has no price after all is unknown, and so is that of speech without a report: the charge stays.
      if (usage !== undefined && (cost === undefined || (usageEstimated && bill.isSpeech))) return
      for (const index of charges.keys()) taken.correct(index, cost?.nanoUsd ?? 0)
    },
  }
}

interface Amounts {
  readonly left: number
  /** What the calls under way of the key may hold together, if that is too little. */
  readonly share?: number
  /** What the call may cost. */
  readonly amount: number
}

function refusal(
  { call }: BudgetedCall,
  { owner, limit, window }: BudgetCounter,
  { left, share, amount }: Amounts,
): GatewayError {
  const budget: MoneyBudget = { nanoUsd: limit, per: window.unit }
  const renewsAt = new Date(boundsOf(window, Date.now()).end).toISOString()
  const detail =
    `You exceeded your current quota: of the budget of your ${owner.kind}, ${formatBudget(budget)}, ${formatUsd(left)} USD is left, ` +
    (share === undefined ? '' : `of which the calls under way of one key may hold ${formatUsd(Math.floor(share))} USD, `) +
    `and this call to \`${call.model.id}\` may cost up to ${formatUsd(amount)} USD. The budget renews at ${renewsAt}. ` +
    'Until then, ask for a shorter answer, use a cheaper model, or ask the operator for a larger budget.'
  return new GatewayError('budget_exhausted', { values: { detail } })
}
