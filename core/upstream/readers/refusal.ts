import { type Provider, UpstreamError, type UpstreamRefusal } from '../../sdk/api.ts'
import { readRefusal, readRetryAfter } from '../../sdk/refusals.ts'
import type { BodyReader } from './reader.ts'

/** An error body is read this far; what comes after is not looked at. */
const MAX_REFUSAL = 64 * 1024

/** Reads a reply whose status is no success; its end throws what it means, as an UpstreamError. */
export class RefusalReader implements BodyReader {
  readonly usage = undefined
  readonly estimatedTokens = 0
  readonly #status: number
  readonly #headers: Readonly<Record<string, string>>
  readonly #readError: Provider['error']
  #body = ''

  constructor(
    reply: { readonly status: number; readonly headers: Readonly<Record<string, string>> },
    readError: Provider['error'],
  ) {
    this.#status = reply.status
    this.#headers = reply.headers
    this.#readError = readError
  }

  data(bytes: Buffer): void {
    this.#body += bytes.toString('latin1')
    if (this.#body.length >= MAX_REFUSAL) this.end()
  }

  end(): never {
    const body = Buffer.from(this.#body.slice(0, MAX_REFUSAL), 'latin1').toString('utf8')
    const reply = { status: this.#status, headers: this.#headers, body }
    throw new UpstreamError(this.#refusal(reply))
  }

  #refusal(reply: { status: number; headers: Readonly<Record<string, string>>; body: string }): UpstreamRefusal {
    if (this.#readError === undefined) return readRefusal(reply.status, reply.headers, reply.body)
    return { retryAfter: readRetryAfter(reply.headers), ...this.#readError(reply) }
  }
}
