import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { openApiOf } from '../../../core/control/openapi.ts'
import { ROUTES } from '../../../core/control/operations.ts'

interface Operation {
  readonly summary: string
  readonly security: readonly object[]
  readonly parameters: readonly {
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly schema: object
  }[]
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: { readonly additionalProperties: boolean } }>>
  }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: object }>> }>>
}

/** As a client reads it: JSON. */
const document = JSON.parse(JSON.stringify(openApiOf(ROUTES, { base: '/api/v1', version: '1.2.3' }))) as {
  readonly openapi: string
  readonly info: object
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly securitySchemes: object }
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, path, operation })),
)

describe('the OpenAPI document', () => {
  it('describes every route, and each once', () => {
    expect(operations.map(({ name }) => name)).to.have.members(ROUTES.map(({ method, path }) => `${method} /api/v1${path}`))
    expect(document).to.include({ openapi: '3.1.0' })
    expect(document.info).to.include({ version: '1.2.3' })
  })

  it('says of every route what it does, who may, what it takes and what it gives', () => {
    for (const { name, path, operation } of operations) {
      expect(operation.summary, name).to.match(/^[A-Z]/)
      const row = ROUTES.find((route) => name === `${route.method} /api/v1${route.path}`)!
      expect(operation.security, name).to.have.length(row.role === 'nobody' ? 0 : 2)
      const inPath = operation.parameters.filter((parameter) => parameter.in === 'path').map((parameter) => `{${parameter.name}}`)
      expect(path.match(/\{\w+\}/g) ?? [], name).to.deep.equal(inPath)
      expect(Object.keys(operation.responses), name).to.include('default').and.to.have.length(2)
      if (row.body !== undefined)
        expect(operation.requestBody?.content['application/json']?.schema.additionalProperties, name).to.equal(false)
    }
  })

  it('is made of JSON Schemas of the dialect that OpenAPI 3.1 names', () => {
    const ajv = new Ajv2020({
      strict: true,
      strictTypes: false,
      allowUnionTypes: true,
      formats: { 'date-time': true, email: true },
    })
    const schemas = operations.flatMap(({ operation }) => [
      ...operation.parameters.map(({ schema }) => schema),
      ...[operation.requestBody, ...Object.values(operation.responses)].flatMap((body) =>
        Object.values<{ readonly schema?: object }>(body?.content ?? {}).map(({ schema }) => schema ?? {}),
      ),
    ])
    expect(schemas.length).to.be.above(50)
    for (const schema of schemas) expect(() => ajv.compile(schema), JSON.stringify(schema)).to.not.throw()
  })
})
