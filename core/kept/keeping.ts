import { BoundedMap } from '../async/bounded-map.ts'
import type { Secret } from '../sdk/secrets.ts'
import { GlobList } from '../text/glob.ts'
import { keysOfOperator, SealedValues, type SealingKeys } from './sealed-values.ts'
import { nameOf, type Place, type ValueStore } from './value-store.ts'

/** `keepResponses` of routes.yaml. */
export interface KeepingSettings {
  readonly keys: readonly Pick<Secret, 'reveal'>[]
  readonly days: number
  readonly accounts: readonly string[]
}

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

  /** The sealed values of an account; undefined if nothing of it is kept. */
  valuesAt(place: Place, store: ValueStore): SealedValues | undefined {
    if (!this.#accounts.matches(place.account)) return undefined
    return new SealedValues(store, place, this.#keysAt(place), this.#settings.days * DAY_MS)
  }

  /** The same, of values that are kept for the time of their space. */
  passingValuesAt(place: Place, store: ValueStore): SealedValues | undefined {
    return this.#accounts.matches(place.account) ? new SealedValues(store, place, this.#keysAt(place)) : undefined
  }

  #keysAt(place: Place): readonly SealingKeys[] {
    const name = nameOf(place)
    let keys = this.#keys.get(name)
    if (keys === undefined) {
      keys = this.#settings.keys.map((key) => keysOfOperator(place, key.reveal()))
      this.#keys.set(name, keys)
    }
    return keys
  }
}
