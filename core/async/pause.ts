import type { GatewayError } from '../errors.ts'

/** Something a call waits for, until it comes or the call is ended. */
export interface Pause {
  readonly over: Promise<void>
  /** Makes `over` reject. */
  end(error: GatewayError): void
}

/** A pause of so many milliseconds. */
export function pause(ms: number): Pause {
  const { promise: over, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  return {
    over,
    end(error) {
      clearTimeout(timer)
      reject(error)
    },
  }
}
