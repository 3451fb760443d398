import { type Icon, IconActivity, IconKey, IconUser, IconUserPlus } from '@tabler/icons-react'
import type { Role } from '../api/session.ts'
import { sectionsFor } from './navigation.ts'

/** A destination. */
export interface Jump {
  readonly path: string
  readonly name: string
  readonly icon: Icon
  readonly hint: string
  readonly words: string
}

const ACTIONS: readonly (Jump & { readonly role: Role })[] = [
  { path: '/keys?new=1', name: 'Create an API key', icon: IconKey, hint: 'Action', words: 'new secret', role: 'member' },
  {
    path: '/accounts?tab=invitations&new=1',
    name: 'Invite a user',
    icon: IconUserPlus,
    hint: 'Action',
    words: 'user member',
    role: 'admin',
  },
  { path: '/profile', name: 'Your profile', icon: IconUser, hint: 'Page', words: 'password sessions sign out', role: 'member' },
]

/** The destinations of a role that match a text, those first whose name begins with it. A request id leads to the request. */
export function jumpsFor(text: string, role: Role): readonly Jump[] {
  const wanted = text.trim().toLowerCase()
  if (/^req_\w+$/.test(wanted))
    return [{ path: `/requests/${wanted}`, name: wanted, icon: IconActivity, hint: 'Open the request', words: '' }]
  const pages = sectionsFor(role).flatMap(({ name: hint, pages }) => pages.map((page) => ({ ...page, hint })))
  const all: readonly Jump[] = [...pages, ...ACTIONS.filter((action) => role === 'admin' || action.role === 'member')]
  const fits = all.filter(({ name, words }) => `${name} ${words}`.toLowerCase().includes(wanted))
  return fits.toSorted((one, other) => rank(one, wanted) - rank(other, wanted))
}

const rank = ({ name }: Jump, wanted: string): number => (name.toLowerCase().startsWith(wanted) ? 0 : 1)
