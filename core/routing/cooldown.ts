import { BoundedMap } from '../async/bounded-map.ts'

/** The account of a caller that is not known; also: all accounts. */
export const ANYONE = ''

/** The most accounts that are remembered. A further one replaces the oldest, whose next call may then be refused once more. */
const MAX_ACCOUNTS = 1000

/**
 * How long something that refused calls is left alone. What one account met may be due to its own requests, so it holds for that account
 * alone, until a second one meets it too: then for all, as long as both cooldowns last (docs/decisions/cooldown-is-a-preference.md). Times
 * are milliseconds of a monotonic clock.
 */
export class Cooldown {
  readonly #untilByAccount = new BoundedMap<string, number>(MAX_ACCOUNTS)
  /** The account that waits longest. */
  #longest = { account: ANYONE, until: 0 }
  #untilForAll = 0

  /** A call of an account was refused; of `ANYONE`: for a reason that concerns all accounts. */
  begin(until: number, account: string): void {
    const { longest } = this
    if (account === ANYONE) this.#untilForAll = Math.max(this.#untilForAll, until)
    else {
      if (account !== this.#longest.account) this.#untilForAll = Math.max(this.#untilForAll, Math.min(until, this.#longest.until))
      this.#untilByAccount.set(account, Math.max(until, this.#untilByAccount.get(account) ?? 0))
    }
    if (until > longest) this.#longest = { account, until }
  }

  /** When it is over for an account. */
  until(account: string): number {
    return Math.max(this.#untilForAll, this.#untilByAccount.get(account) ?? 0)
  }

  /** When it is over for the account that waits longest. */
  get longest(): number {
    return this.#longest.until
  }
}
