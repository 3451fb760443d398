import { createHistogram } from 'node:perf_hooks'
import { type Linked, LinkedList } from './linked-list.ts'

/** How the members of a `WatchedList` are looked at. Times are milliseconds. */
export interface WatchOptions<Member> {
  /** How old new members are at least, and how often new ones are looked for: those that leave sooner never are looked at. */
  readonly newAfter: number
  /** How often all members are looked at. */
  readonly allEvery: number
  /** When a member came, in monotonic milliseconds. */
  since(member: Member): number
  look(member: Member, now: number): void
}

/** A list of what comes and goes, whose members are looked at from time to time by one timer. An empty list has no timer. */
export class WatchedList<Member extends Linked> extends LinkedList<Member> {
  readonly #options: WatchOptions<Member>
  #timer: NodeJS.Timeout | undefined
  /** Monotonic milliseconds: when the timer is due, when new members were looked for, and when all are to be looked at. */
  #dueAt = Number.POSITIVE_INFINITY
  #lookedAt = 0
  #allAt = 0

  constructor(options: WatchOptions<Member>) {
    super()
    this.#options = options
  }

  override add(member: Member): void {
    super.add(member)
    const due = performance.now() + this.#options.newAfter
    if (due < this.#dueAt) this.#wait(due, this.#options.newAfter)
  }

  /** Looks at no more members. */
  close(): void {
    clearTimeout(this.#timer)
    this.#dueAt = Number.NEGATIVE_INFINITY
  }

  #wait(until: number, ms: number): void {
    clearTimeout(this.#timer)
    this.#dueAt = until
    this.#timer = setTimeout(() => this.#look(), ms).unref()
  }

  #look(): void {
    const { newAfter, allEvery, since, look } = this.#options
    const now = performance.now()
    const isAll = now >= this.#allAt
    if (isAll) this.#allAt = now + allEvery
    let hasNew = false
    // The newest first, until those that were old enough the last time.
    for (const member of this) {
      const from = since(member)
      if (!isAll && this.#lookedAt - from >= newAfter) break
      if (now - from >= newAfter) look(member, now)
      else hasNew = true
    }
    this.#lookedAt = now
    if (hasNew) this.#wait(now + newAfter, newAfter)
    else if (this.first !== undefined) this.#wait(this.#allAt, this.#allAt - now)
    else this.#dueAt = Number.POSITIVE_INFINITY
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

  /** Without effect on what is not a member. */
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
  /** The number of the last iteration with an item that did not wait. */
  #iteration = -1

  /** `process` must not throw. */
  constructor(process: (item: Item) => void) {
    this.#process = process
  }

  add(item: Item): void {
    this.#items.push(item)
    this.#immediate ??= setImmediate(() => this.#flush())
  }

  /**
   * As `add`, but the first item of an iteration does not wait until all sockets were read: few iterations of a gateway with little to do have a
   * second one. It is processed when the callback that brought it ends.
   */
  expedite(item: Item): void {
    const { loopCount } = performance.nodeTiming.uvMetricsInfo
    if (loopCount === this.#iteration || this.#immediate !== undefined) this.add(item)
    else {
      this.#iteration = loopCount
      process.nextTick(this.#process, item)
    }
  }

  #flush(): void {
    this.#immediate = undefined
    const items = this.#items
    this.#items = []
    for (const item of items) this.#process(item)
  }
}

/** Milliseconds between two measurements, each of which wakes up the process. */
const PERIOD_MS = 20

/** The lags since this was reset last, in nanoseconds. Whoever reads it resets it. */
export const recentLags = createHistogram()
/** The number of all measurements, and the sum of their lags in milliseconds. */
let total = { count: 0, sum: 0 }
let watchers = 0
let timer: NodeJS.Timeout | undefined
let measuredAt = 0

/** Measures how late the event loop of this process is, until `stop` is called: a process at rest is left alone. */
export class EventLoopLag {
  #last = total

  constructor() {
    if (++watchers > 1) return
    measuredAt = performance.now()
    timer = setInterval(measure, PERIOD_MS).unref()
  }

  /** The mean since this was called last, in milliseconds; 0 without a measurement. */
  mean(): number {
    const { count, sum } = this.#last
    this.#last = total
    return total.count === count ? 0 : (total.sum - sum) / (total.count - count)
  }

  /** Once. */
  stop(): void {
    if (--watchers === 0) clearInterval(timer)
  }
}

function measure(): void {
  const now = performance.now()
  const lag = Math.max(0, now - measuredAt - PERIOD_MS)
  measuredAt = now
  total = { count: total.count + 1, sum: total.sum + lag }
  recentLags.record(Math.max(1, Math.round(lag * 1e6)))
}
