/** Bytes to send; a string is sent as UTF-8. */
export type Bytes = string | Uint8Array

/** A step that closes the connection in order, by a TCP FIN after the bytes before it. */
export const FIN = Symbol('FIN')

/** A step that resets the connection, by a TCP RST. */
export const RST = Symbol('RST')

/**
 * A step at which the script waits until the test releases it: a stall, a slow first byte. `reached` resolves when everything
 * before it has been sent.
 */
export class Hold {
  readonly #reached = Promise.withResolvers<void>()
  readonly #released = Promise.withResolvers<void>()

  /** Resolves when a script has reached this step. */
  get reached(): Promise<void> {
    return this.#reached.promise
  }

  /** Lets all scripts pass that wait here now or reach this step later. */
  release(): void {
    this.#released.resolve()
  }

  /** Called by the player of the script: marks the step as reached, and resolves when the script may continue. */
  arrive(): Promise<void> {
    this.#reached.resolve()
    return this.#released.promise
  }
}

/** Creates a `Hold`. One that is never released is a stall, which ends when the connection closes. */
export function hold(): Hold {
  return new Hold()
}

/** One action of the scripted upstream: sends bytes in one write, waits, or ends the connection. */
export type Step = Bytes | Hold | typeof FIN | typeof RST

/**
 * The reply of the scripted upstream to one request. After its last step the connection waits for the next request, unless
 * `FIN` or `RST` has ended it. A generator can be endless.
 */
export type Script = Iterable<Step> | AsyncIterable<Step>

/** Whether a value is bytes to send. */
export function isBytes(value: unknown): value is Bytes {
  return typeof value === 'string' || value instanceof Uint8Array
}
