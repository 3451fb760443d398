import { withTimeout } from './timeout.ts'

/** The options of a `Flusher`. Times are milliseconds. */
export interface FlusherOptions<Item> {
  /** Items in one batch. A full batch is written at once. */
  readonly maxBatch: number
  /** Items in memory. Further ones are dropped. */
  readonly maxWaiting: number
  /** How long an item waits for others. */
  readonly delayMs: number
  /** The pause after a batch that could not be written. */
  readonly retryMs: number
  /** Writes a batch, one at a time. If it rejects, the batch is written again. Reports its own failures. */
  write(batch: readonly Item[]): Promise<void>
  /** Called with an item for which there is no room. */
  onFull(item: Item): void
}

/** Collects items, and writes them in batches: nobody who adds one waits for the writer or fails with it. */
export class Flusher<Item> {
  readonly #options: FlusherOptions<Item>
  /** Oldest first. */
  #waiting: Item[] = []
  /** Items written so far, or left unwritten at the end. */
  #done = 0
  /** Pending `flushed()` calls, each with its number of items. */
  readonly #barriers: { readonly count: number; resolve(): void }[] = []
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined
  #failed = false
  #isClosing = false

  constructor(options: FlusherOptions<Item>) {
    this.#options = options
  }

  /** The items that are not written yet, oldest first. */
  get waiting(): readonly Item[] {
    return this.#waiting
  }

  add(item: Item): void {
    if (this.#waiting.length >= this.#options.maxWaiting) this.#options.onFull(item)
    else this.#waiting.push(item)
    this.#schedule()
  }

  /** Adds items that were written, and lost after that. There is always room for them. */
  addAgain(items: readonly Item[]): void {
    this.#waiting.push(...items)
    this.#schedule()
  }

  /** What failed may work now: writes without the pause. */
  retry(): void {
    this.#failed = false
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#schedule()
  }

  /** Resolves when all items so far are written, or left unwritten at the end. */
  flushed(): Promise<void> {
    if (this.#waiting.length === 0) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#barriers.push({ count: this.#done + this.#waiting.length, resolve })
    return promise
  }

  /** Writes the rest within `ms`, each batch once. Resolves to what is left. No item may be added after this. */
  async close(ms: number): Promise<readonly Item[]> {
    this.#isClosing = true
    clearTimeout(this.#timer)
    await withTimeout(ms, this.#writeRest()).catch(() => undefined)
    const left = this.#waiting
    this.#waiting = []
    this.#pass(left.length)
    return left
  }

  #schedule(): void {
    if (this.#writing !== undefined || this.#isClosing || this.#waiting.length === 0) return
    const { maxBatch, delayMs, retryMs } = this.#options
    if (this.#waiting.length >= maxBatch && !this.#failed) this.#write()
    else this.#timer ??= setTimeout(() => this.#write(), this.#failed ? retryMs : delayMs).unref()
  }

  #write(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#writeBatch().finally(() => {
      this.#writing = undefined
      this.#schedule()
    })
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#waiting.slice(0, this.#options.maxBatch)
    try {
      await this.#options.write(batch)
      this.#failed = false
      this.#waiting.splice(0, batch.length)
      this.#pass(batch.length)
    } catch {
      this.#failed = true
    }
  }

  async #writeRest(): Promise<void> {
    await this.#writing
    this.#failed = false
    while (this.#waiting.length > 0 && !this.#failed) await this.#writeBatch()
  }

  #pass(items: number): void {
    this.#done += items
    while (this.#barriers.length > 0 && this.#barriers[0]!.count <= this.#done) this.#barriers.shift()!.resolve()
  }
}
