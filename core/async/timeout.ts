/** The error of work that exceeded its timeout. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
  readonly code = 'TOOK_TOO_LONG'

  constructor(ms: number) {
    super(`not done within ${ms} ms`)
  }
}

/** Settles as `work` does; rejects with a TimeoutError after `ms`. Its timer keeps the process alive, since at shutdown nothing else may. */
export function withTimeout<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  const expired = Promise.withResolvers<never>()
  const timer = setTimeout(() => expired.reject(new TimeoutError(ms)), ms)
  return Promise.race([work, expired.promise]).finally(() => clearTimeout(timer))
}
