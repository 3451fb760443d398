import type { KeyKind } from '../../api/keys.ts'

/** The label and the description of each kind of key. */
export const KINDS: Readonly<Record<KeyKind, { readonly label: string; readonly about: string; readonly color: string }>> = {
  live: { label: 'Live', about: 'Calls the models of the account.', color: 'cobalt' },
  test: { label: 'Test', about: 'Answered by the sandbox: free, offline, deterministic.', color: 'gray' },
  admin: { label: 'Admin', about: 'Calls the management API, and no models.', color: 'grape' },
}
