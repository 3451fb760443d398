import type { BudgetCharge, Candidate } from '../limits/budgets.ts'
import { sumOfCosts } from '../limits/prices/price.ts'
import type { PriceList } from '../limits/prices/price-list.ts'
import { sumOfUsage, usageOf } from '../protocol/usage.ts'
import type { ChargedTokens } from '../protocol/usage-report.ts'
import type { AttemptRecord, Call, Cost, Outcome, Principal, Served, Usage } from '../sdk/api.ts'
import type { CallJournal } from '../usage/call-journal.ts'
import type { ServedCall } from '../usage/served-call.ts'

/** What an attempt has used, and what it costs; undefined if that is not known. */
export type AttemptCharge = ChargedTokens & { readonly cost: Cost | undefined }

/** An upstream bills what it has generated, also if its attempt failed and another one served the call. */
const sumOfCharges = (first: AttemptCharge, second: AttemptCharge): AttemptCharge => ({
  usage: sumOfUsage(first.usage, second.usage),
  estimated: first.estimated || second.estimated,
  isPromptEstimated: first.isPromptEstimated || second.isPromptEstimated,
  isUnfinished: first.isUnfinished || second.isUnfinished,
  cost: sumOfCosts(first.cost, second.cost),
})

/** An attempt that has ended, or is cut off: its tokens, and the call as its upstream got it. */
export interface ChargedAttempt {
  readonly record: AttemptRecord
  readonly tokens: ChargedTokens
  readonly call: Call
}

/** An attempt under way. */
export interface CuttableAttempt {
  /** As if the process had been killed at `now`. Undefined if it would not be charged. */
  cutOff(now: number): ChargedAttempt | undefined
}

/** The services that charge calls. */
export interface ChargeServices {
  readonly prices: Pick<PriceList, 'costOf' | 'chargeOf'>
  /** Where calls are noted as soon as their cost is known. */
  readonly journal: CallJournal | undefined
}

/** How much of a stream has no line in the journal if its process is killed, in milliseconds. */
const NOTE_AGAIN_MS = 1000

/** The call that is charged: as the journal notes it. */
export interface ChargeOwner extends ServedCall {
  readonly principal: Principal | undefined
}

/** What one call costs its caller: reserved of its budgets, counted attempt by attempt, settled at its end. */
export class CallCharge {
  readonly #owner: ChargeOwner
  readonly #services: ChargeServices
  #budget: BudgetCharge | undefined
  #total: AttemptCharge | undefined
  /** When the journal has last noted the attempt under way, in monotonic milliseconds; undefined if it never has. */
  #notedAt: number | undefined

  constructor(owner: ChargeOwner, services: ChargeServices) {
    this.#owner = owner
    this.#services = services
  }

  /** The tokens of all attempts that used some, and what they cost. */
  get total(): AttemptCharge | undefined {
    return this.#total
  }

  /** The call pays by what was reserved of the budgets of its caller. */
  payBy(budget: BudgetCharge | undefined): void {
    this.#budget = budget
  }

  /** Reserves for one more attempt, unless what is reserved pays for it too. Rejects with the refusal of a budget. */
  async extend(candidate: Candidate): Promise<void> {
    await this.#budget?.extend(candidate, this.#total?.cost)
  }

  /** Counts an attempt that has ended. `tokens`: undefined if it is not charged. */
  count(record: AttemptRecord, tokens: ChargedTokens | undefined, call: Call): void {
    if (tokens !== undefined) this.#total = this.#with({ record, tokens, call })
    // Also to replace the estimate of an attempt that in the end used none.
    if (tokens !== undefined || this.#notedAt !== undefined) this.#services.journal?.note(this.#owner, record, this.#total)
  }

  /** Notes what an attempt under way would be charged if this process were killed at `now`: again after a second. */
  note(running: CuttableAttempt, now: number): void {
    if (this.#notedAt !== undefined && now - this.#notedAt < NOTE_AGAIN_MS) return
    const attempt = running.cutOff(now)
    if (attempt === undefined) return
    this.#notedAt = now
    this.#services.journal?.note(this.#owner, attempt.record, this.#with(attempt))
  }

  /** What was noted is in the journal: before the client has the end of its stream. */
  flush(): void {
    this.#services.journal?.flush()
  }

  /** Replaces what was reserved by what the call has cost. */
  settle(outcome: Partial<Pick<Outcome, 'usage' | 'cost'>>): void {
    // What an upstream will have made in the end is not known: all that was reserved stays.
    if (this.#total?.isUnfinished) this.#budget?.keep()
    else this.#budget?.settle(outcome)
  }

  /** The charge of the call so far, with that of an attempt. */
  #with(attempt: ChargedAttempt): AttemptCharge {
    const { record, tokens, call } = attempt
    const usage = this.#usageOf(attempt)
    const charge = { ...tokens, usage, cost: this.#costOf(record, usage, call, tokens.served) }
    return this.#total === undefined ? charge : sumOfCharges(this.#total, charge)
  }

  /**
   * Of an answer that broke off or was left, the upstream has read the whole prompt, and says nothing of it: a budget pays for the media in
   * it as reserved, and so for pictures and sound of which the upstream does not say what they have used. Upstreams that report no usage in a
   * complete text are estimated as ever.
   */
  #usageOf({ record, tokens: { usage, isPromptEstimated, unreported } }: ChargedAttempt): Usage {
    const isPromptReserved = isPromptEstimated && record.result !== 'ok'
    if (!isPromptReserved && unreported === undefined) return usage
    const reserved = this.#budget?.reservedFor(record)
    if (reserved === undefined) return usage
    const prompt = isPromptReserved ? Math.max(reserved.prompt, usage.prompt_tokens) : usage.prompt_tokens
    const isMadeReserved = unreported !== undefined && reserved.made > usage.completion_tokens
    const answer = isMadeReserved ? reserved.made : usage.completion_tokens
    return { ...usage, ...usageOf(prompt, answer, isMadeReserved ? unreported : undefined) }
  }

  #costOf(served: Served, usage: Usage, call: Call, variants: ChargedTokens['served']): Cost | undefined {
    const { prices } = this.#services
    return this.#owner.principal?.budgets === undefined
      ? prices.costOf(served, usage, call, variants)
      : prices.chargeOf(served, usage, call, variants)
  }
}
