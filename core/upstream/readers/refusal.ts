import { callProvider } from '../../plugins/faults.ts'
import { isWithinBounds } from '../../protocol/upstream-json.ts'
import { type Provider, UpstreamError, type UpstreamRefusal } from '../../sdk/api.ts'
import { readRefusal, readRetryAfter } from '../../sdk/refusals.ts'
import type { BodyReader } from './reader.ts'

/** Bytes of an error body that are read; the rest is ignored. */
const MAX_REFUSAL = 64 * 1024

/** Reads a reply whose status is not 200; `end` throws the refusal as an UpstreamError. */
export class RefusalReader implements BodyReader {
  readonly #status: number
  readonly #headers: Readonly<Record<string, string>>
  readonly #operation: Pick<Provider, 'error'>
  readonly #provider: string
  #body = ''

  /** `provider`: the name of the plugin that reads the refusal, if it defines `error`. */
  constructor(
    { status, headers }: { readonly status: number; readonly headers: Readonly<Record<string, string>> },
    operation: Pick<Provider, 'error'>,
    provider: string,
  ) {
    this.#status = status
    this.#headers = headers
    this.#operation = operation
    this.#provider = provider
  }

  data(bytes: Buffer): void {
    this.#body += bytes.toString('latin1')
    if (this.#body.length >= MAX_REFUSAL) this.end()
  }

  end(): never {
    const body = Buffer.from(this.#body.slice(0, MAX_REFUSAL), 'latin1').toString('utf8')
    const reply = { status: this.#status, headers: this.#headers, body: isWithinBounds(body) ? body : '' }
    throw new UpstreamError(this.#refusal(reply))
  }

  #refusal(reply: { status: number; headers: Readonly<Record<string, string>>; body: string }): UpstreamRefusal {
    const operation = this.#operation
    if (operation.error === undefined) return readRefusal(reply.status, reply.headers, reply.body)
    return { retryAfter: readRetryAfter(reply.headers), ...callProvider(this.#provider, () => operation.error!(reply)) }
  }
}
