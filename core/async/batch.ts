/**
 * Work of one kind that a turn of the event loop brings, done in a row once all sockets of that turn were read. Much of what a call
 * costs is fetching code and data that other work has pushed out of the processor's caches, and waking up who is at the other end of
 * a socket: in a row both are paid once. Nothing waits for more to come: the row is done before the process looks for more, or sleeps.
 */
export class Batch<Item> {
  readonly #work: (item: Item) => void
  #waiting: Item[] = []
  #due: NodeJS.Immediate | undefined

  /** `work` must not throw. */
  constructor(work: (item: Item) => void) {
    this.#work = work
  }

  add(item: Item): void {
    this.#waiting.push(item)
    this.#due ??= setImmediate(() => this.flush())
  }

  /** Does what has come by now. */
  flush(): void {
    clearImmediate(this.#due)
    this.#due = undefined
    const items = this.#waiting
    this.#waiting = []
    for (const item of items) this.#work(item)
  }
}
