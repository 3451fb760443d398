import { useChange } from './change.ts'
import { send } from './http.ts'
import { useList } from './list.ts'

/** Something with a name that is shown by it. */
export interface Named {
  readonly id: string
  readonly name: string
}

/** Live keys reach the upstreams, test keys the sandbox, admin keys the management API. */
export type KeyKind = 'live' | 'test' | 'admin'

/** Whether a key works. */
export type KeyStatus = 'active' | 'expired' | 'revoked'

/** An API key without its secret. Times are RFC 3339. */
export interface ApiKey {
  readonly id: string
  readonly name: string
  readonly kind: KeyKind
  /** `sk-live-7Fq2…9aXk` */
  readonly masked: string
  readonly account: Named
  /** Globs; `*`: all that the account may call. */
  readonly models: readonly string[]
  readonly rate_class: string | null
  readonly tags: Readonly<Record<string, string>>
  /** Null for a declared key. */
  readonly created_at: string | null
  readonly created_by: Named | null
  readonly last_used_at: string | null
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly status: KeyStatus
  readonly replaced_by?: string
  readonly replaces?: string
  /** `database`, or the place that declares it: `routes.yaml:71`. */
  readonly source: string
}

/** A key at the one time that its secret is told. */
export type NewKey = ApiKey & { readonly secret: string }

/** What of a key can be changed. */
export interface KeyFields {
  readonly name: string
  readonly models: readonly string[]
  /** Only for admins to say. */
  readonly rate_class?: string | null
  readonly expires_at: string | null
  readonly tags: Readonly<Record<string, string>>
}

/** What a key is made of. */
export type KeyOrder = KeyFields & { readonly kind: KeyKind; readonly account_id?: string }

/** What the list is narrowed to. */
export interface KeyFilters {
  readonly q: string
  readonly status: string
  readonly kind: string
  readonly account_id: string
  readonly limit: number
}

const KEYS = '/keys'

/** Those keys that the user may see. */
export const useKeys = (filters: Partial<KeyFilters> = {}) => useList<ApiKey>(KEYS, { ...filters })

/** Makes a key. */
export const useCreateKey = () => useChange((order: KeyOrder) => send<NewKey>('POST', KEYS, order), KEYS)

/** Changes what may be changed of a key. */
export const useEditKey = () =>
  useChange(({ id, ...fields }: KeyFields & { readonly id: string }) => send<ApiKey>('PATCH', `${KEYS}/${id}`, fields), KEYS)

/** Makes a new secret; the old one works on for `overlap` seconds. */
export const useRotateKey = () =>
  useChange(
    ({ id, overlap }: { readonly id: string; readonly overlap: number }) =>
      send<NewKey>('POST', `${KEYS}/${id}/rotate`, { overlap_seconds: overlap }),
    KEYS,
  )

/** Ends a key at once. */
export const useRevokeKey = () => useChange(({ id }: { readonly id: string }) => send('POST', `${KEYS}/${id}/revoke`), KEYS)

/** Whether a key is declared in routes.yaml, where alone it can be changed. */
export const isDeclared = ({ source }: ApiKey): boolean => source !== 'database'
