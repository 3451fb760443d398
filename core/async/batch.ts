/**
 * Collects items of one kind during one iteration of the event loop, and processes them together after all sockets of that iteration
 * were read. Much of the cost of a call is loading code and data that other work has evicted from the processor's caches, and waking
 * up the peer of a socket: a batch pays both once. No item waits for later ones: the batch runs before the event loop polls again.
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
    this.#immediate ??= setImmediate(() => this.flush())
  }

  /** Processes the items added so far. */
  flush(): void {
    clearImmediate(this.#immediate)
    this.#immediate = undefined
    const items = this.#items
    this.#items = []
    for (const item of items) this.#process(item)
  }
}
