import { type Linked, LinkedList } from './linked-list.ts'

/** A member of a `Ticker`, with a deadline. */
export interface TickListener extends Linked {
  /** Called at every tick. `now`: monotonic milliseconds. It may remove itself from the ticker. */
  onTick(now: number): void
}

/**
 * One timer for many deadlines, most of which never expire: one timer each would cost every call more than the work that it guards.
 * An expired deadline is noticed at the next tick.
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

  /** Must be called once for each added member. */
  remove(member: Member): void {
    this.#members.remove(member)
  }

  #tick(): void {
    const now = performance.now()
    let empty = true
    for (const member of this.#members) {
      empty = false
      member.onTick(now)
    }
    if (!empty) return
    // An idle process has no timer.
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
