/** The error of work that exceeded its timeout. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
  readonly code = 'TOOK_TOO_LONG'

  constructor(ms: number) {
    super(`not done within ${ms} ms`)
  }
}

/**
 * Settles as `work` does; rejects with a TimeoutError after `ms`. Its timer keeps the process alive, since at shutdown nothing else may.
 * An event loop that is late runs its timers before it reads what has arrived meanwhile: that is still in time.
 */
export function withTimeout<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  const expired = Promise.withResolvers<never>()
  const timer = setTimeout(() => setImmediate(() => expired.reject(new TimeoutError(ms))), ms)
  return Promise.race([work, expired.promise]).finally(() => clearTimeout(timer))
}
