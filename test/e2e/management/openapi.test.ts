import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { openApiDocument } from '../../../core/control/openapi.ts'
import { OPERATIONS } from '../../../core/control/operations.ts'

interface OperationObject {
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

/** The document as a client reads it: JSON. */
const document = JSON.parse(JSON.stringify(openApiDocument(OPERATIONS, { base: '/api/v1', version: '1.2.3' }))) as {
  readonly openapi: string
  readonly info: object
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, path, operation })),
)

describe('the OpenAPI document', () => {
  it('describes every operation once', () => {
    expect(operations.map(({ name }) => name)).to.have.members(OPERATIONS.map(({ method, path }) => `${method} /api/v1${path}`))
    expect(document).to.include({ openapi: '3.1.0' })
    expect(document.info).to.include({ version: '1.2.3' })
  })

  it('describes the access, parameters, body and reply of every operation', () => {
    for (const { name, path, operation } of operations) {
      expect(operation.summary, name).to.match(/^[A-Z]/)
      const definition = OPERATIONS.find((each) => name === `${each.method} /api/v1${each.path}`)!
      expect(operation.security, name).to.have.length(definition.access === 'public' ? 0 : 2)
      const inPath = operation.parameters.filter((parameter) => parameter.in === 'path').map((parameter) => `{${parameter.name}}`)
      expect(path.match(/\{\w+\}/g) ?? [], name).to.deep.equal(inPath)
      expect(Object.keys(operation.responses), name).to.include('default').and.to.have.length(2)
      if (definition.body !== undefined)
        expect(operation.requestBody?.content['application/json']?.schema.additionalProperties, name).to.equal(false)
    }
  })

  it('consists of JSON Schemas of the dialect that OpenAPI 3.1 uses, their references resolved', () => {
    const ajv = new Ajv2020({
      strict: true,
      strictTypes: false,
      allowUnionTypes: true,
      formats: { 'date-time': true, email: true },
    })
    ajv.addKeyword('components')
    const schemas = operations.flatMap(({ operation }) => [
      ...operation.parameters.map(({ schema }) => schema),
      ...[operation.requestBody, ...Object.values(operation.responses)].flatMap((body) =>
        Object.values<{ readonly schema?: object }>(body?.content ?? {}).map(({ schema }) => schema ?? {}),
      ),
    ])
    expect(schemas.length).to.be.above(50)
    const { components } = document
    for (const schema of [...schemas, ...Object.values(components.schemas)])
      expect(() => ajv.compile({ ...schema, components }), JSON.stringify(schema)).to.not.throw()
  })

  it('names a schema once, and refers to it everywhere else', () => {
    const names = Object.keys(document.components.schemas)
    expect(names).to.include.members(['Account', 'ApiKey', 'Error', 'Invitation', 'Request', 'Session', 'Usage', 'User'])
    const references = new Set(JSON.stringify(document).match(/#\/components\/schemas\/\w+/g))
    expect([...references].sort()).to.deep.equal(names.map((name) => `#/components/schemas/${name}`).sort())
  })
})
