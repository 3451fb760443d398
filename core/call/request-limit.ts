import { BoundedMap } from '../async/bounded-map.ts'
import { GatewayError } from '../errors.ts'

/** How many requests an account may make at once, and in a second after that. */
const BURST = 500
const PER_SECOND = 100
const MOST_ACCOUNTS = 10_000

/** Bounds the requests of each account for what the gateway keeps, at this process: they call no model, so that no limit of rate-tagging counts them. */
export class RequestLimit {
  readonly #accounts = new BoundedMap<string, { left: number; at: number }>(MOST_ACCOUNTS)

  /** Throws `GatewayError` (429). */
  take(account: string): void {
    const now = performance.now()
    const known = this.#accounts.get(account) ?? { left: BURST, at: now }
    const left = Math.min(BURST, known.left + ((now - known.at) / 1000) * PER_SECOND)
    if (left < 1) {
      const detail = `Too many requests for responses and conversations: your account may make ${PER_SECOND} in a second. Wait a second.`
      throw new GatewayError('rate_limit_requests', { values: { detail }, headers: { 'retry-after': '1' } })
    }
    this.#accounts.set(account, { left: left - 1, at: now })
  }
}
