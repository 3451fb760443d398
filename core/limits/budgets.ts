import { GatewayError } from '../errors.ts'
import { withDefaults } from '../protocol/call.ts'
import { asSent } from '../protocol/translation.ts'
import {
  answerEstimate,
  asksForSound,
  type Budget,
  BYTES_PER_TOKEN,
  type Call,
  type Cost,
  capOf,
  countPrompt,
  formatUsd,
  inputEstimate,
  type Outcome,
  type Principal,
  type Served,
  takesCap,
  UNCAPPED_ANSWER,
} from '../sdk/api.ts'
import { formatBudget } from '../text/budgets.ts'
import { type BudgetCounter, budgetCounters } from './budget-counters.ts'
import { KeyShares } from './key-shares.ts'
import type { Debit, Leases, Refusal, Taken } from './leases.ts'
import { toGatewayError } from './limits.ts'
import type { Unpriced } from './prices/price.ts'
import type { ModelLimits, PriceList } from './prices/price-list.ts'
import { andThen, CallReservation, type Counting, type Part, reserve } from './reserve.ts'
import { boundsOf } from './window.ts'

/** A target, as far as its price depends on it. */
export interface Candidate {
  readonly target: { readonly id: string; readonly served: Served }
  readonly defaults: Readonly<Record<string, unknown>> | undefined
}

/** A call whose caller has budgets. */
export interface BudgetedCall {
  readonly call: Call
  readonly principal: Principal
  /** All targets that may serve it. */
  readonly candidates: readonly Candidate[]
  readonly prices: Pick<PriceList, 'highestCharge' | 'limitsOf' | 'unpricedService'>
  /** Whether the vendor runs tools for it, whose results are part of the prompt. */
  readonly hasHostedTools: boolean
  readonly settings: { readonly timeZone: string; readonly onOutage: Debit['onOutage'] }
}

/** Tokens that were reserved. */
export interface ReservedTokens {
  /** Of a prompt in usual words: with its media, and what the upstream adds. */
  readonly prompt: number
  /** Of pictures or sound that are made: no cap bounds them. */
  readonly made: number
}

/** What names a target. */
type Target = Pick<Served, 'namespace' | 'model'>

/** Undefined: the call is free. */
type Reserved = BudgetReservation | undefined

/** What is reserved, or the refusal if a budget has too little left. */
type Answer = Reserved | GatewayError

/** Reserves for calls what they may cost, of the budgets of their callers. */
export class Budgets {
  readonly #leases: Pick<Leases, 'take' | 'view'>
  readonly #counting: Counting
  readonly #shares = new KeyShares()

  constructor(leases: Pick<Leases, 'take' | 'view'>, counting: Counting) {
    this.#leases = leases
    this.#counting = counting
  }

  /**
   * Reserves the most that a call may cost, of every budget of its caller or of none. Undefined: the call is free. Synchronous while the
   * leases suffice. Throws and rejects with `budget_exhausted`, `price_unknown` or `limits_unavailable`.
   */
  reserve(request: BudgetedCall): Reserved | Promise<Reserved> {
    const answer = reserve<Answer>({
      take: (prompt) => this.#takeBill(billOf(request, prompt)),
      mayCountAdmit: (refused) => refused instanceof GatewayError && this.#mayPayFor(billOf(request, 0)),
      count: () => countPrompt(request.call, this.#counting),
    })
    return andThen(answer, orThrow)
  }

  /** Whether what is left pays for a call with the shortest answer. */
  #mayPayFor(bill: Bill): boolean {
    return bill.amountAt(LEAST_CAP) <= this.#leastOf(bill)
  }

  /** What is left is known by the last answer of the authority: after a refusal, a smaller cap may fit. */
  #takeBill(bill: Bill): Answer | Promise<Answer> {
    const first = this.#take(bill)
    return bill.isUncapped ? andThen(first, (taken) => (taken instanceof GatewayError ? this.#take(bill) : taken)) : first
  }

  #take(bill: Bill): Answer | Promise<Answer> {
    const cap = bill.isUncapped ? bill.capWithin(this.#leastOf(bill)) : 0
    const amount = bill.amountAt(cap)
    if (amount === 0) return undefined
    return andThen(this.#takePart(bill, amount), (part) =>
      part instanceof GatewayError
        ? part
        : new BudgetReservation(bill, cap, new CallReservation(part, amount), (more, spent) => this.#takePart(bill, more, spent)),
    )
  }

  /** Takes an amount of all budgets of a caller, or of none. `spent`: what failed attempts have cost, if the amount is for another one. */
  #takePart(bill: Bill, amount: number, spent?: number): Part | GatewayError | Promise<Part | GatewayError> {
    const { principal, settings } = bill.request
    const counters = this.#countersOf(bill)
    const leftOf = (counter: BudgetCounter): number => this.#leftOf(counter)
    const end = this.#shares.hold(counters, principal.firstKeyId ?? principal.keyId, amount, leftOf)
    if (typeof end !== 'function')
      return refusal(bill.request, end.counter, { left: leftOf(end.counter), share: end.share, amount, spent })
    const partOf = (taken: Taken | Refusal): Part | GatewayError => {
      if (!('refused' in taken)) return new BudgetPart(taken, counters.length, end)
      end()
      const counter = taken.refused.counter as BudgetCounter
      return refusal(bill.request, counter, { left: leftOf(counter), amount, spent })
    }
    const taken = this.#leases.take(counters.map((counter) => ({ counter, amount, onOutage: settings.onOutage })))
    if (!(taken instanceof Promise)) return partOf(taken)
    return taken.then(partOf, (error: unknown) => {
      end()
      return toGatewayError(error)
    })
  }

  #countersOf({ request: { principal, settings } }: Bill): readonly BudgetCounter[] {
    return budgetCounters(principal, settings.timeZone)
  }

  /** What is left of the budget that has the least. */
  #leastOf(bill: Bill): number {
    return Math.min(...this.#countersOf(bill).map((counter) => this.#leftOf(counter)))
  }

  #leftOf(counter: BudgetCounter): number {
    return this.#leases.view(counter).remaining
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
  readonly reserved: ReservedTokens
  /** Whether neither the call nor its route says how much the candidate may write. */
  readonly isUncapped: boolean
  /** Nano-dollars if a text has at most so many tokens. `prompt`: its tokens; absent: the most that it can have. */
  amountAt(cap: number, prompt?: number): number
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

  /** The most nano-dollars, with this cap where there is no other. */
  amountAt(cap: number): number {
    return Math.max(...this.#items.map((item) => item.amountAt(item.isUncapped ? capOfItem(item, cap) : 0)))
  }

  /** The most nano-dollars that one attempt at a candidate costs. */
  amountFor(candidate: Candidate, cap: number): number {
    const item = this.#itemOf(candidate)
    return item.amountAt(item.isUncapped ? capOfItem(item, cap) : 0)
  }

  /** The cap for a caller who has so many nano-dollars left: by a share of them, or, if that is little, by all. */
  capWithin(left: number): number {
    const usual = this.#affordable(left * SHARE, ({ reserved }) => reserved.prompt)
    const cap = Math.max(usual, Math.min(UNCAPPED_ANSWER, this.#affordable(left)))
    return Math.max(cap, LEAST_CAP)
  }

  /** What a candidate may write if the cap of the call is this. */
  capFor(candidate: Candidate, cap: number): number {
    return capOfItem(this.#itemOf(candidate), cap)
  }

  reservedFor({ namespace, model }: Target): ReservedTokens | undefined {
    const isAsked = ({ candidate: { target } }: Item) => target.served.namespace === namespace && target.served.model === model
    return this.#items.find(isAsked)?.reserved
  }

  #itemOf(candidate: Candidate): Item {
    return this.#items.find((item) => item.candidate === candidate)!
  }

  /** The most tokens of a text that cost at most so many nano-dollars at each candidate. `promptOf`: the tokens of its prompt; absent: the most. */
  #affordable(nanoUsd: number, promptOf?: (item: Item) => number): number {
    const caps = this.#items.map((item) => {
      const { isUncapped, amountAt } = item
      const prompt = promptOf?.(item)
      const base = amountAt(0, prompt)
      const perToken = (amountAt(MEASURED, prompt) - base) / MEASURED
      return !isUncapped || perToken === 0 ? Number.POSITIVE_INFINITY : Math.floor((nanoUsd - base - 1) / perToken)
    })
    return Math.max(0, Math.min(...caps))
  }
}

/** No token has fewer bytes of text: rare characters have a token for each of their bytes. */
const LEAST_BYTES = 1

/** So many tokens tell the price of one. */
const MEASURED = 1_000_000

/** Prompt and answer must fit into the context window; a model does not write more than its own maximum. */
const capOfItem = ({ limits, reserved }: Item, cap: number): number =>
  Math.max(LEAST_CAP, Math.min(cap, limits.output, limits.context - reserved.prompt))

/** The bill of a call. `counted`: the tokens of its body, if they have been counted. */
function billOf(request: BudgetedCall, counted?: number): Bill {
  return new Bill(
    request,
    request.candidates.map((candidate) => itemOf(candidate, request, counted)),
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
  const inputAt = (bytesPerToken: number): number =>
    inputEstimate(call, { bytesPerToken, picture, files: context, kept }, counted) + found
  const most = inputAt(LEAST_BYTES)
  const silent = !asksForSound(filled)
  return {
    candidate,
    limits,
    reserved: {
      prompt: inputAt(BYTES_PER_TOKEN),
      made: takesCap(call) ? 0 : answerEstimate(filled, Number.POSITIVE_INFINITY),
    },
    isUncapped: takesCap(call) && capOf(filled) === undefined,
    amountAt(cap, input = most) {
      const output = answerEstimate(filled, takesCap(call) ? cap : Number.POSITIVE_INFINITY)
      const charge = prices.highestCharge(target.served, { input, output, silent }, priced)
      if (charge === undefined) throw new PriceUnknown(request, { param: 'model', model: target.id, detail: '' })
      return charge
    },
  }
}

/** The call whose members decide on its price: the client's own, with the defaults of the target. */
const pricedCall = ({ defaults }: Candidate, call: Call): Call => withDefaults(asSent(call), defaults)

const describe = ({ member, value }: Unpriced): { readonly param: string; readonly detail: string } => ({
  param: member,
  detail: ` with \`${member}: ${JSON.stringify(value.slice(0, 100))}\``,
})

/** The refusal of a call since a target of its route has no price. */
export class PriceUnknown extends GatewayError {
  /** The ids of all targets without one. */
  readonly targets: readonly string[]

  constructor(
    { call, candidates, prices }: BudgetedCall,
    { param, model, detail }: { param: string; model: string; detail: string },
  ) {
    super('price_unknown', { param, values: { model, detail } })
    const unpriced = candidates.filter((candidate) => {
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

/** An amount that a call has taken of the budgets of its caller. */
class BudgetPart implements Part {
  readonly #taken: Taken
  readonly #budgets: number
  readonly #end: () => void

  /** `budgets`: how many there are. `end`: gives back what the call holds of the share of its key. */
  constructor(taken: Taken, budgets: number, end: () => void) {
    this.#taken = taken
    this.#budgets = budgets
    this.#end = end
  }

  settle(nanoUsd: number | undefined): void {
    this.#end()
    if (nanoUsd === undefined) return
    for (let index = 0; index < this.#budgets; index++) this.#taken.correct(index, nanoUsd)
  }

  cancel(): void {
    this.settle(0)
  }
}

/** What a call has reserved of the budgets of its caller: the worst that it can cost, and more for each attempt after one that was billed. */
export class BudgetReservation {
  readonly #bill: Bill
  /** Of the call's answer, if it has none of its own. */
  readonly #cap: number
  readonly #reservation: CallReservation
  readonly #take: (amount: number, spent: number) => Part | GatewayError | Promise<Part | GatewayError>

  /** `take`: takes more. `spent`: what failed attempts have cost. */
  constructor(
    bill: Bill,
    cap: number,
    reservation: CallReservation,
    take: (amount: number, spent: number) => Part | GatewayError | Promise<Part | GatewayError>,
  ) {
    this.#bill = bill
    this.#cap = cap
    this.#reservation = reservation
    this.#take = take
  }

  /** The most tokens of an answer that a candidate may write, if neither the call nor its route says how many. */
  capFor(candidate: Candidate): number {
    return this.#bill.capFor(candidate, this.#cap)
  }

  /** The tokens that were reserved for a target; undefined for other targets. */
  reservedFor(target: Target): ReservedTokens | undefined {
    return this.#bill.reservedFor(target)
  }

  /**
   * Reserves in addition what another attempt may cost, unless what is reserved pays for it and for those before. `cost`: of those; undefined:
   * unknown. Rejects with `budget_exhausted` or `limits_unavailable`.
   */
  extend(candidate: Candidate, cost: Pick<Cost, 'nanoUsd'> | undefined): Promise<void> {
    // What is unknown may be all that is reserved so far.
    const spent = cost?.nanoUsd ?? this.#reservation.amount
    const next = this.#bill.amountFor(candidate, this.#cap)
    return this.#reservation.extend(spent, next, async (missing) => orThrow(await this.#take(missing, spent)))
  }

  /** All stays reserved: what the call will have cost is not known. */
  keep(): void {
    this.#reservation.settle(undefined)
  }

  /** Puts what the call has cost in the place of what is reserved. All stays if its usage has no price after all. */
  settle({ usage, cost }: Partial<Pick<Outcome, 'usage' | 'cost'>>): void {
    this.#reservation.settle(usage !== undefined && cost === undefined ? undefined : (cost?.nanoUsd ?? 0))
  }
}

function orThrow<Taken>(answer: Taken | GatewayError): Taken {
  if (answer instanceof GatewayError) throw answer
  return answer
}

interface Amounts {
  readonly left: number
  /** What the calls under way of the key may hold together, if that is too little. */
  readonly share?: number
  /** What the call, or another attempt of it, may cost. */
  readonly amount: number
  /** What failed attempts of the call have cost. */
  readonly spent: number | undefined
}

function refusal(
  { call }: BudgetedCall,
  { owner, limit, window }: BudgetCounter,
  { left, share, amount, spent }: Amounts,
): GatewayError {
  const budget: Budget = { nanoUsd: limit, per: window.unit }
  const now = Date.now()
  const { end } = boundsOf(window, now)
  const detail =
    `You exceeded your current quota: of the budget of your ${owner.kind}, ${formatBudget(budget)}, ${formatUsd(left)} USD is left, ` +
    (share === undefined ? '' : `of which the calls under way of one key may hold ${formatUsd(Math.floor(share))} USD, `) +
    (spent === undefined
      ? `and this call to \`${call.model.id}\` may cost up to `
      : `and after an attempt that failed and cost ${formatUsd(spent)} USD, another one for this call to \`${call.model.id}\` may need `) +
    `${formatUsd(amount)} USD. The budget renews at ${new Date(end).toISOString()}. ` +
    'Until then, ask for a shorter answer, use a cheaper model, or ask the operator for a larger budget.'
  // opencode repeats any 429, but not before this time.
  const headers = { 'retry-after': String(Math.ceil((end - now) / 1000)) }
  return new GatewayError('budget_exhausted', { values: { detail }, headers })
}
