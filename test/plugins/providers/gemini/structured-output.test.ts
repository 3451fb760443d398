import { expect } from 'chai'
import { configOf, refusalOf, upstream } from './gemini.ts'

const TOOL = { type: 'function', function: { name: 'look' } }
const format = (schema: object, more: object = {}) => ({ type: 'json_schema', json_schema: { name: 'answer', schema, ...more } })
const schemaOf = async (schema: object, more: object = {}) =>
  (await configOf({ response_format: format(schema, more) })).responseJsonSchema

describe('gemini: JSON as the answer', () => {
  it('of any shape is asked for by its type', async () => {
    expect(await configOf({ response_format: { type: 'json_object' } })).to.deep.equal({ responseMimeType: 'application/json' })
  })

  it('by a schema has the schema', async () => {
    const schema = {
      type: 'object',
      properties: { answer: { type: 'string' } },
      required: ['answer'],
      additionalProperties: false,
    }
    expect(await configOf({ response_format: format(schema) })).to.deep.equal({
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    })
  })

  it('is not asked for by the format text', async () => {
    expect(await configOf({ response_format: { type: 'text' } })).to.deep.equal({})
  })

  it('by a schema that is not there is refused', async () => {
    const refusal = await refusalOf({ response_format: { type: 'json_schema', json_schema: { name: 'x' } } })
    expect(refusal).to.include({ row: 'missing_required_parameter', param: 'response_format.json_schema.schema' })
  })

  it('beside tools is refused by a model that cannot do both, and taken by one that can', async () => {
    const both = { tools: [TOOL], response_format: { type: 'json_object' } }
    expect(await refusalOf({ ...both, model: 'google/gemini-2.5-pro' })).to.include({
      row: 'unsupported_parameter',
      param: 'response_format',
    })
    expect(await configOf({ ...both, model: 'google/gemini-3-pro-preview' })).to.deep.equal({
      responseMimeType: 'application/json',
    })
  })

  it('is left out, and said to be, where a tool must be called: there is no answer then', async () => {
    const { body, dropped } = await upstream({ tools: [TOOL], tool_choice: 'required', response_format: { type: 'json_object' } })
    expect(JSON.parse(String(body)).generationConfig).to.deep.equal({})
    expect(dropped).to.deep.equal(['response_format'])
  })
})

describe('gemini: a schema', () => {
  for (const [what, schema, expected] of [
    ['a const becomes an enum of one', { const: 'a' }, { enum: ['a'] }],
    ['a const that is no word or number is told', { const: null }, { description: '{const: null}' }],
    [
      'definitions are found by the name Google has for them',
      { definitions: { a: { type: 'string' } } },
      { $defs: { a: { type: 'string' } } },
    ],
    ['a reference stands alone', { $ref: '#/definitions/a', description: 'An a.' }, { $ref: '#/$defs/a' }],
    ['an allOf of one is that one', { allOf: [{ $ref: '#/$defs/a' }], title: 'A' }, { $ref: '#/$defs/a' }],
    [
      'rules that are not kept to are told to the model',
      { type: 'string', description: 'A name.', pattern: '^a', minLength: 2 },
      { type: 'string', description: 'A name.\n\n{pattern: "^a", minLength: 2}' },
    ],
    ['several allOf are told too', { allOf: [{}, {}] }, { description: '{allOf: [{},{}]}' }],
    ['what means nothing to a model is left out', { $schema: 'x', $comment: 'y', type: 'null' }, { type: 'null' }],
    [
      'inner schemas are treated alike',
      {
        properties: { a: { const: 1 }, pattern: { type: 'string' } },
        items: { const: 2 },
        anyOf: [{ const: 3 }],
        oneOf: [{ const: 4 }],
        prefixItems: [{ const: 5 }],
        additionalProperties: { const: 6 },
        $defs: { b: { const: 7 } },
      },
      {
        properties: { a: { enum: [1] }, pattern: { type: 'string' } },
        items: { enum: [2] },
        anyOf: [{ enum: [3] }],
        oneOf: [{ enum: [4] }],
        prefixItems: [{ enum: [5] }],
        additionalProperties: { enum: [6] },
        $defs: { b: { enum: [7] } },
      },
    ],
  ] as const) {
    it(`${what}`, async () => {
      expect(await schemaOf(schema)).to.deep.equal(expected)
    })
  }

  it("has the format's own description where it has none", async () => {
    expect(await schemaOf({ type: 'object' }, { description: 'The answer.' })).to.deep.equal({
      type: 'object',
      description: 'The answer.',
    })
  })

  it('may name a property as an object names its prototype', async () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"const":"a"}}}')
    expect(JSON.stringify(await schemaOf(schema))).to.equal('{"type":"object","properties":{"__proto__":{"enum":["a"]}}}')
  })
})
