import { expect } from 'chai'
import { gather } from 'unified-model-gateway/plugin/testing'
import { complete, functionsIn, listen, refusalOf, translate } from './gemini.ts'
import { call, reply } from './generate-content.ts'

const tool = (name: string, more: object = {}) => ({ type: 'function', function: { name, ...more } })
const LOOK = tool('look', { description: 'Looks.', parameters: { $schema: 'x', type: 'object', additionalProperties: false } })
const LISTEN = tool('listen')

describe('gemini: tools', () => {
  it('are sent with their unchanged schemas', async () => {
    const { tools } = await translate({ tools: [LOOK] })
    expect(tools).to.deep.equal([
      {
        functionDeclarations: [
          {
            name: 'look',
            description: 'Looks.',
            parametersJsonSchema: { $schema: 'x', type: 'object', additionalProperties: false },
          },
        ],
      },
    ])
  })

  it('without parameters have no schema', async () => {
    const { tools } = await translate({ tools: [LISTEN] })
    expect(tools).to.deep.equal([{ functionDeclarations: [{ name: 'listen' }] }])
  })

  it('of type custom are refused', async () => {
    expect(await refusalOf({ tools: [{ type: 'custom', custom: { name: 'x' } }] })).to.include({
      row: 'unsupported_parameter',
      param: 'tools[0]',
    })
  })

  it('are absent if the list is empty', async () => {
    expect(await translate({ tools: [], tool_choice: 'auto' })).not.to.have.any.keys('tools', 'toolConfig')
  })
})

describe('gemini: tool_choice', () => {
  const allowed = (mode: string) => ({ type: 'allowed_tools', allowed_tools: { mode, tools: [tool('listen')] } })

  for (const [choice, config, names] of [
    [undefined, undefined, ['look', 'listen']],
    ['auto', undefined, ['look', 'listen']],
    ['none', { mode: 'NONE' }, ['look', 'listen']],
    ['required', { mode: 'ANY' }, ['look', 'listen']],
    [tool('look'), { mode: 'ANY', allowedFunctionNames: ['look'] }, ['look', 'listen']],
    [allowed('required'), { mode: 'ANY', allowedFunctionNames: ['listen'] }, ['look', 'listen']],
    [allowed('auto'), undefined, ['listen']],
  ] as const) {
    it(`${JSON.stringify(choice)} is sent`, async () => {
      const { tools, toolConfig } = await translate({ tools: [LOOK, LISTEN], tool_choice: choice })
      expect(toolConfig?.functionCallingConfig).to.deep.equal(config)
      expect(functionsIn(tools).map(({ name }) => name)).to.deep.equal(names)
    })
  }

  for (const [choice, mode] of [
    [undefined, 'VALIDATED'],
    ['auto', 'VALIDATED'],
    ['required', 'ANY'],
    ['none', 'NONE'],
  ] as const) {
    it(`${choice} with strict tools enforces their schemas`, async () => {
      const { toolConfig } = await translate({ tools: [tool('look', { strict: true })], tool_choice: choice })
      expect(toolConfig?.functionCallingConfig).to.deep.equal({ mode })
    })
  }

  for (const choice of ['sometimes', { type: 'function' }, { type: 'allowed_tools' }]) {
    it(`${JSON.stringify(choice)} is refused`, async () => {
      expect(await refusalOf({ tools: [LOOK], tool_choice: choice })).to.include({ status: 400, param: 'tool_choice' })
    })
  }

  it('with a custom tool is refused', async () => {
    const choice = { type: 'custom', custom: { name: 'x' } }
    expect(await refusalOf({ tools: [LOOK], tool_choice: choice })).to.include({
      row: 'unsupported_parameter',
      param: 'tool_choice',
    })
  })
})

describe('gemini: tool calls of a reply', () => {
  it("have Google's id if it has one", async () => {
    const named = { functionCall: { name: 'look', args: {}, id: 'fc-7.a' } }
    expect((await complete(reply([named]).whole)).choices[0]!.message.tool_calls![0]).to.include({ id: 'fc-7.a' })
    expect(gather((await listen(reply([named]).stream)).chunks).choices[0]!.tools[0]).to.include({ id: 'fc-7.a' })
  })

  it('get short ids if Google has none, the same in a stream and in a whole reply', async () => {
    const both = reply([call('look'), call('look')])
    const whole = (await complete(both.whole)).choices[0]!.message.tool_calls!.map(({ id }) => id)
    const streamed = gather((await listen(both.stream)).chunks).choices[0]!.tools.map(({ id }) => id)
    expect(whole).to.deep.equal(['call_b36LacjwM668nsEP2tbsgQQ_0_0', 'call_b36LacjwM668nsEP2tbsgQQ_0_1'])
    expect(streamed).to.deep.equal(whole)
    for (const id of whole)
      expect(id)
        .to.have.lengthOf.at.most(40)
        .and.match(/^[\w-]+$/)
  })

  it('get ids for any responseId', async () => {
    for (const responseId of [undefined, 7, '', 'x'.repeat(99), 'a b']) {
      const { choices } = await complete({ ...reply([call('look'), call('look')]).whole, responseId })
      const ids = choices[0]!.message.tool_calls!.map(({ id }) => id)
      expect(new Set(ids).size).to.equal(2)
      for (const id of ids)
        expect(id)
          .to.have.lengthOf.at.most(40)
          .and.match(/^call_[\w-]+$/)
    }
  })

  it('in separate chunks have the indexes 0 and 1', async () => {
    const { chunks } = await listen(reply([call('look'), call('listen')]).stream)
    const { tools, finish } = gather(chunks).choices[0]!
    expect(tools.map(({ name }) => name)).to.deep.equal(['look', 'listen'])
    expect(finish).to.equal('tool_calls')
  })

  it('in one chunk with text are sent with the text', async () => {
    const both = { content: { parts: [{ text: 'Let me see.' }, { functionCall: { name: 'look', args: { at: 'sky' } } }] } }
    const { chunks } = await listen([`data: ${JSON.stringify({ candidates: [{ ...both, finishReason: 'STOP' }] })}\n\n`])
    const { content, tools, finish } = gather(chunks).choices[0]!
    expect(content).to.equal('Let me see.')
    expect(tools.map((one) => one.arguments)).to.deep.equal(['{"at":"sky"}'])
    expect(finish).to.equal('tool_calls')
  })

  it('before a chunk with STOP only have finish_reason tool_calls', async () => {
    const { chunks } = await listen(reply([call('look')]).stream)
    expect(gather(chunks).choices[0]!.finish).to.equal('tool_calls')
  })

  it('without text have content null', async () => {
    expect((await complete(reply([call('look')]).whole)).choices[0]!.message.content).to.equal(null)
  })
})
