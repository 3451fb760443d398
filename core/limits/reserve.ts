import {
  answerEstimate,
  type Call,
  type Host,
  type InputBounds,
  inputEstimate,
  isWorthCounting,
  type LimitScope,
  type Rate,
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
  readonly #more: Part[] = []
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
    this.#more.push(part)
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
