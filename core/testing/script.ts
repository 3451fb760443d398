/** Bytes as they go on the wire; a string is written as UTF-8. */
export type Bytes = string | Uint8Array

/** A step that closes the connection in order, by a TCP FIN after the bytes before it. */
export const FIN = Symbol('FIN')

/** A step that resets the connection, by a TCP RST. */
export const RST = Symbol('RST')

/**
 * A step at which the script waits until the test releases it: a stall, a slow first byte. `reached` tells the test that all
 * before it has been sent.
 */
export class Hold {
  readonly #reached = Promise.withResolvers<void>()
  readonly #released = Promise.withResolvers<void>()

  /** Resolves when a script has come to this step. */
  get reached(): Promise<void> {
    return this.#reached.promise
  }

  /** Lets every script pass that waits here, and those that come later. */
  release(): void {
    this.#released.resolve()
  }

  /** For whoever plays the script: says that it has come here, and resolves when it may go on. */
  arrive(): Promise<void> {
    this.#reached.resolve()
    return this.#released.promise
  }
}

/** Makes a `Hold`. One that is never released is a stall: it lasts until the connection is closed. */
export function hold(): Hold {
  return new Hold()
}

/** One thing the scripted upstream does: sends bytes, as one write of their own; waits; or ends the connection. */
export type Step = Bytes | Hold | typeof FIN | typeof RST

/**
 * What the scripted upstream does with one request. After its last step the connection waits for the next request, unless
 * `FIN` or `RST` has ended it. A generator can go on for ever.
 */
export type Script = Iterable<Step> | AsyncIterable<Step>

/** Whether a step, or anything else, is bytes to send. */
export function isBytes(value: unknown): value is Bytes {
  return typeof value === 'string' || value instanceof Uint8Array
}
