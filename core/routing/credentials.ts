import type { Provider } from '../sdk/api.ts'
import { type Affinity, drawn, hashOf, mostAt } from './affinity.ts'
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

/** What a pool knows of a credential. */
class CredentialState {
  readonly cooldown = new Cooldown()
  /** The hash of its name. */
  readonly place: number
  /** Attempts under way. */
  busy = 0

  constructor({ name }: Credential) {
    this.place = hashOf(name)
  }
}

/**
 * The credentials of a namespace, which share its calls evenly: calls that have something in common keep to one, the others take turns. One
 * that is cooling down because the upstream refused it is passed over. Times are milliseconds of a monotonic clock.
 */
export class CredentialPool {
  /** In the order of routes.yaml. */
  readonly all: readonly Credential[]
  readonly #states: ReadonlyMap<Credential, CredentialState>
  #turn = 0

  /** `credentials`: at least one. */
  constructor(credentials: readonly Credential[]) {
    this.all = credentials
    this.#states = new Map(credentials.map((each) => [each, new CredentialState(each)]))
  }

  /** The credential of a call of an account: by its affinity, or without one the next in turn; if all are cooling down, the one that is ready first. */
  next(now: number, account: string, affinity?: Affinity): Credential {
    return this.another(now, NONE, account, affinity) ?? this.#soonest(account)
  }

  /** The same, of those that are ready and that a call has not tried; undefined if each was tried or cools down. */
  another(now: number, tried: readonly Credential[], account: string, affinity?: Affinity): Credential | undefined {
    const isUsable = (each: Credential): boolean => this.#readyAt(each, account) <= now && !tried.includes(each)
    return (affinity === undefined ? this.#byTurns : this.#by(affinity)).find(isUsable)
  }

  /** A credential was used because it was its turn: now it is that of the one after it. */
  used(credential: Credential): void {
    this.#turn = (this.all.indexOf(credential) + 1) % this.all.length
  }

  /** An attempt with a credential begins. */
  begin(credential: Credential): void {
    this.#stateOf(credential).busy++
  }

  /** An attempt with it has ended. */
  end(credential: Credential): void {
    this.#stateOf(credential).busy--
  }

  /**
   * For `ms`, the credential is not used for an account, of `ANYONE`: for all, while another is ready. Returns the milliseconds until any is
   * ready: 0 if one is.
   */
  coolDown(credential: Credential, now: number, ms: number, account: string): number {
    this.#stateOf(credential).cooldown.begin(now + ms, account)
    return Math.max(0, this.#readyAt(this.#soonest(account), account) - now)
  }

  /** Milliseconds until the cooldown of a credential is over for an account; 0 if it has none. */
  cooldownOf(credential: Credential, now: number, account: string): number {
    return Math.max(0, this.#readyAt(credential, account) - now)
  }

  /** The state of each, in the order of routes.yaml. */
  report(now: number): readonly CredentialReport[] {
    return this.all.map((each) => ({
      name: each.name,
      cooldownMs: Math.max(0, this.#stateOf(each).cooldown.longest - now),
    }))
  }

  #stateOf(credential: Credential): CredentialState {
    return this.#states.get(credential)!
  }

  #readyAt(credential: Credential, account: string): number {
    return this.#stateOf(credential).cooldown.until(account)
  }

  /** From the one on whose turn it is. */
  get #byTurns(): readonly Credential[] {
    return this.#turn === 0 ? this.all : [...this.all.slice(this.#turn), ...this.all.slice(0, this.#turn)]
  }

  /** In the order of an affinity; where many conversations have it, those last that have all the calls that they may have. */
  #by({ hash, isShared }: Affinity): readonly Credential[] {
    const draw = (each: Credential): number => drawn(hash, this.#stateOf(each).place)
    const ordered = this.all.toSorted((one, other) => draw(other) - draw(one))
    if (!isShared) return ordered
    const total = this.all.reduce((sum, each) => sum + this.#stateOf(each).busy, 0)
    const most = mostAt(1 / this.all.length, total)
    const isFull = (each: Credential): boolean => this.#stateOf(each).busy >= most
    return [...ordered.filter((each) => !isFull(each)), ...ordered.filter(isFull)]
  }

  #soonest(account: string): Credential {
    return this.all.reduce((one, other) => (this.#readyAt(other, account) < this.#readyAt(one, account) ? other : one))
  }
}

const NONE: readonly never[] = []
