import { Type } from 'typebox'
import { accountRoutes } from './accounts.ts'
import { auditRoutes } from './audit.ts'
import { configRoutes } from './config.ts'
import { keyRoutes } from './keys.ts'
import { modelRoutes } from './models.ts'
import { openApiOf } from './openapi.ts'
import { oidcRoutes } from './openid.ts'
import { BASE, type Route, route } from './operation.ts'
import { invitationRoutes, userRoutes } from './people.ts'
import { requestRoutes } from './requests.ts'
import { tableRoutes } from './routes.ts'
import { sessionRoutes } from './session.ts'
import { usageRoutes } from './usage.ts'

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
