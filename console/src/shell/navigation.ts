import {
  type Icon,
  IconActivity,
  IconApi,
  IconBox,
  IconChartBar,
  IconFileCode,
  IconHistory,
  IconKey,
  IconMessageCircle,
  IconPlugConnected,
  IconRoute,
  IconUsers,
} from '@tabler/icons-react'
import type { Role } from '../api/session.ts'

/** A page in the navigation and in the jump list. */
export interface Destination {
  readonly path: string
  readonly name: string
  readonly icon: Icon
  /** Search terms. */
  readonly words: string
}

/** A group of pages. */
export interface Section {
  readonly name: string
  readonly role: Role
  readonly pages: readonly Destination[]
}

/** The pages, in the order in which a new user needs them. */
export const SECTIONS: readonly Section[] = [
  {
    name: 'Build',
    role: 'member',
    pages: [
      { path: '/keys', name: 'API keys', icon: IconKey, words: 'secret token create rotate revoke' },
      { path: '/connect', name: 'Connect', icon: IconPlugConnected, words: 'snippets sdk curl base url quickstart' },
      { path: '/models', name: 'Models', icon: IconBox, words: 'catalogue list' },
      { path: '/playground', name: 'Playground', icon: IconMessageCircle, words: 'chat try completion' },
    ],
  },
  {
    name: 'Observe',
    role: 'member',
    pages: [
      { path: '/usage', name: 'Usage', icon: IconChartBar, words: 'tokens chart csv cost' },
      { path: '/requests', name: 'Requests', icon: IconActivity, words: 'log live tail look up trace' },
    ],
  },
  {
    name: 'Operate',
    role: 'admin',
    pages: [
      { path: '/accounts', name: 'Accounts & users', icon: IconUsers, words: 'invite people team member' },
      { path: '/routes', name: 'Routes', icon: IconRoute, words: 'namespaces targets aliases health graph' },
      { path: '/config', name: 'Config', icon: IconFileCode, words: 'routes.yaml reload diagnostics' },
      { path: '/audit', name: 'Audit', icon: IconHistory, words: 'trail who changed' },
    ],
  },
  {
    name: 'Reference',
    role: 'member',
    pages: [{ path: '/api', name: 'API', icon: IconApi, words: 'openapi management routes' }],
  },
]

/** The sections that a role sees. */
export const sectionsFor = (role: Role): readonly Section[] =>
  SECTIONS.filter((section) => role === 'admin' || section.role === 'member')
