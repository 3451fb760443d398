import { expect } from 'chai'
import { parameters } from '../../../../plugins/providers/cohere/request.ts'
import { expectParametersOn, providerPage } from '../../../support/provider-page.ts'
import { refusalOf, translate, upstream } from './support.ts'

const TOOL = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }
const STRICT = {
  type: 'function',
  function: {
    name: 'look',
    strict: true,
    parameters: { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] },
  },
}
const IMAGE = { type: 'image_url', image_url: { url: 'https://images.example/a.png', detail: 'low' } }
const SCHEMA = { type: 'object', properties: {}, additionalProperties: false }

/** Per mapped parameter: a request that uses it, and the expected members. */
const ARRIVES: Readonly<Record<string, readonly [body: Record<string, unknown>, expected: object]>> = {
  model: [{ model: 'command-a-03-2025' }, { model: 'command-a-03-2025' }],
  messages: [{ messages: [{ role: 'user', content: 'Hi' }] }, { messages: [{ role: 'user', content: 'Hi' }] }],
  stream: [{ stream: true }, { stream: true }],
  stream_options: [{ stream: true, stream_options: { include_usage: true } }, { stream: true }],
  max_tokens: [{ max_tokens: 9 }, { max_tokens: 9 }],
  max_completion_tokens: [{ max_completion_tokens: 9, max_tokens: 5 }, { max_tokens: 9 }],
  temperature: [{ temperature: 0.5 }, { temperature: 0.5 }],
  top_p: [{ top_p: 0.5 }, { p: 0.5 }],
  top_k: [{ top_k: 40 }, { k: 40 }],
  frequency_penalty: [{ frequency_penalty: 0.5 }, { frequency_penalty: 0.5 }],
  presence_penalty: [{ presence_penalty: 0.5 }, { presence_penalty: 0.5 }],
  seed: [{ seed: 7 }, { seed: 7 }],
  stop: [{ stop: 'END' }, { stop_sequences: ['END'] }],
  tools: [{ tools: [TOOL] }, { tools: [TOOL] }],
  tool_choice: [
    { tools: [TOOL], tool_choice: 'required' },
    { tools: [TOOL], tool_choice: 'REQUIRED' },
  ],
  response_format: [
    { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: SCHEMA } } },
    { response_format: { type: 'json_object', json_schema: SCHEMA } },
  ],
  'image_url.detail': [{ messages: [{ role: 'user', content: [IMAGE] }] }, { messages: [{ role: 'user', content: [IMAGE] }] }],
  'tools.strict': [{ tools: [STRICT] }, { strict_tools: true }],
  reasoning_effort: [{ reasoning_effort: 'low', max_tokens: 1000 }, { thinking: { type: 'enabled', token_budget: 200 } }],
  thinking: [{ thinking: { type: 'enabled', budget_tokens: 3000 } }, { thinking: { type: 'enabled', token_budget: 3000 } }],
  reasoning: [{ reasoning: { max_tokens: 3000 } }, { thinking: { type: 'enabled', token_budget: 3000 } }],
}

describe('cohere: parameters', () => {
  for (const [name, [body, expected]] of Object.entries(ARRIVES)) {
    it(`${name} is sent`, async () => expect(await translate(body)).to.deep.include(expected))
  }

  it('of this test are all mapped ones', () => {
    const mapped = Object.keys(parameters).filter((name) => parameters[name]?.support === 'mapped')
    expect(mapped).to.have.members(Object.keys(ARRIVES))
  })

  it('are on the docs page with their support', () => expectParametersOn(providerPage('cohere'), parameters))
})

async function sampled(body: Readonly<Record<string, unknown>>) {
  const { body: text, dropped } = await upstream(body)
  const { model: _, messages: __, ...rest } = JSON.parse(String(text))
  return { ...rest, dropped }
}

describe('cohere: sampling', () => {
  it("values outside of Cohere's bounds become the nearest ones", async () => {
    expect(await translate({ temperature: 1.7, top_p: 1 })).to.include({ temperature: 1, p: 0.99 })
    expect(await translate({ temperature: 0, top_p: 0 })).to.include({ temperature: 0, p: 0.01 })
    expect(await translate({ frequency_penalty: 1.5 })).to.include({ frequency_penalty: 1 })
  })

  it('a negative seed becomes positive', async () => expect(await translate({ seed: -7 })).to.include({ seed: 7 }))

  it('the second of two penalties is dropped', async () => {
    expect(await sampled({ frequency_penalty: 0.5, presence_penalty: 0.4 })).to.deep.equal({
      frequency_penalty: 0.5,
      dropped: ['presence_penalty'],
    })
  })

  it('negative penalties are dropped', async () => {
    expect(await sampled({ frequency_penalty: -1, presence_penalty: 0.4 })).to.deep.equal({
      presence_penalty: 0.4,
      dropped: ['frequency_penalty'],
    })
    expect(await sampled({ frequency_penalty: 0, presence_penalty: 0 })).to.deep.equal({ dropped: [] })
  })

  it('an empty stop sequence is dropped', async () => {
    expect(await sampled({ stop: ['END', ''] })).to.deep.equal({ stop_sequences: ['END'], dropped: ['stop'] })
    expect(await sampled({ stop: '' })).to.deep.equal({ dropped: ['stop'] })
  })

  it('null is not sent', async () => {
    const body = { temperature: null, top_p: null, seed: null, stop: null, frequency_penalty: null, max_tokens: null }
    expect(await sampled({ ...body, reasoning_effort: null, response_format: null, stream: null })).to.deep.equal({ dropped: [] })
  })
})

const schema = { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] }

describe('cohere: response_format', () => {
  it('is sent with a schema, and without', async () => {
    const json_schema = { name: 'person', description: 'Who.', schema, strict: true }
    expect((await translate({ response_format: { type: 'json_schema', json_schema } })).response_format).to.deep.equal({
      type: 'json_object',
      json_schema: schema,
    })
    expect((await translate({ response_format: { type: 'json_object' } })).response_format).to.deep.equal({ type: 'json_object' })
  })

  it('is not sent for text', async () => {
    expect(await translate({ response_format: { type: 'text' }, tools: [TOOL] })).not.to.have.property('response_format')
  })

  it('is refused without a schema', async () => {
    expect(await refusalOf({ response_format: { type: 'json_schema', json_schema: { name: 'x' } } })).to.contain(
      'response_format.json_schema.schema',
    )
  })

  it('is an instruction beside tools', async () => {
    const { messages, tools, response_format } = await translate({ response_format: { type: 'json_object' }, tools: [TOOL] })
    expect(JSON.stringify(messages)).to.contain('Answer with a single JSON object')
    expect(tools).to.have.length(1)
    expect(response_format).to.equal(undefined)
  })
})
