import { type Linked, LinkedList } from './linked-list.ts'

/** Something with a deadline. */
export interface TickListener extends Linked {
  /** Called at every tick. `now`: monotonic milliseconds. It may end its being watched. */
  onTick(now: number): void
}

/**
 * One timer for many deadlines, which hardly ever pass: a timer of its own for each would cost every call more than what it is there
 * for. A deadline is noticed at the next tick.
 */
export class Ticker<Member extends TickListener> {
  readonly #tickMs: number
  readonly #members = new LinkedList<Member>()
  #timer: NodeJS.Timeout | undefined

  constructor(tickMs: number) {
    this.#tickMs = tickMs
  }

  add(member: Member): void {
    this.#members.add(member)
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMs).unref()
  }

  /** Once for each member added. */
  remove(member: Member): void {
    this.#members.remove(member)
  }

  #tick(): void {
    const now = performance.now()
    let some = false
    for (const member of this.#members) {
      some = true
      member.onTick(now)
    }
    if (some) return
    // An idle process sleeps.
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
