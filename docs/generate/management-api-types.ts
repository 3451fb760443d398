import openapiTypeScript from 'openapi-typescript'
import { openApiDocument } from '../../core/control/openapi.ts'
import { OPERATIONS } from '../../core/control/operations.ts'

const COMMENT = '// Written by `npm run docs` from the operations of core/control: do not edit.\n\n'

/** The TypeScript types of the management API, for the console: its OpenAPI document, with paths below the API's base. */
export async function managementApiTypes(): Promise<string> {
  const document = JSON.parse(JSON.stringify(openApiDocument(OPERATIONS, { base: '', version: '' })))
  const types = await openapiTypeScript(document, { commentHeader: COMMENT, immutableTypes: true, supportArrayLength: true })
  return types
}
