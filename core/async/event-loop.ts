/** A member of a `LinkedList`: it holds the references to its neighbours. */
export interface Linked {
  previous: this | undefined
  next: this | undefined
}

/**
 * An intrusive doubly linked list: adding and removing write four references and allocate nothing. A `Set` that every call enters and
 * leaves abandons outgrown tables, and V8's young-generation collector keeps all that they reference
 * (docs/decisions/hot-path.md).
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

/** A member of `Deadlines`. */
export interface Expiring extends Linked {
  /** Monotonic milliseconds; `Infinity`: none at present. */
  readonly deadline: number
  /** Called when the deadline has passed; perhaps again, until the deadline is later or the member removed. */
  onDeadline(): void
}

/** The longest time of a timer of Node, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * One timer for many deadlines. Most never pass: one timer each would cost every call more than the work that it guards. The
 * members are looked at when the earliest deadline that was known has passed, so that a member whose deadline becomes later, such as
 * that of a stream that goes on, costs nothing.
 */
export class Deadlines<Member extends Expiring> {
  readonly #toleranceMs: number
  readonly #members = new LinkedList<Member>()
  #timer: NodeJS.Timeout | undefined
  /** When the timer is due. */
  #checkedAt = Number.POSITIVE_INFINITY

  /** `toleranceMs`: by how much a passed deadline may be noticed late. */
  constructor(toleranceMs: number) {
    this.#toleranceMs = toleranceMs
  }

  add(member: Member): void {
    this.#members.add(member)
    this.expect(member.deadline)
  }

  /** Must be called once for each added member. */
  remove(member: Member): void {
    this.#members.remove(member)
  }

  /** Must be called when the deadline of a member may have become earlier. */
  expect(deadline: number): void {
    if (deadline >= this.#checkedAt) return
    clearTimeout(this.#timer)
    this.#checkedAt = deadline
    const ms = Math.min(Math.max(deadline - performance.now(), this.#toleranceMs), MAX_TIMER_MS)
    this.#timer = setTimeout(() => this.#check(), ms).unref()
  }

  #check(): void {
    const now = performance.now()
    this.#checkedAt = Number.POSITIVE_INFINITY
    let earliest = Number.POSITIVE_INFINITY
    for (const member of this.#members) {
      if (member.deadline <= now) member.onDeadline()
      else if (member.deadline < earliest) earliest = member.deadline
    }
    this.expect(earliest)
  }
}

/**
 * Collects items of one kind during one iteration of the event loop, and processes them together after all sockets of that iteration
 * were read. Much of the cost of a call is loading code and data that other work has evicted from the processor's caches, and waking
 * up the peer of a socket: a batch pays both once. No item waits for later ones: the batch runs before the event loop polls again
 * (docs/decisions/hot-path.md).
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
