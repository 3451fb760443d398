import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import fc from 'fast-check'
import { fitsSchema } from '../../../core/sdk/schema-fit.ts'

// ajv takes a member of these names for the method of an object, and compares by it (fast-deep-equal 3.1).
const METHODS = /"(?:toString|valueOf|constructor)":/
const json = fc.jsonValue({ maxDepth: 3 }).filter((value) => !METHODS.test(JSON.stringify(value)))
const count = fc.nat(4)

/** Schemas of the keywords that are checked, and that ajv reads alike. */
const { schema } = fc.letrec<{ schema: object | boolean }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.boolean(),
    fc.record({ type: fc.constantFrom('null', 'boolean', 'string', 'number', 'integer', 'object', 'array') }),
    fc.record({ type: fc.constant(['string', 'null']) }),
    fc.record({ const: json }),
    fc.record({ enum: fc.array(json, { minLength: 1, maxLength: 4 }) }),
    fc.record(
      {
        minimum: fc.integer(),
        exclusiveMaximum: fc.integer(),
        minLength: count,
        maxLength: count,
        minItems: count,
        maxProperties: count,
      },
      { requiredKeys: [] },
    ),
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')),
        required: fc.uniqueArray(fc.constantFrom('a', 'b')),
        additionalProperties: tie('schema'),
      },
      { requiredKeys: ['type'] },
    ),
    fc.record({ prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }), items: tie('schema') }),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie('schema') }),
    fc
      .record({ $ref: fc.constant('#/$defs/a'), $defs: fc.constant({ a: { type: 'string' } }) })
      .map(({ $ref, $defs }) => ({ $defs, $ref })),
  ),
}))

const value = fc.oneof(json, fc.dictionary(fc.constantFrom('a', 'b', 'c'), json))

describe('whether an answer fits a schema', () => {
  it('is what ajv says', () => {
    fc.assert(
      fc.property(schema, value, (schema, value) => {
        const root = { $defs: { a: { type: 'string' } }, allOf: [schema] }
        const ajv = new Ajv2020({ strict: false, validateSchema: false })
        expect(fitsSchema(value, root)).to.equal(ajv.compile(root)(value))
      }),
      { numRuns: 300 },
    )
  })

  // What the generator leaves out, since ajv cannot judge it.
  for (const name of ['toString', 'valueOf', 'constructor', '__proto__', 'hasOwnProperty']) {
    it(`takes a member ${name} for a member, and no method of objects for one`, () => {
      const having = JSON.parse(`{"${name}":""}`)
      expect(fitsSchema(having, { const: {} })).to.equal(false)
      expect(fitsSchema(having, { const: having })).to.equal(true)
      expect(fitsSchema({}, { enum: [having] })).to.equal(false)
      expect(fitsSchema({}, { required: [name] })).to.equal(false)
      expect(fitsSchema(having, { required: [name] })).to.equal(true)
      expect(fitsSchema(having, { properties: {}, additionalProperties: false })).to.equal(false)
      expect(fitsSchema({}, { properties: JSON.parse(`{"${name}":false}`) })).to.equal(true)
      expect(fitsSchema(having, { properties: JSON.parse(`{"${name}":false}`) })).to.equal(false)
    })
  }

  it('follows a schema that refers to itself', () => {
    const tree = { type: 'object', properties: { kids: { type: 'array', items: { $ref: '#' } } }, additionalProperties: false }
    expect(fitsSchema({ kids: [{ kids: [] }] }, tree)).to.equal(true)
    expect(fitsSchema({ kids: [{ kids: [{ name: 'x' }] }] }, tree)).to.equal(false)
  })

  it('counts code points, not places in a string', () => {
    expect(fitsSchema('😀', { maxLength: 1 })).to.equal(true)
  })

  it('ends for schemas that would never end, as if the value fitted', () => {
    const levels = Array.from({ length: 60 }, (_, level) => [
      `a${level}`,
      { anyOf: [{ $ref: `#/$defs/a${level + 1}` }, { $ref: `#/$defs/a${level + 1}` }] },
    ])
    const doubling = { $ref: '#/$defs/a0', $defs: { ...Object.fromEntries(levels), a60: { type: 'string' } } }
    expect(fitsSchema(1, doubling)).to.equal(true)
    expect(fitsSchema(1, { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } })).to.equal(true)
    expect(fitsSchema('a'.repeat(100), { pattern: '^(a+)+$b' })).to.equal(true)
  })

  it('is not asked of what other schemas mean: unknown keywords, places and types allow any value', () => {
    for (const schema of [{ $ref: 'https://example.com/x' }, { $ref: '#/$defs/none' }, { type: 'money' }, { format: 'date' }])
      expect(fitsSchema('x', schema)).to.equal(true)
  })
})
