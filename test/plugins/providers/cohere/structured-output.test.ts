import { expect } from 'chai'
import { refusalOf, translate } from './support.ts'

const schema = { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] }
const TOOL = { type: 'function', function: { name: 'look' } }

describe('cohere: answers in JSON', () => {
  it('with a schema, and without', async () => {
    const json_schema = { name: 'person', description: 'Who.', schema, strict: true }
    expect((await translate({ response_format: { type: 'json_schema', json_schema } })).response_format).to.deep.equal({
      type: 'json_object',
      json_schema: schema,
    })
    expect((await translate({ response_format: { type: 'json_object' } })).response_format).to.deep.equal({ type: 'json_object' })
  })

  it('text is how it is anyway', async () => {
    expect(await translate({ response_format: { type: 'text' }, tools: [TOOL] })).not.to.have.property('response_format')
  })

  it('a schema that is missing is asked for', async () => {
    expect(await refusalOf({ response_format: { type: 'json_schema', json_schema: { name: 'x' } } })).to.contain(
      'response_format.json_schema.schema',
    )
  })

  it('beside tools it is refused, for Cohere would do neither', async () => {
    const body = { response_format: { type: 'json_object' }, tools: [TOOL] }
    expect(await refusalOf(body)).to.contain('only where it is offered no tools')
    const none = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } }
    expect(await refusalOf({ ...body, tool_choice: none })).to.equal('not refused')
  })
})
