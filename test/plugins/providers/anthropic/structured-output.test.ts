import { expect } from 'chai'
import { translate } from './support.ts'

const asking = (json_schema: object) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'answer', ...json_schema } },
})

async function schemaFor(schema: object) {
  return (await translate(asking({ schema, strict: true }))).output_config?.format?.schema
}

async function refusalOf(body: Readonly<Record<string, unknown>>): Promise<{ code: string; param: string; message: string }> {
  const failure: unknown = await translate(body).catch((error: unknown) => error)
  expect(failure).to.have.property('name', 'GatewayError')
  return failure as { code: string; param: string; message: string }
}

describe('anthropic: answers by a schema', () => {
  it('every object is closed, however deep', async () => {
    const point = { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] }
    const closed = { ...point, additionalProperties: false }
    expect(
      await schemaFor({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: {
          at: { $ref: '#/$defs/point' },
          path: { type: 'array', items: point },
          either: { anyOf: [point, { type: 'null' }] },
        },
        $defs: { point },
      }),
    ).to.deep.equal({
      type: 'object',
      properties: {
        at: { $ref: '#/$defs/point' },
        path: { type: 'array', items: closed },
        either: { anyOf: [closed, { type: 'null' }] },
      },
      $defs: { point: closed },
      additionalProperties: false,
    })
  })

  it('rules Anthropic does not enforce are told to the model in words', async () => {
    const properties = {
      age: { type: 'integer', minimum: 0, maximum: 150, description: 'In years.' },
      mail: { type: 'string', format: 'email' },
      code: { type: 'string', format: 'barcode', pattern: '^[0-9]+$' },
      tags: { type: 'array', items: { type: 'string' }, minItems: 1 },
      pair: { type: 'array', items: { type: 'string' }, minItems: 2 },
    }
    expect((await schemaFor({ type: 'object', properties }))?.properties).to.deep.equal({
      age: { type: 'integer', description: 'In years.\n\n{minimum: 0, maximum: 150}' },
      mail: { type: 'string', format: 'email' },
      code: { type: 'string', description: '{format: "barcode", pattern: "^[0-9]+$"}' },
      tags: { type: 'array', items: { type: 'string' }, minItems: 1 },
      pair: { type: 'array', items: { type: 'string' }, description: '{minItems: 2}' },
    })
  })

  it('oneOf becomes anyOf; enum, const and default stay', async () => {
    const properties = { kind: { oneOf: [{ const: 'a' }, { enum: ['b', 'c'], default: 'b' }] } }
    expect((await schemaFor({ type: 'object', properties }))?.properties).to.deep.equal({
      kind: { anyOf: [{ const: 'a' }, { enum: ['b', 'c'], default: 'b' }] },
    })
  })

  it('a field named like a rule, or like a trap, is a field', async () => {
    const properties = JSON.parse('{"minimum":{"type":"string"},"__proto__":{"type":"object","properties":{}}}')
    const schema = await schemaFor({ type: 'object', properties })
    expect(Object.keys(schema?.properties as object)).to.deep.equal(['minimum', '__proto__'])
  })

  it('the description of the format reaches the model', async () => {
    const request = await translate(asking({ schema: { type: 'object', properties: {} }, description: 'A person.' }))
    expect(request.output_config?.format?.schema).to.include({ description: 'A person.' })
  })

  it('goes together with an effort', async () => {
    const body = {
      model: 'claude/claude-opus-5',
      reasoning_effort: 'low',
      ...asking({ schema: { type: 'object', properties: {} } }),
    }
    expect((await translate(body)).output_config).to.have.keys('effort', 'format')
  })

  it('text needs no format', async () => {
    expect(await translate({ response_format: { type: 'text' } })).not.to.have.property('output_config')
  })

  it('JSON without a schema is refused with the way to get it', async () => {
    const refusal = await refusalOf({ response_format: { type: 'json_object' } })
    expect(refusal).to.include({ code: 'unsupported_parameter', param: 'response_format' })
    expect(refusal.message).to.contain('send `json_schema`')
    for (const schema of [undefined, null, 'string']) {
      expect(await refusalOf(asking({ schema }))).to.include({
        code: 'missing_required_parameter',
        param: 'response_format.json_schema.schema',
      })
    }
  })

  it('a model that follows no schema refuses one', async () => {
    const body = { model: 'claude/claude-sonnet-4-20250514', ...asking({ schema: { type: 'object' } }) }
    expect(await refusalOf(body)).to.include({ code: 'unsupported_parameter', param: 'response_format' })
  })
})
