import { type TObject, type TSchema, Type } from 'typebox'
import { nullable } from './fields.ts'
import { type Access, type Operation, statusOf } from './operation.ts'

/** The body of every error. */
const errorSchema = Type.Object(
  {
    error: Type.Object({
      message: Type.String({ description: 'For people: what is wrong, and what to do.' }),
      type: Type.String(),
      param: nullable(Type.String(), 'The invalid field.'),
      code: nullable(Type.String(), 'For programs.'),
    }),
  },
  { title: 'Error' },
)

const ACCESS: Readonly<Record<Access, string>> = {
  public: 'For anyone, signed in or not.',
  member: 'For all users; a member sees what belongs to their account.',
  admin: 'For admins.',
}

/**
 * The OpenAPI 3.1 document of operations. TypeBox schemas are JSON Schemas: they are used as they are, those with a title as components.
 */
export function openApiDocument(
  operations: readonly Operation[],
  { base, version }: { readonly base: string; readonly version: string },
) {
  const components = new Components()
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of operations) {
    const path = base + operation.path
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: operationObject(operation, components) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Unified Model Gateway: management', version },
    paths,
    components: {
      schemas: components.schemas,
      securitySchemes: {
        admin_key: { type: 'http', scheme: 'bearer', description: 'A key of `umg keys create --admin`: `sk-admin-…`.' },
        session: { type: 'apiKey', in: 'cookie', name: 'umg_session', description: 'The cookie of a sign-in to the console.' },
      },
    },
  }
}

/** Collects the schemas that have a title, and replaces them by references. */
class Components {
  readonly schemas: Record<string, object> = {}

  json(schema: TSchema) {
    return { 'application/json': { schema: this.reference(schema) } }
  }

  reference(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((item) => this.reference(item))
    if (typeof schema !== 'object' || schema === null) return schema
    const { title, ...content } = Object.fromEntries(
      Object.entries(schema).map(([keyword, value]) => [keyword, this.reference(value)]),
    )
    // Within `properties` it is a field of this name.
    if (typeof title !== 'string') return title === undefined ? content : { title, ...content }
    this.schemas[title] = content
    return { $ref: `#/components/schemas/${title}` }
  }
}

const CONFIRMED = 'Users who entered their password more than 15 minutes ago are refused with `confirmation_required`.'

function operationObject(operation: Operation, components: Components): object {
  const { path, access, confirmed, summary, query, body, reply, streams } = operation
  return {
    summary,
    description: confirmed ? `${ACCESS[access]} ${CONFIRMED}` : ACCESS[access],
    'x-access': access,
    tags: [path.split(/[/.]/)[1]],
    security: access === 'public' ? [] : [{ session: [] }, { admin_key: [] }],
    parameters: [...pathParameters(path), ...queryParameters(query)],
    ...(body && { requestBody: { required: true, content: components.json({ ...body, additionalProperties: false }) } }),
    responses: {
      [statusOf(operation)]: {
        description: 'Success.',
        ...(reply && { content: components.json(reply) }),
        ...(streams && { content: { [streams]: {} } }),
      },
      default: { description: 'An error; docs/errors.md lists them all.', content: components.json(errorSchema) },
    },
  }
}

const pathParameters = (path: string): object[] =>
  Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))

function queryParameters(query: TObject | undefined): object[] {
  return Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: query?.required?.includes(name) ?? false,
    schema,
  }))
}
