/**
 * Settles as `work` does, or rejects with the reason of `signal` once that is aborted. `onLate`: gets the result of work that ends after that.
 */
export async function unlessAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal,
  onLate?: (result: Result) => void,
): Promise<Result> {
  const aborted = Promise.withResolvers<never>()
  const leave = (): void => {
    if (onLate !== undefined) work.then(onLate, () => undefined)
    aborted.reject(signal.reason)
  }
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

/** A signal that is aborted after a time, or with another one. */
export class TimedSignal implements Disposable {
  readonly #controller = new AbortController()
  readonly #timer: NodeJS.Timeout
  readonly #other: AbortSignal

  /** `reasonOf`: why it is aborted after `ms` milliseconds. */
  constructor(ms: number, reasonOf: () => unknown, other: AbortSignal) {
    this.#other = other
    this.#timer = setTimeout(() => this.#controller.abort(reasonOf()), ms)
    if (other.aborted) this.handleEvent()
    else other.addEventListener('abort', this)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The other one is aborted. */
  handleEvent(): void {
    this.#controller.abort(this.#other.reason)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#other.removeEventListener('abort', this)
  }
}
