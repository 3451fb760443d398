import { expect } from 'chai'
import { GatewayError, readResponseFormat, readToolChoice, restrictSchema, type ToolChoice } from 'unified-model-gateway/plugin'

const tool = (name: string) => ({ type: 'function', function: { name } }) as const
const allowed = (mode: 'auto' | 'required', ...names: string[]): ToolChoice => ({
  type: 'allowed_tools',
  allowed_tools: { mode, tools: names.map(tool) },
})

describe('readToolChoice', () => {
  for (const [name, choice, expected] of [
    ['undefined', undefined, { mode: 'auto' }],
    ['null', null, { mode: 'auto' }],
    ['auto', 'auto', { mode: 'auto' }],
    ['none', 'none', { mode: 'none' }],
    ['required', 'required', { mode: 'required' }],
    ['a tool by its name', tool('look'), { mode: 'required', names: new Set(['look']) }],
    ['allowed tools in mode auto', allowed('auto', 'look', 'listen'), { mode: 'auto', names: new Set(['look', 'listen']) }],
    ['allowed tools in mode required', allowed('required', 'look'), { mode: 'required', names: new Set(['look']) }],
    ['an empty list of allowed tools', allowed('auto'), { mode: 'auto', names: new Set() }],
  ] as const) {
    it(`reads ${name}`, () => expect(readToolChoice(choice)).to.deep.equal(expected))
  }

  it('refuses a custom tool', () => {
    expect(refusalOf(() => readToolChoice({ type: 'custom', custom: { name: 'x' } }))).to.include({
      row: 'unsupported_parameter',
      param: 'tool_choice',
    })
  })

  it('refuses an invalid choice with a list of the valid ones', () => {
    for (const choice of [
      'any',
      { type: 'function' },
      { type: 'allowed_tools' },
      { type: 'allowed_tools', allowed_tools: { tools: [{}] } },
    ]) {
      const refusal = refusalOf(() => readToolChoice(choice as ToolChoice))
      expect(refusal).to.include({ row: 'invalid_value', param: 'tool_choice' })
      expect(refusal.message).to.contain('a function by its name')
    }
  })
})

describe('readResponseFormat', () => {
  const schema = { type: 'object' }

  it('reads text as undefined', () => {
    for (const format of [undefined, null, { type: 'text' } as const]) expect(readResponseFormat(format)).to.equal(undefined)
  })

  it('reads JSON with and without a schema', () => {
    expect(readResponseFormat({ type: 'json_object' })).to.deep.equal({ type: 'json_object' })
    const json_schema = { name: 'person', description: 'A person', schema, strict: true }
    const expected = { type: 'json_schema', name: 'person', description: 'A person', schema, strict: true }
    expect(readResponseFormat({ type: 'json_schema', json_schema })).to.deep.equal(expected)
  })

  it('refuses a missing schema', () => {
    expect(refusalOf(() => readResponseFormat({ type: 'json_schema', json_schema: { name: 'person' } }))).to.include({
      row: 'missing_required_parameter',
      param: 'response_format.json_schema.schema',
    })
  })
})

describe('restrictSchema', () => {
  const KEYWORDS = {
    schema: new Set(['items']),
    list: new Set(['anyOf']),
    named: new Set(['properties']),
    takes: (keyword: string) => keyword === 'type',
    ignored: new Set(['$schema']),
  }
  const restrict = (schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
    restrictSchema(schema, KEYWORDS, restrict)

  it('keeps known keywords, at every level', () => {
    const age = { type: 'integer' }
    const schema = { type: 'array', items: { anyOf: [age, { properties: { age } }] } }
    expect(restrict(schema)).to.deep.equal(schema)
  })

  it('moves unknown keywords to the description, and removes ignored ones', () => {
    expect(restrict({ $schema: 'x', type: 'integer', minimum: 1, description: 'The age' })).to.deep.equal({
      type: 'integer',
      description: 'The age\n\n{minimum: 1}',
    })
    expect(restrict({ items: { pattern: 'a' } })).to.deep.equal({ items: { description: '{pattern: "a"}' } })
  })
})

function refusalOf(read: () => unknown): GatewayError {
  try {
    read()
  } catch (error) {
    expect(error).to.be.instanceOf(GatewayError)
    return error as GatewayError
  }
  throw new Error('not refused')
}
