import { Type } from 'typebox'
import { accountRoutes } from './accounts.ts'
import { auditRoutes } from './audit.ts'
import { configRoutes } from './config.ts'
import { invitationRoutes } from './invitations.ts'
import { keyRoutes } from './keys.ts'
import { modelRoutes } from './models.ts'
import { oidcRoutes } from './oidc.ts'
import { openApiOf } from './openapi.ts'
import { BASE } from './parts.ts'
import { requestRoutes } from './requests.ts'
import { type Route, route } from './route.ts'
import { sessionRoutes } from './session.ts'
import { tableRoutes } from './table.ts'
import { usageRoutes } from './usage.ts'
import { userRoutes } from './users.ts'

const SUBJECTS = [
  sessionRoutes,
  oidcRoutes,
  invitationRoutes,
  accountRoutes,
  userRoutes,
  keyRoutes,
  modelRoutes,
  usageRoutes,
  requestRoutes,
  auditRoutes,
  configRoutes,
  tableRoutes,
]

const description = route({
  method: 'GET',
  path: '/openapi.json',
  role: 'member',
  summary: 'This API, as OpenAPI 3.1',
  reply: Type.Object({}, { description: 'An OpenAPI document.' }),
  handle: async (_, { version }) => openApiOf(ROUTES, { base: BASE, version }),
})

/** The management API, whole: one array of rows per subject, each in a file of its own beside this one. */
export const ROUTES: readonly Route[] = [...SUBJECTS.flat(), description]
