import type { Provider } from '../sdk/api.ts'
import { Cooldown } from './cooldown.ts'
import type { Handlers } from './handler.ts'

/** One of several credentials of a namespace. */
export interface Credential {
  /** Its name in routes.yaml. */
  readonly name: string
  /** The provider, created with it. */
  readonly provider: Provider
  readonly handlers: Handlers
}

/** The state of one credential. */
export interface CredentialReport {
  readonly name: string
  /** Milliseconds until its cooldown is over for the account that waits longest; 0 if it has none. */
  readonly cooldownMs: number
}

/**
 * The credentials of a namespace, which share its calls evenly: each in its turn, except those that are cooling down because the upstream
 * refused them. Times are milliseconds of a monotonic clock.
 */
export class CredentialPool {
  /** In the order of routes.yaml. */
  readonly all: readonly Credential[]
  readonly #cooldowns: ReadonlyMap<Credential, Cooldown>
  #turn = 0

  /** `credentials`: at least one. */
  constructor(credentials: readonly Credential[]) {
    this.all = credentials
    this.#cooldowns = new Map(credentials.map((each) => [each, new Cooldown()]))
  }

  /** The credential whose turn it is for a call of an account; if all are cooling down, the one that is ready first. */
  next(now: number, account: string): Credential {
    return this.#first((each) => this.#readyAt(each, account) <= now) ?? this.#soonest(account)
  }

  /** The next one that is ready and is not among those that a call has tried; undefined if each was tried or cools down. */
  another(now: number, tried: readonly Credential[], account: string): Credential | undefined {
    return this.#first((each) => this.#readyAt(each, account) <= now && !tried.includes(each))
  }

  /** An attempt uses a credential: it is the turn of the one after it. */
  used(credential: Credential): void {
    this.#turn = (this.all.indexOf(credential) + 1) % this.all.length
  }

  /**
   * For `ms`, the credential is not used for an account, of `ANYONE`: for all, while another is ready. Returns the milliseconds until any is
   * ready: 0 if one is.
   */
  coolDown(credential: Credential, now: number, ms: number, account: string): number {
    this.#cooldowns.get(credential)!.begin(now + ms, account)
    return Math.max(0, this.#readyAt(this.#soonest(account), account) - now)
  }

  /** Milliseconds until the cooldown of a credential is over for an account; 0 if it has none. */
  cooldownOf(credential: Credential, now: number, account: string): number {
    return Math.max(0, this.#readyAt(credential, account) - now)
  }

  /** The state of each, in the order of routes.yaml. */
  report(now: number): readonly CredentialReport[] {
    return this.all.map((each) => ({ name: each.name, cooldownMs: Math.max(0, this.#cooldowns.get(each)!.longest - now) }))
  }

  #readyAt(credential: Credential, account: string): number {
    return this.#cooldowns.get(credential)!.until(account)
  }

  /** The first usable one from the one on whose turn it is. */
  #first(isUsable: (credential: Credential) => boolean): Credential | undefined {
    const count = this.all.length
    for (let step = 0; step < count; step++) {
      const credential = this.all[(this.#turn + step) % count]!
      if (isUsable(credential)) return credential
    }
    return undefined
  }

  #soonest(account: string): Credential {
    return this.all.reduce((one, other) => (this.#readyAt(other, account) < this.#readyAt(one, account) ? other : one))
  }
}
