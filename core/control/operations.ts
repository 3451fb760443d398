import { Type } from 'typebox'
import { accountOperations } from './accounts.ts'
import { auditOperations } from './audit.ts'
import { configOperations } from './config.ts'
import { invitationOperations } from './invitations.ts'
import { keyOperations } from './keys.ts'
import { modelOperations } from './models.ts'
import { openApiDocument } from './openapi.ts'
import { openIdOperations } from './openid.ts'
import { API_BASE, type Operation, operation } from './operation.ts'
import { requestOperations } from './requests.ts'
import { routeOperations } from './routes.ts'
import { sessionOperations } from './session.ts'
import { spendOperations } from './spend.ts'
import { usageOperations } from './usage.ts'
import { userOperations } from './users.ts'

const openApiOperation = operation({
  method: 'GET',
  path: '/openapi.json',
  access: 'member',
  summary: 'Get this API as an OpenAPI 3.1 document',
  reply: Type.Object({}, { description: 'An OpenAPI document.' }),
  handle: async (_, { version }) => openApiDocument(OPERATIONS, { base: API_BASE, version }),
})

/** All operations of the management API, one file a subject. */
export const OPERATIONS: readonly Operation[] = [
  ...sessionOperations,
  ...openIdOperations,
  ...invitationOperations,
  ...accountOperations,
  ...userOperations,
  ...keyOperations,
  ...modelOperations,
  ...usageOperations,
  ...spendOperations,
  ...requestOperations,
  ...auditOperations,
  ...configOperations,
  ...routeOperations,
  openApiOperation,
]
