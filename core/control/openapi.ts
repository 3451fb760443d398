import { type TObject, type TSchema, Type } from 'typebox'
import type { Route } from './operation.ts'

const ERROR = Type.Object({
  error: Type.Object({
    message: Type.String({ description: 'For people: it says what to do.' }),
    type: Type.String(),
    param: Type.Union([Type.String(), Type.Null()], { description: 'The field at fault.' }),
    code: Type.Union([Type.String(), Type.Null()], { description: 'For programs.' }),
  }),
})

const ROLES = { nobody: 'Anyone.', member: 'Anyone signed in; a member sees what is of their account.', admin: 'Admins.' }

/** The OpenAPI 3.1 document of a table of routes. TypeBox schemas are JSON Schemas, so they stand in it as they are. */
export function openApiOf(rows: readonly Route[], { base, version }: { readonly base: string; readonly version: string }) {
  const paths: Record<string, Record<string, object>> = {}
  for (const row of rows) {
    const path = base + row.path
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operation(row) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Unified Model Gateway: management', version },
    paths,
    components: {
      securitySchemes: {
        admin_key: { type: 'http', scheme: 'bearer', description: 'A key of `umg keys create --admin`: `sk-admin-…`.' },
        session: { type: 'apiKey', in: 'cookie', name: 'umg_session', description: 'What the console has after a sign-in.' },
      },
    },
  }
}

function operation(row: Route): object {
  return {
    summary: row.summary,
    description: ROLES[row.role],
    tags: [row.path.split(/[/.]/)[1]],
    security: row.role === 'nobody' ? [] : [{ session: [] }, { admin_key: [] }],
    parameters: [...pathParameters(row.path), ...queryParameters(row.query)],
    ...(row.body && { requestBody: { required: true, content: json({ ...row.body, additionalProperties: false }) } }),
    responses: {
      [row.status ?? (row.reply === undefined && row.streams === undefined ? 204 : 200)]: {
        description: 'Done.',
        ...(row.reply && { content: json(row.reply) }),
        ...(row.streams && { content: { [row.streams]: {} } }),
      },
      default: { description: 'Refused, or failed: docs/errors.md has them all.', content: json(ERROR) },
    },
  }
}

const json = (schema: TSchema) => ({ 'application/json': { schema } })

const pathParameters = (path: string): object[] =>
  Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))

function queryParameters(query: TObject | undefined): object[] {
  return Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    // A schema without a required field has no list of them.
    required: query?.required?.includes(name) ?? false,
    schema,
  }))
}
