/** A member of a `LinkedList`: it holds the references to its neighbours. */
export interface Linked {
  previous: this | undefined
  next: this | undefined
}

/**
 * An intrusive doubly linked list: adding and removing write four references and allocate nothing. A `Set` that every call enters and
 * leaves abandons outgrown tables, and V8's young-generation collector keeps all that they reference
 * (docs/decisions/linked-lists-of-calls.md).
 */
export class LinkedList<Member extends Linked> {
  #first: Member | undefined
  #last: Member | undefined

  /** The oldest. */
  get first(): Member | undefined {
    return this.#first
  }

  add(member: Member): void {
    member.previous = this.#last
    if (this.#last !== undefined) this.#last.next = member
    else this.#first = member
    this.#last = member
  }

  /** Must be called once for each added member. */
  remove(member: Member): void {
    const { previous, next } = member
    if (previous !== undefined) previous.next = next
    else this.#first = next
    if (next !== undefined) next.previous = previous
    else this.#last = previous
    member.previous = undefined
    member.next = undefined
  }

  /** The newest first. A member may be removed during the iteration. */
  *[Symbol.iterator](): Generator<Member> {
    for (let member = this.#last; member !== undefined; ) {
      const next = member.previous
      yield member
      member = next
    }
  }
}

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

/**
 * Collects items of one kind during one iteration of the event loop, and processes them together after all sockets of that iteration
 * were read. Much of the cost of a call is loading code and data that other work has evicted from the processor's caches, and waking
 * up the peer of a socket: a batch pays both once. No item waits for later ones: the batch runs before the event loop polls again
 * (docs/decisions/turns-of-the-event-loop.md).
 */
export class Batch<Item> {
  readonly #process: (item: Item) => void
  #items: Item[] = []
  #immediate: NodeJS.Immediate | undefined

  /** `process` must not throw. */
  constructor(process: (item: Item) => void) {
    this.#process = process
  }

  add(item: Item): void {
    this.#items.push(item)
    this.#immediate ??= setImmediate(() => this.#flush())
  }

  #flush(): void {
    this.#immediate = undefined
    const items = this.#items
    this.#items = []
    for (const item of items) this.#process(item)
  }
}
