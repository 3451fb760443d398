import { callProvider } from '../../plugins/faults.ts'
import { isWithinBounds } from '../../protocol/upstream-json.ts'
import { UsageReport } from '../../protocol/usage-report.ts'
import { type Call, type Provider, UpstreamError, type UpstreamRefusal } from '../../sdk/api.ts'
import { readRefusal, readRetryAfter } from '../../sdk/refusals.ts'
import type { BodyReader } from './reader.ts'

/** Bytes of an error body that are read; the rest is ignored. */
const MAX_REFUSAL = 64 * 1024

/** The member with the usage, at all vendors: `usage`, `usageMetadata`. */
const REPORTS = /"usage/

/** How to read a refusal. */
export interface RefusalPlan {
  readonly status: number
  /** Reply headers. */
  readonly headers: Readonly<Record<string, string>>
  readonly call: Pick<Call, 'choices'>
  readonly handler: Pick<Provider, 'error'>
  /** The name of the plugin that reads the refusal, if it defines `error`. */
  readonly provider: string
  /** The usage in a parsed body, in the terms of chat completions: any value. */
  usage(body: unknown): unknown
}

/** Reads a reply whose status is not 200; `end` throws the refusal as an UpstreamError. */
export class RefusalReader implements BodyReader {
  readonly #plan: RefusalPlan
  #body = ''
  readonly report: UsageReport

  constructor(plan: RefusalPlan) {
    this.#plan = plan
    this.report = new UsageReport(plan.call)
  }

  data(bytes: Buffer): void {
    this.#body += bytes.toString('latin1')
    if (this.#body.length >= MAX_REFUSAL) this.end()
  }

  end(): never {
    const text = Buffer.from(this.#body.slice(0, MAX_REFUSAL), 'latin1').toString('utf8')
    const body = isWithinBounds(text) ? text : ''
    // Few refusals say what they have used, and only those are parsed for it.
    if (REPORTS.test(body)) this.#readUsage(body)
    throw new UpstreamError(this.#refusal(body))
  }

  #readUsage(body: string): void {
    try {
      this.report.read(this.#plan.usage(JSON.parse(body)), true)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
  }

  #refusal(body: string): UpstreamRefusal {
    const { status, headers, handler, provider } = this.#plan
    if (handler.error === undefined) return readRefusal(status, headers, body)
    return { retryAfter: readRetryAfter(headers), ...callProvider(provider, () => handler.error!({ status, headers, body })) }
  }
}
