import { BoundedMap } from '../async/bounded-map.ts'
import type { Principal } from '../sdk/api.ts'
import type { Secret } from '../sdk/secrets.ts'
import { GlobList } from '../text/glob.ts'
import { keysOfOperator, SealedValues, type SealingKeys } from './sealed-values.ts'
import { nameOf, type Place, type SpaceName, type ValueStore } from './value-store.ts'

/** `keepResponses` of routes.yaml. */
export interface KeepingSettings {
  readonly keys: readonly Pick<Secret, 'reveal'>[]
  readonly days: number
  readonly accounts: readonly string[]
}

/** Whose a kept value is: keys for tests neither read nor remove what live keys have made, and the other way round. */
export type Holder = Pick<Principal, 'account' | 'kind'>

const DAY_MS = 24 * 3_600_000

/** Accounts whose keys are remembered: to derive them takes longer than to seal a value. */
const REMEMBERED = 1000

/** What one version of routes.yaml lets the gateway keep for accounts, and the keys that seal it. */
export class Keeping {
  readonly #settings: KeepingSettings
  readonly #accounts: GlobList
  readonly #keys = new BoundedMap<string, readonly SealingKeys[]>(REMEMBERED)

  constructor(settings: KeepingSettings) {
    this.#settings = settings
    this.#accounts = new GlobList(settings.accounts)
  }

  /** The sealed values of a holder; undefined if nothing of its account is kept. */
  valuesOf(holder: Holder, space: SpaceName, store: ValueStore): SealedValues | undefined {
    return this.#valuesOf(holder, space, store, this.#settings.days * DAY_MS)
  }

  /** The same, of values that are kept for the time of their space. */
  passingValuesOf(holder: Holder, space: SpaceName, store: ValueStore): SealedValues | undefined {
    return this.#valuesOf(holder, space, store, undefined)
  }

  #valuesOf({ account, kind }: Holder, space: SpaceName, store: ValueStore, ttlMs: number | undefined): SealedValues | undefined {
    if (!this.#accounts.matches(account)) return undefined
    const place = { space, account }
    return new SealedValues(store, place, this.#keysAt(place, kind), ttlMs)
  }

  #keysAt(place: Place, kind: Holder['kind']): readonly SealingKeys[] {
    const name = `${kind} ${nameOf(place)}`
    let keys = this.#keys.get(name)
    if (keys === undefined) {
      keys = this.#settings.keys.map((key) => keysOfOperator(place, kind, key.reveal()))
      this.#keys.set(name, keys)
    }
    return keys
  }
}
