import type { Config, DeclaredAccount, DeclaredKey } from '../config/config.ts'
import { GatewayError } from '../errors.ts'
import type { Principal } from '../sdk/api.ts'
import { digestOf } from '../text/ids.ts'
import { kindOf } from './format.ts'
import { KeyCache } from './key-cache.ts'
import { declaredHolder, type KeyHolder, principalOf } from './principal.ts'
import type { KeySource } from './source.ts'

/** The id of no account: to look it up shows whether the source answers. */
const NOBODY = ''

/** The longest wait of a call whose key was known before the last change. Milliseconds. */
const STALE_LOOK_UP_MS = 80

/** Resolves API keys to principals: a cache of the keys in use, in front of their source, and the keys and accounts of routes.yaml. */
export class KeyDirectory {
  readonly #source: KeySource
  /** Also of the accounts of the source that own keys of routes.yaml. */
  readonly #found: KeyCache
  #declared: ReadonlyMap<string, DeclaredKey> = new Map()
  #accounts: ReadonlyMap<string, DeclaredAccount> = new Map()
  /** All calls with a key share its principal. */
  #principals = new WeakMap<KeyHolder, Principal>()
  /** Whether a key of the source was ever asked for: a gateway without such keys does not need it. */
  #isUsed = false
  /** Whether cached keys had to be given up, and none was looked up since. */
  #isLost = false
  #probe: Promise<unknown> | undefined

  constructor(source: KeySource) {
    this.#source = source
    this.#found = new KeyCache(source, {
      patienceMs: STALE_LOOK_UP_MS,
      onAnswer: () => {
        this.#isLost = false
      },
      onLost: () => {
        this.#isLost = true
      },
    })
  }

  /**
   * The principal of a secret; undefined if it is malformed, unknown, revoked, expired or an admin key. Declared keys take precedence.
   * A revocation takes effect within a second. Throws `api_key_disabled`, and `storage_unavailable` if the key or its account must be looked up and the source
   * fails; keys in use stay valid without it.
   */
  async verify(secret: string): Promise<Principal | undefined> {
    const digest = digestOf(secret)
    const declared = this.#declared.get(digest)
    // The format of a secret is checked only if it is not cached.
    if (declared !== undefined || !this.#found.holders.has(digest)) {
      const kind = kindOf(secret)
      if (kind === undefined || kind === 'admin') return undefined
      if (declared !== undefined) return this.#unlessExpired(await this.#declaredHolder(declared, kind))
    }
    this.#isUsed = true
    const principal = this.#unlessExpired(await available(this.#found.holders.get(digest)))
    if (principal !== undefined) this.#source.used(principal.keyId)
    return principal
  }

  /**
   * False if no key can be checked: the source could not be reached for so long that cached keys had to be given up. Then each call of
   * this tries once more, so that a later one is true. Keys of routes.yaml whose accounts are there too need no source.
   */
  available(): boolean {
    if (!this.#isLost || !this.#isUsed) return true
    this.#probe ??= this.#found.accounts
      .get(NOBODY)
      .catch(() => undefined)
      .finally(() => {
        this.#probe = undefined
      })
    return [...this.#declared.values()].some(({ account }) => this.#accounts.has(account))
  }

  /** Replaces the declared keys and accounts: those of the routes.yaml in use. */
  declare({ keys, accounts }: Pick<Config, 'keys' | 'accounts'>): void {
    this.#declared = new Map(keys.map((key) => [key.digest, key]))
    this.#accounts = accounts
    this.#principals = new WeakMap()
    // Known before the first call, so that the source may fail from then on.
    const owners = new Set(keys.map(({ account }) => account).filter((id) => !accounts.has(id)))
    for (const id of owners) this.#found.accounts.get(id).catch(() => undefined)
  }

  /** Stops watching the source. */
  close(): void {
    this.#found.close()
  }

  async #declaredHolder(key: DeclaredKey, kind: Principal['kind']): Promise<KeyHolder | undefined> {
    const account = this.#accounts.get(key.account) ?? (await available(this.#found.accounts.get(key.account)))
    return account && declaredHolder(key, kind, account)
  }

  /** The principal of a holder that has not expired. Throws `api_key_disabled`. */
  #unlessExpired(holder: KeyHolder | undefined): Principal | undefined {
    if (holder === undefined || (holder.expiresAt !== undefined && holder.expiresAt <= Date.now())) return undefined
    if (holder.isDisabled) throw new GatewayError('api_key_disabled')
    let principal = this.#principals.get(holder)
    if (principal === undefined) {
      principal = principalOf(holder, this.#accounts)
      this.#principals.set(holder, principal)
    }
    return principal
  }
}

/** Rejects with `storage_unavailable` where a look-up rejects. */
const available = <Found>(lookUp: Promise<Found>): Promise<Found> =>
  lookUp.catch((cause: unknown) => {
    throw new GatewayError('storage_unavailable', { headers: { 'retry-after': '1' }, cause })
  })
