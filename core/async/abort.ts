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
