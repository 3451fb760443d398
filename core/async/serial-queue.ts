/** Runs work one after the other, in the order in which it comes. Work that fails does not stop what comes after it. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()

  /** Settles as `work` does. */
  run<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined)
    return result
  }

  /** Resolves when all work so far has ended. */
  async ended(): Promise<void> {
    await this.#last
  }
}
