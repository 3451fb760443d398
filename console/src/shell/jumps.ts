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

const TO_REQUEST = { icon: IconActivity, words: '' }

const REQUEST_ID = /^req_[0-9a-f]{32}$/

/** The beginning of an id, its end as tables show it (`req_…41c2a8f3`), or that end alone. */
const PART_OF_ID = /^(?:req_…?|…)[0-9a-f]+$|^[0-9a-f]{8,}$/

/** The destinations of a role that match a text, those first whose name begins with it. A request id leads to the request. */
export function jumpsFor(text: string, role: Role): readonly Jump[] {
  const wanted = text.trim().toLowerCase()
  if (REQUEST_ID.test(wanted)) return [{ ...TO_REQUEST, path: `/requests/${wanted}`, name: wanted, hint: 'Open the request' }]
  if (PART_OF_ID.test(wanted))
    return [{ ...TO_REQUEST, path: `/requests?q=${encodeURIComponent(wanted)}`, name: wanted, hint: 'Find the request' }]
  const pages = sectionsFor(role).flatMap(({ name: hint, pages }) => pages.map((page) => ({ ...page, hint })))
  const all: readonly Jump[] = [...pages, ...ACTIONS.filter((action) => role === 'admin' || action.role === 'member')]
  const fits = all.filter(({ name, words }) => `${name} ${words}`.toLowerCase().includes(wanted))
  return fits.toSorted((one, other) => rank(one, wanted) - rank(other, wanted))
}

const rank = ({ name }: Jump, wanted: string): number => (name.toLowerCase().startsWith(wanted) ? 0 : 1)
