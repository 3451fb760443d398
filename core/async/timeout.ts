import { Misuse } from '../plugins/faults.ts'

/** What the work comes to; rejects where it takes longer than `ms`. The timer keeps the process alive: at its end nothing else may. */
export function within<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Misuse('TOOK_TOO_LONG')), ms)
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer))
}
