/** Rejects work that took too long. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
  readonly code = 'TOOK_TOO_LONG'

  constructor(ms: number) {
    super(`not done within ${ms} ms`)
  }
}

/** Settles as `work` does; rejects with a TimeoutError after `ms`. The timer keeps the process alive: at its end nothing else may. */
export function withTimeout<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new TimeoutError(ms)), ms)
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer))
}
