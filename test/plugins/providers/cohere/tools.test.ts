import { expect } from 'chai'
import { refusalOf, translate } from './support.ts'

const OLD = 'command-r-plus-08-2024'
const tool = (name: string, more: object = {}) => ({ type: 'function', function: { name, ...more } })
const wire = (name: string, more: object = {}) => tool(name, { ...more, parameters: { type: 'object', properties: {} } })
const TOOLS = [tool('look'), tool('listen')]
const WIRE = [wire('look'), wire('listen')]

describe('cohere: tools', () => {
  it('have a name, a description and a schema', async () => {
    const parameters = { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] }
    const { tools } = await translate({ tools: [tool('look', { description: 'Looks.', parameters, strict: true })] })
    expect(tools).to.deep.equal([tool('look', { description: 'Looks.', parameters })])
  })

  it('without parameters have empty ones', async () => {
    expect((await translate({ tools: [tool('look', { description: '' })] })).tools).to.deep.equal([wire('look')])
  })

  it('of type custom are refused', async () => {
    expect(await refusalOf({ tools: [{ type: 'custom', custom: { name: 'x' } }] })).to.contain('type `function` only')
  })

  it('are absent if the list is empty', async () => {
    for (const body of [{ tools: [] }, { tools: null }, { tools: [], tool_choice: 'required' }, { tool_choice: 'none' }]) {
      expect(await translate(body)).to.not.have.any.keys('tools', 'tool_choice')
    }
  })
})

describe('cohere: tool_choice', () => {
  const choiceOf = async (tool_choice: unknown, model?: string) => {
    const { tools, tool_choice: choice } = await translate({ model, tools: TOOLS, tool_choice })
    return { tools, choice }
  }

  it('auto is not sent', async () => {
    expect(await choiceOf('auto')).to.deep.equal({ tools: WIRE, choice: undefined })
  })

  it('required and none are sent', async () => {
    expect(await choiceOf('required')).to.deep.equal({ tools: WIRE, choice: 'REQUIRED' })
    expect(await choiceOf('none')).to.deep.equal({ tools: WIRE, choice: 'NONE' })
  })

  it('a named tool is the only one, and required', async () => {
    expect(await choiceOf(tool('listen'))).to.deep.equal({ tools: [WIRE[1]], choice: 'REQUIRED' })
    expect(await refusalOf({ tools: TOOLS, tool_choice: tool('dance') })).to.contain("no tool is named 'dance'")
  })

  it('allowed tools omit the others', async () => {
    const allowed = (mode: string, ...tools: object[]) => ({ type: 'allowed_tools', allowed_tools: { mode, tools } })
    expect(await choiceOf(allowed('auto', tool('look')))).to.deep.equal({ tools: [WIRE[0]], choice: undefined })
    expect(await choiceOf(allowed('required', ...TOOLS))).to.deep.equal({ tools: WIRE, choice: 'REQUIRED' })
    expect(await choiceOf(allowed('auto'))).to.deep.equal({ tools: undefined, choice: undefined })
  })

  it('required is refused for a model that takes auto only, and the error says what to do', async () => {
    for (const choice of ['required', tool('look')]) {
      expect(await refusalOf({ model: OLD, tools: TOOLS, tool_choice: choice })).to.contain('Send `auto`')
    }
    expect(await choiceOf('auto', OLD)).to.deep.equal({ tools: WIRE, choice: undefined })
    expect(await choiceOf('none', OLD), 'it is offered none').to.deep.equal({ tools: undefined, choice: undefined })
  })
})
