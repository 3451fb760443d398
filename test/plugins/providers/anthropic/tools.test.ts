import { expect } from 'chai'
import { schemasOf, translate, upstream } from './support.ts'

const tool = (name: string, rest: object = {}) => ({ type: 'function', function: { name, ...rest } })
const tools = [tool('look'), tool('listen')]

const allowed = (mode: string, ...names: readonly string[]) => ({
  type: 'allowed_tools',
  allowed_tools: { mode, tools: names.map((name) => tool(name)) },
})

async function choiceFor(tool_choice: unknown, rest: object = {}) {
  return (await translate({ tools, tool_choice, ...rest })).tool_choice
}

describe('anthropic: tools', () => {
  it('without parameters have an empty schema', async () => {
    const request = await translate({ tools: [tool('look', { description: 'Looks.' }), tool('wait', { parameters: {} })] })
    const input_schema = { type: 'object', properties: {} }
    expect(request.tools).to.deep.equal([
      { name: 'look', description: 'Looks.', input_schema },
      { name: 'wait', input_schema },
    ])
  })

  it('have their unchanged parameters', async () => {
    const parameters = { $schema: 'x', type: 'object', properties: { at: { type: 'string', minLength: 2 } }, required: ['at'] }
    expect(schemasOf((await translate({ tools: [tool('look', { parameters })] })).tools)[0]).to.deep.equal(parameters)
  })

  it('have no alternatives at the top level, which Claude refuses', async () => {
    const at = { properties: { at: { type: 'string' }, how: { type: 'string' } }, required: ['at', 'how'] }
    const id = { properties: { id: { type: 'integer' } }, required: ['id', 'how'] }
    const parameters = { type: 'object', properties: { how: { enum: ['fast'] } }, anyOf: [at, id] }
    expect(schemasOf((await translate({ tools: [tool('look', { parameters })] })).tools)[0]).to.deep.equal({
      type: 'object',
      properties: { at: { type: 'string' }, how: { enum: ['fast'] }, id: { type: 'integer' } },
      required: ['how'],
      description: `{anyOf: ${JSON.stringify([at, id])}}`,
    })
    const all = { allOf: [at, id] }
    expect(schemasOf((await translate({ tools: [tool('look', { parameters: all })] })).tools)[0]).to.deep.include({
      required: ['at', 'how', 'id'],
    })
  })

  it('that are strict have a restricted schema', async () => {
    const parameters = { type: 'object', properties: { at: { type: 'string', minLength: 2 } }, required: ['at'] }
    const body = { tools: [tool('look', { parameters, strict: true })] }
    expect((await translate(body)).tools?.[0]).to.deep.equal({
      name: 'look',
      strict: true,
      input_schema: {
        type: 'object',
        properties: { at: { type: 'string', description: '{minLength: 2}' } },
        required: ['at'],
        additionalProperties: false,
      },
    })
    const older = await translate({ ...body, model: 'claude/claude-sonnet-4-20250514' })
    expect(older.tools?.[0]).to.deep.equal({ name: 'look', input_schema: parameters })
  })

  it('that are strict and have a map in their arguments are sent without strict, which is named', async () => {
    const parameters = { type: 'object', properties: { by: { type: 'object', additionalProperties: { type: 'number' } } } }
    const { body, dropped } = await upstream({ tools: [tool('look', { parameters, strict: true })] })
    expect(JSON.parse(String(body)).tools).to.deep.equal([{ name: 'look', input_schema: parameters }])
    expect(dropped).to.deep.equal(['tools.strict'])
  })

  it('of type custom are refused and their path is named', async () => {
    const failure: unknown = await translate({ tools: [...tools, { type: 'custom', custom: { name: 'x' } }] }).catch(
      (error) => error,
    )
    expect(failure).to.include({ code: 'unsupported_parameter', param: 'tools[2]' })
  })
})

describe('anthropic: tool_choice', () => {
  it('is sent', async () => {
    expect(await choiceFor('none')).to.deep.equal({ type: 'none' })
    expect(await choiceFor('auto')).to.equal(undefined)
    expect(await choiceFor('required')).to.deep.equal({ type: 'any' })
    expect(await choiceFor(tool('look'))).to.deep.equal({ type: 'tool', name: 'look' })
    expect(await choiceFor(undefined)).to.equal(undefined)
    expect(await choiceFor(null)).to.equal(undefined)
  })

  it('with allowed tools omits the others', async () => {
    const required = await translate({ tools: [...tools, tool('smell')], tool_choice: allowed('required', 'listen', 'smell') })
    expect(required.tools?.map(({ name }) => name)).to.deep.equal(['listen', 'smell'])
    expect(required.tool_choice).to.deep.equal({ type: 'any' })
    const free = await translate({ tools, tool_choice: allowed('auto', 'listen') })
    expect(free.tools?.map(({ name }) => name)).to.deep.equal(['listen'])
    expect(free).not.to.have.property('tool_choice')
  })

  it('with one required allowed tool names it', async () => {
    expect(await choiceFor(allowed('required', 'listen'))).to.deep.equal({ type: 'tool', name: 'listen' })
  })

  it('can forbid parallel calls', async () => {
    const single = { parallel_tool_calls: false }
    expect(await choiceFor(undefined, single)).to.deep.equal({ type: 'auto', disable_parallel_tool_use: true })
    expect(await choiceFor('required', single)).to.deep.equal({ type: 'any', disable_parallel_tool_use: true })
    expect(await choiceFor('none', single)).to.deep.equal({ type: 'none' })
    expect(await choiceFor('auto', { parallel_tool_calls: true })).to.equal(undefined)
  })

  it('is omitted without tools', async () => {
    const request = await translate({ tool_choice: 'auto', parallel_tool_calls: false, tools: [] })
    expect(request).not.to.have.any.keys('tools', 'tool_choice')
  })

  it('with a custom tool is refused', async () => {
    const failure: unknown = await choiceFor({ type: 'custom', custom: { name: 'x' } }).catch((error) => error)
    expect(failure).to.include({ code: 'unsupported_parameter', param: 'tool_choice' })
  })

  it('without a name is refused with the expected form', async () => {
    for (const choice of [
      'sometimes',
      {},
      { type: 'function' },
      { type: 'function', function: null },
      { type: 'allowed_tools' },
    ]) {
      const failure: unknown = await choiceFor(choice).catch((error) => error)
      expect(failure, JSON.stringify(choice)).to.include({ code: 'invalid_value', param: 'tool_choice' })
    }
  })

  it('is refused if required and the model takes none', async () => {
    const body = { model: 'claude/claude-opus-5-5', tools, tool_choice: 'required' }
    const failure: unknown = await upstream(body).catch((error: unknown) => error)
    expect(failure).to.include({ code: 'unsupported_parameter', param: 'tool_choice' })
    expect(String(failure)).to.contain('Send `auto`')
    expect((await translate({ ...body, tool_choice: 'auto' })).tools).to.have.lengthOf(2)
  })
})
