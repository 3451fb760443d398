import { useQuery } from '@tanstack/react-query'
import { useChange } from './change.ts'
import { type BodyOf, get, type QueryOf, type Schemas, send } from './http.ts'
import { useList } from './list.ts'

/** An API key without its secret. */
export type ApiKey = Schemas['ApiKey']

/** A new key, with its secret. */
export type CreatedApiKey = Schemas['CreatedApiKey']

/** Live keys call upstreams, test keys the sandbox, admin keys the management API. */
export type KeyKind = ApiKey['kind']

/** Whether a key is accepted. */
export type KeyStatus = ApiKey['status']

/** A key to create. */
export type NewApiKey = BodyOf<'post', '/keys'>

/** The keys that the user may see. */
export const useKeys = (filters: QueryOf<'/keys'> = {}) => useList('/keys', filters)

/** One key, read again: a list may be older. */
export function useKey(id: string) {
  return useQuery({
    queryKey: ['/keys', id],
    queryFn: ({ signal }) => get('/keys/{id}', { id, signal }),
    enabled: id !== '',
    staleTime: 0,
  })
}

/** The time of a key's last call: of the record of calls, which is seconds old, or of the key, which is up to a minute old. */
export function useLastUse({ id, last_used_at }: Pick<ApiKey, 'id' | 'last_used_at'>) {
  return useQuery({
    queryKey: ['last-use', id],
    queryFn: async ({ signal }) => {
      const [key, calls] = await Promise.all([
        get('/keys/{id}', { id, signal }),
        get('/requests', { query: { key_id: id, limit: 1 }, signal }),
      ])
      return [key.last_used_at ?? '', last_used_at ?? '', calls.data[0]?.at ?? ''].toSorted().at(-1) || null
    },
    gcTime: 0,
    staleTime: 0,
  })
}

/** Creates a key. */
export const useCreateKey = () => useChange((body: NewApiKey) => send('post', '/keys', { body }), '/keys')

/** Changes a key. */
export const useEditKey = () =>
  useChange(
    ({ id, ...body }: BodyOf<'patch', '/keys/{id}'> & { readonly id: string }) => send('patch', '/keys/{id}', { id, body }),
    '/keys',
  )

/** Creates a new secret; the old one stays valid for `overlap` seconds. */
export const useRotateKey = () =>
  useChange(
    ({ id, overlap }: { readonly id: string; readonly overlap: number }) =>
      send('post', '/keys/{id}/rotate', { id, body: { overlap_seconds: overlap } }),
    '/keys',
  )

/** Revokes a key at once. */
export const useRevokeKey = () =>
  useChange(({ id }: { readonly id: string }) => send('post', '/keys/{id}/revoke', { id }), '/keys')

/** A key, and why it could not be revoked; without an error, it is revoked. */
export interface Revocation {
  readonly key: ApiKey
  readonly error?: Error
}

/** Revokes several keys, one after the other. A failure of one does not stop the others. */
export const useRevokeKeys = () =>
  useChange(async ({ keys }: { readonly keys: readonly ApiKey[] }) => {
    const done: Revocation[] = []
    for (const key of keys) done.push(await revoked(key))
    return done
  }, '/keys')

const revoked = (key: ApiKey): Promise<Revocation> =>
  send('post', '/keys/{id}/revoke', { id: key.id }).then(
    () => ({ key }),
    (error: Error) => ({ key, error }),
  )

/** Whether a key or an account is declared in routes.yaml, the only place where it can be changed. */
export const isDeclared = ({ source }: { readonly source: string }): boolean => source !== 'database'
