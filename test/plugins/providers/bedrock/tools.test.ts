import { expect } from 'chai'
import type { Tool } from '../../../../plugins/providers/bedrock/wire.ts'
import { translate, upstream } from './support.ts'

const SONNET = 'us.anthropic.claude-sonnet-4-6'
const HAIKU_3 = 'anthropic.claude-3-haiku-20240307-v1:0'
const LLAMA = 'us.meta.llama3-3-70b-instruct-v1:0'
const MISTRAL = 'mistral.mistral-large-2402-v1:0'

const tool = <More extends object>(name: string, more = {} as More) => ({ type: 'function', function: { name, ...more } })
const TOOLS = [tool('look'), tool('listen')]
const spec = (name: string) => ({ toolSpec: { name, inputSchema: { json: { type: 'object', properties: {} } } } })
const SPECS = [spec('look'), spec('listen')]
const HISTORY = [
  { role: 'user', content: '?' },
  { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'smell', arguments: '{}' } }] },
  { role: 'tool', tool_call_id: 'a', content: 'Salt' },
]

async function refusalOf(body: Readonly<Record<string, unknown>>): Promise<string> {
  return translate(body).then(
    () => 'not refused',
    (error: unknown) => String(error),
  )
}

describe('bedrock: tools', () => {
  it('have a name, a description and a schema', async () => {
    const parameters = { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] }
    const { toolConfig } = await translate({ tools: [tool('look', { description: 'Looks.', parameters })] })
    expect(toolConfig).to.deep.equal({
      tools: [{ toolSpec: { name: 'look', description: 'Looks.', inputSchema: { json: parameters } } }],
    })
  })

  it('without parameters or with a blank description are valid', async () => {
    expect((await translate({ tools: [tool('look', { description: ' ' })] })).toolConfig).to.deep.equal({ tools: [spec('look')] })
  })

  it('that are strict have a restricted schema, if the model takes strict tools', async () => {
    const strict = tool('look', {
      strict: true,
      parameters: { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } },
    })
    const [newer] = (await translate({ tools: [strict] })).toolConfig!.tools as readonly Tool[]
    expect(newer!.toolSpec.strict).to.equal(true)
    expect(newer!.toolSpec.inputSchema.json).to.have.property('additionalProperties', false)
    const [older] = (await translate({ model: HAIKU_3, tools: [strict] })).toolConfig!.tools as readonly Tool[]
    expect(older!.toolSpec).not.to.have.property('strict')
    expect(older!.toolSpec.inputSchema.json).to.deep.equal(strict.function.parameters)
  })

  it('of type custom are refused', async () => {
    expect(await refusalOf({ tools: [{ type: 'custom', custom: { name: 'x' } }] })).to.contain('type `function` only')
  })

  it('are absent if the list is empty', async () => {
    for (const body of [{ tools: [] }, { tools: null }, { tools: [], tool_choice: 'auto', parallel_tool_calls: false }]) {
      const request = await translate(body)
      expect(request).to.not.have.any.keys('toolConfig', 'additionalModelRequestFields')
    }
  })
})

describe('bedrock: tool_choice', () => {
  for (const [choice, toolChoice] of [
    ['auto', undefined],
    ['required', { any: {} }],
    [tool('listen'), { tool: { name: 'listen' } }],
  ] as const) {
    it(`${typeof choice === 'string' ? choice : 'a tool by its name'} is sent`, async () => {
      const { toolConfig } = await translate({ tools: TOOLS, tool_choice: choice })
      expect(toolConfig).to.deep.equal({ tools: SPECS, ...(toolChoice && { toolChoice }) })
    })
  }

  it('none offers no tool', async () => {
    expect(await translate({ tools: TOOLS, tool_choice: 'none' })).not.to.have.property('toolConfig')
  })

  it('an empty list of allowed tools offers no tool', async () => {
    const choice = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } }
    expect(await translate({ tools: TOOLS, tool_choice: choice })).not.to.have.property('toolConfig')
  })

  it('allowed tools omit the others', async () => {
    const allowed = (mode: string) => ({ type: 'allowed_tools', allowed_tools: { mode, tools: [tool('listen')] } })
    expect((await translate({ tools: TOOLS, tool_choice: allowed('auto') })).toolConfig).to.deep.equal({ tools: [SPECS[1]] })
    const three = [...TOOLS, tool('smell')]
    const two = { mode: 'required', tools: [tool('look'), tool('listen')] }
    const choice = { type: 'allowed_tools', allowed_tools: two }
    expect((await translate({ tools: three, tool_choice: choice })).toolConfig).to.deep.equal({
      tools: SPECS,
      toolChoice: { any: {} },
    })
    expect((await translate({ tools: TOOLS, tool_choice: allowed('required') })).toolConfig).to.deep.equal({
      tools: SPECS,
      toolChoice: { tool: { name: 'listen' } },
    })
  })

  it('a named tool is the only one for a model that takes any', async () => {
    const { toolConfig } = await translate({ model: MISTRAL, tools: TOOLS, tool_choice: tool('listen') })
    expect(toolConfig).to.deep.equal({ tools: [SPECS[1]], toolChoice: { any: {} } })
  })

  it('required is refused for a model that takes auto only, and the error says what to do', async () => {
    for (const choice of ['required', tool('look')]) {
      expect(await refusalOf({ model: LLAMA, tools: TOOLS, tool_choice: choice })).to.contain('Send `auto`')
    }
    expect((await translate({ model: LLAMA, tools: TOOLS })).toolConfig).to.deep.equal({ tools: SPECS })
  })

  it('unknown names and invalid choices are refused', async () => {
    expect(await refusalOf({ tools: TOOLS, tool_choice: tool('dance') })).to.contain("no tool is named 'dance'")
    expect(await refusalOf({ tools: TOOLS, tool_choice: { type: 'custom', custom: { name: 'x' } } })).to.contain(
      'type `function`',
    )
    expect(await refusalOf({ tools: TOOLS, tool_choice: { type: 'function' } })).to.contain("'tool_choice'")
  })
})

describe('bedrock: parallel_tool_calls', () => {
  const fieldsOf = async (choice: unknown) => {
    const body = { model: SONNET, tools: TOOLS, tool_choice: choice, parallel_tool_calls: false }
    const { toolConfig, additionalModelRequestFields } = await translate(body)
    // Bedrock refuses its own choice together with Anthropic's.
    expect(toolConfig).to.deep.equal({ tools: SPECS })
    return additionalModelRequestFields
  }

  it('is sent to Claude with any choice', async () => {
    const single = { disable_parallel_tool_use: true }
    expect(await fieldsOf(undefined)).to.deep.equal({ tool_choice: { type: 'auto', ...single } })
    expect(await fieldsOf('required')).to.deep.equal({ tool_choice: { type: 'any', ...single } })
    expect(await fieldsOf(tool('look'))).to.deep.equal({ tool_choice: { type: 'tool', name: 'look', ...single } })
  })

  it('is dropped for other models', async () => {
    for (const model of [HAIKU_3, LLAMA, 'amazon.nova-pro-v1:0']) {
      const { dropped, body } = await upstream({ model, tools: TOOLS, parallel_tool_calls: false })
      expect(dropped).to.deep.equal(['parallel_tool_calls'])
      expect(JSON.parse(String(body)).toolConfig).to.deep.equal({ tools: SPECS })
    }
  })

  it('is omitted if true', async () => {
    expect((await upstream({ tools: TOOLS, parallel_tool_calls: true })).dropped).to.deep.equal([])
  })
})

describe('bedrock: a conversation with tool calls', () => {
  it('declares its tools although the client offers none', async () => {
    const { toolConfig, additionalModelRequestFields } = await translate({ messages: HISTORY })
    expect(toolConfig).to.deep.equal({ tools: [spec('smell')] })
    expect(additionalModelRequestFields).to.deep.equal({ tool_choice: { type: 'none' } })
  })

  it('declares its tools although tool_choice is none', async () => {
    const body = { messages: HISTORY, tools: [...TOOLS, tool('smell', { description: 'Smells.' })], tool_choice: 'none' }
    const claude = await upstream(body)
    expect(JSON.parse(String(claude.body)).toolConfig).to.deep.equal({
      tools: [{ toolSpec: { ...spec('smell').toolSpec, description: 'Smells.' } }],
    })
    expect(claude.dropped).to.deep.equal([])
    const nova = await upstream({ ...body, model: 'amazon.nova-pro-v1:0' })
    expect(JSON.parse(String(nova.body))).not.to.have.property('additionalModelRequestFields')
    expect(nova.dropped, 'Bedrock has no word for it').to.deep.equal(['tool_choice'])
  })
})
