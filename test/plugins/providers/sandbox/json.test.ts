import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import fc from 'fast-check'
import { complete, refusal, saying } from './sandbox.ts'

const format = (schema: unknown) => ({
  ...saying('Hi'),
  response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
})

const made = async (schema: unknown): Promise<unknown> =>
  JSON.parse((await complete(format(schema))).choices[0]!.message.content!)

const ajv = new Ajv2020({ strict: false, validateFormats: false, addUsedSchema: false })

const KEYWORDS =
  '$ref allOf anyOf oneOf const enum type properties required additionalProperties minProperties maxProperties items prefixItems minItems maxItems uniqueItems minLength maxLength pattern format default examples minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'.split(
    ' ',
  )

/** JSON values without objects: ajv calls the `toString` of objects that have one. */
const plainValue = fc.oneof(
  fc.string(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(null, true, [], [1, 'a'], { a: {} }),
)

/** Satisfiable schemas of the supported keywords. */
const { schema: anySchema } = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<object>({}, { type: 'boolean' }, { type: 'null' }, { type: ['null', 'string'] }),
    fc.array(plainValue, { minLength: 1, maxLength: 3 }).map((values) => ({ enum: values })),
    plainValue.map((value) => ({ const: value })),
    fc.tuple(fc.nat(9), fc.nat(9)).map(([least, more]) => ({ type: 'string', minLength: least, maxLength: least + more })),
    fc.tuple(fc.integer(), fc.nat(99)).map(([low, more]) => ({ type: 'integer', minimum: low, maximum: low + more })),
    fc.tuple(fc.integer({ min: -99, max: 99 }), fc.integer({ min: 1, max: 9 })).map(([low, more]) => ({
      type: 'number',
      exclusiveMinimum: low,
      exclusiveMaximum: low + more,
    })),
    fc.tuple(fc.integer({ min: -99, max: 99 }), fc.integer({ min: 1, max: 9 })).map(([low, step]) => ({
      type: 'integer',
      minimum: low,
      maximum: low + step,
      multipleOf: step,
    })),
    fc.record({ type: fc.constant('array'), items: tie('schema'), minItems: fc.nat(2), uniqueItems: fc.constant(false) }),
    fc.record({
      type: fc.constant('array'),
      prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
      items: fc.boolean(),
    }),
    objects(tie('schema')),
    fc.array(tie('schema'), { minLength: 1, maxLength: 2 }).map((anyOf) => ({ anyOf })),
    fc.tuple(objects(tie('schema'), 'a'), objects(tie('schema'), 'b')).map((allOf) => ({ allOf })),
  ),
}))

const TOO_MUCH = /too many or too long values/

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

/** A schema that requires `count` values of another. */
const repeated = (count: number, schema: object) => ({
  $defs: { one: schema },
  type: 'array',
  minItems: count,
  items: { $ref: '#/$defs/one' },
})

/** A schema with `count` optional properties of another. */
const optional = (count: number, schema: object) => ({
  $defs: { one: schema },
  properties: Object.fromEntries(numbers(count).map((n) => [n, { $ref: '#/$defs/one' }])),
})

/** Two equal schemas. */
const parts = (size: number) => [0, 1].map(() => ({ enum: numbers(size) }))

function objects(property: fc.Arbitrary<object>, prefix = ''): fc.Arbitrary<object> {
  const names = fc.uniqueArray(fc.constantFrom('id', 'name', 'length', 'a b', 'é/~'), { maxLength: 3 })
  return names.chain((some) =>
    fc.record({
      type: fc.constant('object'),
      properties: fc
        .tuple(...some.map(() => property))
        .map((schemas) => Object.fromEntries(some.map((name, i) => [prefix + name, schemas[i]]))),
      required: fc.subarray(some).map((few) => few.map((name) => prefix + name)),
      additionalProperties: fc.constant(prefix !== ''),
    }),
  )
}

describe('sandbox: JSON', () => {
  it('json_object is an object with the message', async () => {
    const { choices } = await complete({ ...saying('Hi'), response_format: { type: 'json_object' } })
    expect(JSON.parse(choices[0]!.message.content!)).to.deep.equal({ reply: 'Hi' })
  })

  it('the format text has no effect', async () => {
    const { choices } = await complete({ ...saying('Hi'), response_format: { type: 'text' } })
    expect(choices[0]!.message.content).to.equal('Hi')
  })

  it('a JSON schema gets a valid value, always the same', async () => {
    await fc.assert(
      fc.asyncProperty(anySchema, async (schema) => {
        const value = await made(schema)
        expect(ajv.validate(schema, value), `${JSON.stringify(value)} for ${JSON.stringify(schema)}`).to.equal(true)
        expect(await made(schema)).to.deep.equal(value)
      }),
      { numRuns: 300 },
    )
  })

  it('a value has all properties, also optional ones', async () => {
    const schema = { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'array', items: { type: 'string' } } } }
    expect(await made(schema)).to.deep.equal({ a: 1, b: ['sandbox'] })
  })

  it('properties may be named __proto__ and toString', async () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"null"},"toString":{"type":"null"}}}')
    const { choices } = await complete(format(schema))
    expect(choices[0]!.message.content).to.equal('{"__proto__":null,"toString":null}')
  })

  it('a recursive schema gets a finite value', async () => {
    const node = {
      type: 'object',
      properties: { value: { type: 'string' }, next: { $ref: '#/$defs/node' } },
      required: ['value'],
    }
    const schema = { $ref: '#/$defs/node', $defs: { node } }
    expect(ajv.validate(schema, await made(schema))).to.equal(true)
    expect(await made({ type: 'array', items: { $ref: '#' } })).to.be.an('array')
  })

  it('references with siblings, allOf and nullable objects are supported', async () => {
    const schema = {
      allOf: [{ $ref: '#/$defs/base' }, { properties: { b: { type: 'null' } }, required: ['b'] }],
      $defs: { base: { type: 'object', properties: { a: { anyOf: [{ type: 'null' }, { type: 'integer' }] } }, required: ['a'] } },
    }
    expect(await made(schema)).to.deep.equal({ a: null, b: null })
    expect(await made({ type: 'integer', anyOf: [{ type: 'string' }, { minimum: 7 }] })).to.equal(7)
    const twice = {
      allOf: [{ properties: { a: { type: 'number', minimum: 3 } } }, { properties: { a: { type: 'integer', maximum: 9 } } }],
    }
    expect(await made(twice)).to.deep.equal({ a: 3 })
    expect(await made({ allOf: [{ enum: [1, 2] }, { enum: [2, 3] }] })).to.equal(2)
    expect(await made({ $ref: '#/$defs/n', minimum: 5, $defs: { n: { type: 'number', minimum: 2 } } })).to.equal(5)
  })

  it('formats have valid values', async () => {
    const looks: Record<string, RegExp> = {
      date: /^\d{4}-\d\d-\d\d$/,
      'date-time': /^\d{4}-\d\d-\d\dT/,
      email: /@/,
      uri: /^https:/,
      uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8/,
      ipv4: /^\d+(\.\d+){3}$/,
    }
    for (const [name, look] of Object.entries(looks)) expect(await made({ type: 'string', format: name })).to.match(look)
    expect(await made({ type: 'string', format: 'something-else' })).to.equal('sandbox')
  })

  it("a pattern gets the schema's default or example", async () => {
    expect(await made({ type: 'string', pattern: '^[A-Z]{3}$', examples: ['EUR'] })).to.equal('EUR')
    expect(await made({ type: 'string', pattern: '^[A-Z]{3}$', default: 'USD' })).to.equal('USD')
    expect(await made({ type: 'object', properties: { code: { pattern: '^x$', type: 'string' } } })).to.deep.equal({})
  })

  const unmet: readonly [string, unknown, RegExp][] = [
    ['a pattern alone', { type: 'string', pattern: '^x$' }, /'default' or 'examples'/],
    ['contradicting bounds', { type: 'integer', minimum: 2, maximum: 1 }, /bounds/],
    ['no integer between its bounds', { type: 'integer', exclusiveMinimum: 1, exclusiveMaximum: 2 }, /bounds/],
    ['contradicting lengths', { type: 'string', minLength: 3, maxLength: 2 }, /bounds/],
    ['a format above maxLength', { type: 'string', format: 'uuid', maxLength: 5 }, /bounds/],
    ['an enum of another type', { type: 'integer', enum: ['a', 1.5] }, /none of its listed values/],
    ['an unsupported keyword', { type: 'object', patternProperties: { a: {} } }, /'patternProperties' is not supported/],
    ['a forbidden required property', { type: 'object', required: ['a'], additionalProperties: false }, /false/],
    ['two unique elements', { type: 'array', uniqueItems: true, minItems: 2 }, /elements/],
    ['an external reference', { $ref: 'https://example.com/schema' }, /must point into the schema itself/],
    ['a broken reference', { $ref: '#/$defs/toString' }, /does not exist/],
    ['a reference to itself', { $ref: '#' }, /is infinite/],
    ['an infinite object', { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }, /is infinite/],
    ['a million elements', { type: 'array', items: {}, minItems: 1_000_000 }, /elements/],
    ['a very long string', { type: 'string', minLength: 1_000_000 }, /10000 characters/],
    ['an unknown type', { type: 'strin' }, /"strin" is not a type/],
    ['an invalid keyword', { type: 'object', required: 'a' }, /'required' is not a list/],
    ['an invalid name', { type: 'object', required: [{ toString: 1 }] }, /'required' is not a list of names/],
    ['a type that is an object', { type: { toString: 1 } }, /is not a type/],
    ['parts with an invalid keyword', { allOf: [{ required: 1 }, { required: 2 }] }, /'required' is not a list/],
    ['parts with invalid properties', { allOf: [{ properties: {} }, { properties: null }] }, /'properties' is not an object/],
    ['different constants', { allOf: [{ const: 1 }, { const: 2 }] }, /different 'const'/],
    [
      'a property forbidden by a part',
      { allOf: [{ properties: {}, additionalProperties: false }, { properties: { a: {} } }] },
      /allows no additional ones/,
    ],
    ['more than 64 KiB', { description: 'x'.repeat(65 * 1024) }, /larger than 65536/],
    ['the value false', false, /'false'/],
    ['an invalid value', 7, /not a schema/],
  ]
  for (const [what, schema, message] of unmet) {
    it(`a schema with ${what} is a 400 with the reason`, async () => {
      const { status, error } = await refusal(format(schema))
      expect(status).to.equal(400)
      expect(error).to.include({ type: 'invalid_request_error', param: 'response_format.json_schema.schema' })
      expect(error.message).to.match(message)
    })
  }

  it('any schema gets a value or a 400', async () => {
    const { nonsense } = fc.letrec((tie) => ({
      nonsense: fc.dictionary(
        fc.constantFrom(...KEYWORDS),
        fc.oneof({ maxDepth: 3 }, fc.jsonValue({ maxDepth: 1 }), tie('nonsense'), fc.array(tie('nonsense'), { maxLength: 2 })),
        { maxKeys: 4 },
      ),
    }))
    await fc.assert(
      fc.asyncProperty(nonsense, async (schema) => {
        const { status, error } = await refusal(format(schema))
        if (status !== 200) expect({ status, code: error.code }).to.deep.equal({ status: 400, code: 'invalid_value' })
      }),
      { numRuns: 500 },
    )
  })

  it('a schema of exponential size is refused quickly', async () => {
    const level = (n: number) => ({ type: 'array', minItems: 9, items: { $ref: `#/$defs/${n}` } })
    const $defs = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [n, n === 19 ? {} : level(n + 1)]))
    expect((await refusal(format({ $defs, ...level(0) }))).error.message).to.match(TOO_MUCH)
  })

  it('a schema of 400 properties gets a value', async () => {
    const names = Array.from({ length: 400 }, (_, index) => `a_property_${index}`)
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string', description: 'What it is.' }]))
    expect(Object.keys((await made({ type: 'object', properties, required: names })) as object)).to.deep.equal(names)
  })

  for (const [what, schema] of [
    ['many long strings', { type: 'array', minItems: 600, items: { type: 'string', minLength: 10_000 } }],
    ['a repeated long constant', repeated(450, { const: 'ab '.repeat(20_000) })],
    ['a repeated large schema', repeated(900, Object.fromEntries(numbers(4500).map((n) => [`x${n}`, 0])))],
    ['a repeated unsatisfiable enum', optional(900, { type: 'string', enum: numbers(5000) })],
    ['a repeated unsatisfiable list of types', optional(900, { type: numbers(5000) })],
    ['properties with long names', repeated(300, { type: 'object', required: ['x'.repeat(50_000)] })],
    ['two alternating large parts', { $defs: parts(3000), allOf: numbers(900).map((n) => ({ $ref: `#/$defs/${n % 2}` })) }],
  ] as const) {
    it(`a schema with ${what} is refused quickly`, async () => {
      const { status, error } = await refusal(format(schema))
      expect(status).to.equal(400)
      expect(error.message).to.match(TOO_MUCH)
    })
  }

  it('two long enums are intersected', async () => {
    const evenly = (step: number) => numbers(5000).map((n) => n * step + 1)
    expect(await made({ allOf: [{ enum: [...evenly(2), 'a'] }, { enum: [...evenly(3).reverse(), 'a'] }] })).to.equal(1)
    expect(
      await made({ allOf: [{ enum: [...numbers(5000), { a: [1] }] }, { enum: [...numbers(9000).slice(5000), { a: [1] }] }] }),
    ).to.deep.equal({ a: [1] })
  })
})
