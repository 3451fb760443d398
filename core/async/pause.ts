import type { GatewayError } from '../errors.ts'

/** A wait of a call, which the end of the call cuts short. */
export interface Pause<Value = void> {
  readonly over: Promise<Value>
  /** Makes `over` reject. */
  end(error: GatewayError): void
}

/** Waits for a number of milliseconds. */
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

/** Waits for a promise. `onLate`: gets its value if the wait was cut short. */
export function pauseUntil<Value>(working: Promise<Value>, onLate?: (value: Value) => void): Pause<Value> {
  const { promise: over, resolve, reject } = Promise.withResolvers<Value>()
  let isCut = false
  working.then((value) => (isCut ? onLate?.(value) : resolve(value)), reject)
  return {
    over,
    end(error) {
      isCut = true
      reject(error)
    },
  }
}
