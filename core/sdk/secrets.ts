import { inspect } from 'node:util'
import { Type } from 'typebox'

const REDACTED = '[redacted]'

/**
 * A value that no log, error, template or JSON can print: `String(secret)`, `JSON.stringify` and `console.log` all give
 * `[redacted]`. Use it as it is in a request's headers; core reveals it when it writes the header.
 */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The value in the clear: for signing, and for the code that writes headers. */
  reveal(): string {
    return this.#value
  }

  /** A secret made of this one, such as `` key.map(k => `Bearer ${k}`) ``. */
  map(fn: (value: string) => string): Secret {
    return new Secret(fn(this.#value))
  }

  toString(): string {
    return REDACTED
  }

  toJSON(): string {
    return REDACTED
  }

  [inspect.custom](): string {
    return REDACTED
  }
}

/**
 * The schema of a config field that holds a credential. In routes.yaml it must come from `${env:…}` or `${file:…}`; `create`
 * receives it as a `Secret`.
 */
export function secret(options: { readonly description: string }) {
  return Type.Unsafe<Secret>({ type: 'string', minLength: 1, secret: true, ...options })
}

/** The `Authorization` header of a key. Throws an Error if the key has characters that a header cannot have. */
export function bearer(apiKey: Secret): Secret {
  if (!/^[\x21-\x7e]+$/.test(apiKey.reveal())) {
    throw new Error(
      'apiKey has a character that no key can hold, such as a space or a line break: check the variable or file it is read from',
    )
  }
  return apiKey.map((key) => `Bearer ${key}`)
}

/** Headers for an upstream, by lower-case names. A `Secret` is revealed when it is written. */
export type UpstreamHeaders = Readonly<Record<string, string | Secret>>
