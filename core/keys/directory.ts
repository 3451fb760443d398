import type { Config, DeclaredAccount, DeclaredKey } from '../config/config.ts'
import type { Principal } from '../sdk/api.ts'
import { digestOf } from '../text/ids.ts'
import { kindOf } from './format.ts'
import { LookUps } from './look-ups.ts'
import { type AccountHolder, declaredHolder, type KeyHolder, principalOf } from './principal.ts'
import type { KeySource } from './source.ts'

/** Resolves API keys to principals: a cache of the keys in use, in front of their source, and the keys and accounts of routes.yaml. */
export class KeyDirectory {
  readonly #source: KeySource
  readonly #stopWatching: () => void
  readonly #holders: LookUps<KeyHolder>
  /** Accounts of the source that own keys of routes.yaml. */
  readonly #owners: LookUps<AccountHolder>
  #declared: ReadonlyMap<string, DeclaredKey> = new Map()
  #accounts: ReadonlyMap<string, DeclaredAccount> = new Map()
  /** All calls with a key share its principal. */
  #principals = new WeakMap<KeyHolder, Principal>()

  constructor(source: KeySource) {
    this.#source = source
    this.#holders = new LookUps((digest) => source.find(digest))
    this.#owners = new LookUps((id) => source.findAccount(id))
    this.#stopWatching = source.watch({
      changed: (id) => {
        this.#holders.invalidate(({ key }) => id !== undefined && (key.keyId === id || key.account === id))
        this.#owners.invalidate((account) => id !== undefined && account.id === id)
      },
      lost: () => {
        this.#holders.clear()
        this.#owners.clear()
      },
    })
  }

  /**
   * The principal of a secret; undefined if it is malformed, unknown, revoked, expired or an admin key. Declared keys take precedence.
   * A revocation takes effect within a second. Throws `storage_unavailable` if the key or its account must be looked up and the source
   * fails; keys in use stay valid without it.
   */
  async verify(secret: string): Promise<Principal | undefined> {
    const digest = digestOf(secret)
    const declared = this.#declared.get(digest)
    // The format of a secret is checked only if it is not cached.
    if (declared !== undefined || !this.#holders.has(digest)) {
      const kind = kindOf(secret)
      if (kind === undefined || kind === 'admin') return undefined
      if (declared !== undefined) return this.#unlessExpired(await this.#declaredHolder(declared, kind))
    }
    const principal = this.#unlessExpired(await this.#holders.get(digest))
    if (principal !== undefined) this.#source.used(principal.keyId)
    return principal
  }

  /** Replaces the declared keys and accounts: those of the routes.yaml in use. */
  declare({ keys, accounts }: Pick<Config, 'keys' | 'accounts'>): void {
    this.#declared = new Map(keys.map((key) => [key.digest, key]))
    this.#accounts = accounts
    this.#principals = new WeakMap()
    // Known before the first call, so that the source may fail from then on.
    const owners = new Set(keys.map(({ account }) => account).filter((id) => !accounts.has(id)))
    for (const id of owners) this.#owners.get(id).catch(() => undefined)
  }

  /** Stops watching the source. */
  close(): void {
    this.#stopWatching()
  }

  async #declaredHolder(key: DeclaredKey, kind: Principal['kind']): Promise<KeyHolder | undefined> {
    const account = this.#accounts.get(key.account) ?? (await this.#owners.get(key.account))
    return account && declaredHolder(key, kind, account)
  }

  /** The principal of a holder that has not expired. */
  #unlessExpired(holder: KeyHolder | undefined): Principal | undefined {
    if (holder === undefined || (holder.expiresAt !== undefined && holder.expiresAt <= Date.now())) return undefined
    let principal = this.#principals.get(holder)
    if (principal === undefined) {
      principal = principalOf(holder, this.#accounts)
      this.#principals.set(holder, principal)
    }
    return principal
  }
}
