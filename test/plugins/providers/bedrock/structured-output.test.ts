import { expect } from 'chai'
import { translate } from './support.ts'

const schema = { type: 'object', properties: { age: { type: 'integer', minimum: 0 } }, required: ['age'] }
const asked = (json_schema: object) => ({ response_format: { type: 'json_schema', json_schema } })

async function refusalOf(body: Readonly<Record<string, unknown>>): Promise<string> {
  return translate(body).then(
    () => 'not refused',
    (error: unknown) => String(error),
  )
}

describe('bedrock: answers by a schema', () => {
  it('the schema is a text, closed and without what Bedrock refuses', async () => {
    const { outputConfig } = await translate(asked({ name: 'person', description: 'Who.', schema, strict: true }))
    const { schema: text, ...rest } = outputConfig!.textFormat.structure.jsonSchema
    expect(rest).to.deep.equal({ name: 'person', description: 'Who.' })
    expect(JSON.parse(text)).to.deep.equal({
      type: 'object',
      properties: { age: { type: 'integer', description: '{minimum: 0}' } },
      required: ['age'],
      additionalProperties: false,
    })
  })

  it('text is how it is anyway', async () => {
    expect(await translate({ response_format: { type: 'text' } })).not.to.have.property('outputConfig')
  })

  it('JSON without a schema, a schema that is missing, and a model that follows none are refused', async () => {
    expect(await refusalOf({ response_format: { type: 'json_object' } })).to.contain('send `json_schema`')
    expect(await refusalOf(asked({ name: 'person' }))).to.contain('response_format.json_schema.schema')
    expect(await refusalOf({ model: 'amazon.nova-pro-v1:0', ...asked({ name: 'person', schema }) })).to.contain(
      'this model does not follow a schema',
    )
  })
})
