import { expect } from 'chai'
import { parameters } from '../../../../plugins/providers/bedrock/request.ts'
import { expectParametersOn, providerPage } from '../../../support/provider-page.ts'
import { translate, upstream } from './support.ts'

const TOOL = { type: 'function', function: { name: 'look' } }
const SPEC = { toolSpec: { name: 'look', inputSchema: { json: { type: 'object', properties: {} } } } }
const SCHEMA = { type: 'object', properties: {}, additionalProperties: false }

/** Per mapped parameter of the body: a request that uses it, and the expected members. */
const ARRIVES: Readonly<Record<string, readonly [body: Record<string, unknown>, expected: object]>> = {
  messages: [{ messages: [{ role: 'user', content: 'Hi' }] }, { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] }],
  stream_options: [{ stream: true, stream_options: { include_usage: true } }, {}],
  max_tokens: [{ max_tokens: 9 }, { inferenceConfig: { maxTokens: 9 } }],
  max_completion_tokens: [{ max_completion_tokens: 9, max_tokens: 5 }, { inferenceConfig: { maxTokens: 9 } }],
  temperature: [{ temperature: 0.5 }, { inferenceConfig: { temperature: 0.5 } }],
  top_p: [{ top_p: 0.5 }, { inferenceConfig: { topP: 0.5 } }],
  top_k: [{ top_k: 40 }, { additionalModelRequestFields: { top_k: 40 } }],
  metadata: [{ metadata: { team: 'blue' } }, { requestMetadata: { team: 'blue' } }],
  stop: [{ stop: 'END' }, { inferenceConfig: { stopSequences: ['END'] } }],
  tools: [{ tools: [TOOL] }, { toolConfig: { tools: [SPEC] } }],
  tool_choice: [{ tools: [TOOL], tool_choice: 'required' }, { toolConfig: { tools: [SPEC], toolChoice: { any: {} } } }],
  parallel_tool_calls: [
    { tools: [TOOL], parallel_tool_calls: false },
    { additionalModelRequestFields: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } } },
  ],
  response_format: [
    { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: SCHEMA } } },
    {
      outputConfig: {
        textFormat: { type: 'json_schema', structure: { jsonSchema: { schema: JSON.stringify(SCHEMA), name: 'answer' } } },
      },
    },
  ],
  reasoning_effort: [
    { reasoning_effort: 'low' },
    { additionalModelRequestFields: { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } } },
  ],
  thinking: [
    { thinking: { type: 'enabled', budget_tokens: 3000 } },
    { additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 3000 } } },
  ],
  reasoning: [
    { reasoning: { effort: 'low' } },
    { additionalModelRequestFields: { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } } },
  ],
  'tools.strict': [
    { tools: [{ ...TOOL, function: { ...TOOL.function, strict: true } }] },
    { toolConfig: { tools: [{ toolSpec: { name: 'look', inputSchema: { json: SCHEMA }, strict: true } }] } },
  ],
  service_tier: [{ model: 'amazon.nova-pro-v1:0', service_tier: 'flex' }, { serviceTier: { type: 'flex' } }],
  prompt_cache_breakpoint: [
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', prompt_cache_breakpoint: { mode: 'explicit' } }] }] },
    { messages: [{ role: 'user', content: [{ text: 'Hi' }, { cachePoint: { type: 'default' } }] }] },
  ],
  cache_control: [
    { cache_control: { type: 'ephemeral', ttl: '1h' } },
    { messages: [{ role: 'user', content: [{ text: 'Hello' }, { cachePoint: { type: 'default', ttl: '1h' } }] }] },
  ],
}

/** The expected part of the path. */
const IN_THE_PATH: Readonly<Record<string, readonly [body: Record<string, unknown>, path: string]>> = {
  model: [{ model: 'amazon.nova-pro-v1:0' }, '/model/amazon.nova-pro-v1%3A0/converse'],
  stream: [{ model: 'm', stream: true }, '/model/m/converse-stream'],
}

describe('bedrock: parameters', () => {
  for (const [name, [body, expected]] of Object.entries(ARRIVES)) {
    it(`${name} is sent`, async () => expect(await translate(body)).to.deep.include(expected))
  }

  for (const [name, [body, path]] of Object.entries(IN_THE_PATH)) {
    it(`${name} is in the path`, async () => expect((await upstream(body)).path).to.equal(path))
  }

  it('of this test are all mapped ones', () => {
    const mapped = Object.keys(parameters).filter((name) => parameters[name]?.support === 'mapped')
    expect(mapped).to.have.members([...Object.keys(ARRIVES), ...Object.keys(IN_THE_PATH)])
  })

  it('are on the docs page with their support', () => expectParametersOn(providerPage('bedrock'), parameters))
})

describe('bedrock: what is inside messages and tools', () => {
  const dropped = async (body: Readonly<Record<string, unknown>>) => (await upstream(body)).dropped

  it('is named in the reply where the model does not take it', async () => {
    const content = [{ type: 'text', text: 'Hi', prompt_cache_breakpoint: { mode: 'explicit' } }]
    const tools = [{ ...TOOL, function: { ...TOOL.function, strict: true } }]
    const body = { messages: [{ role: 'user', name: 'Ann', content }], tools }
    expect(await dropped({ model: 'meta.llama3-70b', ...body })).to.deep.equal([
      'messages.name',
      'prompt_cache_breakpoint',
      'tools.strict',
    ])
    expect(await dropped(body)).to.deep.equal(['messages.name'])
  })

  it('and a mark of the whole request is named for a model that does not cache', async () => {
    const body = { cache_control: { type: 'ephemeral' } }
    expect(await dropped({ model: 'meta.llama3-70b', ...body })).to.deep.equal(['cache_control'])
    expect(await dropped(body)).to.deep.equal([])
  })
})

const schema = { type: 'object', properties: { age: { type: 'integer', minimum: 0 } }, required: ['age'] }
const asked = (json_schema: object) => ({ response_format: { type: 'json_schema', json_schema } })

async function refusalOf(body: Readonly<Record<string, unknown>>): Promise<string> {
  return translate(body).then(
    () => 'not refused',
    (error: unknown) => String(error),
  )
}

describe('bedrock: response_format', () => {
  it('has the schema as a text, closed and restricted', async () => {
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

  it('is the arguments of a tool for a map, which would stay empty', async () => {
    const map = { type: 'object', properties: { m: { type: 'object', additionalProperties: { type: 'number' } } } }
    const { toolConfig, outputConfig } = await translate(asked({ name: 'm', schema: map, strict: true }))
    expect(outputConfig).to.equal(undefined)
    expect(toolConfig!.tools.map((tool) => 'toolSpec' in tool && tool.toolSpec.inputSchema.json)).to.deep.equal([map])
    expect(toolConfig!.toolChoice).to.deep.equal({ tool: { name: 'answer' } })
  })

  it('is not sent for text', async () => {
    expect(await translate({ response_format: { type: 'text' } })).not.to.have.property('outputConfig')
  })

  it('is served for json_object by any model, by an instruction', async () => {
    const { system, outputConfig } = await translate({ model: 'amazon.nova-pro-v1:0', response_format: { type: 'json_object' } })
    expect(JSON.stringify(system)).to.contain('Answer with a single JSON object')
    expect(outputConfig).to.equal(undefined)
  })

  it('is refused without a schema', async () => {
    expect(await refusalOf(asked({ name: 'person' }))).to.contain('response_format.json_schema.schema')
  })

  it('is the arguments of a tool for a model without structured outputs, and an instruction if it cannot be required to call one', async () => {
    const nova = await translate({ model: 'amazon.nova-pro-v1:0', ...asked({ name: 'person', schema }) })
    expect(nova.toolConfig!.toolChoice).to.deep.equal({ tool: { name: 'answer' } })
    const llama = await translate({ model: 'meta.llama3-3-70b-instruct-v1:0', ...asked({ name: 'person', schema }) })
    expect(llama).not.to.have.property('toolConfig')
    expect(JSON.stringify(llama.system)).to.contain('It must follow this JSON Schema')
  })
})
