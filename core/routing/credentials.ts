import type { Provider } from '../sdk/api.ts'
import type { Operations } from './operation.ts'

/** One of several credentials of a namespace. */
export interface Credential {
  /** Its name in routes.yaml. */
  readonly name: string
  /** The provider, created with it. */
  readonly provider: Provider
  readonly operations: Operations
}

/** The state of one credential. */
export interface CredentialReport {
  readonly name: string
  /** Milliseconds until its cooldown is over; 0 if it has none. */
  readonly cooldownMs: number
}

/**
 * The credentials of a namespace, which share its calls evenly: each in its turn, except those that are cooling down because the upstream
 * refused them. Times are milliseconds of a monotonic clock.
 */
export class CredentialPool {
  /** In the order of routes.yaml. */
  readonly all: readonly Credential[]
  /** When the cooldown of each is over. */
  readonly #readyAt: number[]
  #turn = 0

  /** `credentials`: at least one. */
  constructor(credentials: readonly Credential[]) {
    this.all = credentials
    this.#readyAt = credentials.map(() => 0)
  }

  /** The credential whose turn it is; if all are cooling down, the one that is ready first. */
  next(now: number): Credential {
    return this.#take((_, index) => this.#readyAt[index]! <= now) ?? this.#soonest
  }

  /** The next one that is ready and is not among those that a call has tried; undefined if each was tried or cools down. */
  another(now: number, tried: readonly Credential[]): Credential | undefined {
    return this.#take((each, index) => this.#readyAt[index]! <= now && !tried.includes(each))
  }

  /** For `ms`, the credential is not used while another is ready. Returns the milliseconds until any is ready: 0 if one is. */
  coolDown(credential: Credential, now: number, ms: number): number {
    const index = this.all.indexOf(credential)
    this.#readyAt[index] = Math.max(this.#readyAt[index]!, now + ms)
    return Math.max(0, Math.min(...this.#readyAt) - now)
  }

  /** Milliseconds until the cooldown of a credential is over; 0 if it has none. */
  cooldownOf(credential: Credential, now: number): number {
    return Math.max(0, this.#readyAt[this.all.indexOf(credential)]! - now)
  }

  /** The state of each, in the order of routes.yaml. */
  report(now: number): readonly CredentialReport[] {
    return this.all.map((each) => ({ name: each.name, cooldownMs: this.cooldownOf(each, now) }))
  }

  #take(isUsable: (credential: Credential, index: number) => boolean): Credential | undefined {
    const count = this.all.length
    for (let step = 0; step < count; step++) {
      const index = (this.#turn + step) % count
      const credential = this.all[index]!
      if (!isUsable(credential, index)) continue
      this.#turn = (index + 1) % count
      return credential
    }
    return undefined
  }

  get #soonest(): Credential {
    return this.all[this.#readyAt.indexOf(Math.min(...this.#readyAt))]!
  }
}
