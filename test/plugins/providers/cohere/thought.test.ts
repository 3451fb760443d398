import { expect } from 'chai'
import type { AssistantMessage } from '../../../../plugins/providers/cohere/wire.ts'
import { fixture, hear, translate } from './support.ts'

/** What goes back to Cohere when a client has run the tools of a fixture. */
async function secondTurn(name: string): Promise<readonly object[]> {
  const { content, tools } = await hear(fixture(name))
  const tool_calls = tools.map(({ id, name, arguments: text, extra_content }) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
    ...(extra_content !== undefined && { extra_content }),
  }))
  const messages = [
    { role: 'user', content: 'How is it outside?' },
    { role: 'assistant', content: content || null, tool_calls },
    ...tools.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Blue' })),
  ]
  return (await translate({ messages })).messages
}

describe('cohere: what led to tool calls, from turn to turn', () => {
  it('the first call carries the plan, and the next turn brings it back', async () => {
    const { tools } = await hear(fixture('parallel-tools'))
    expect(tools.map(({ extra_content }) => extra_content)).to.deep.equal([
      { cohere: { tool_plan: 'I will look twice.' } },
      undefined,
    ])
    const [, said] = (await secondTurn('parallel-tools')) as AssistantMessage[]
    expect(said).to.include({ tool_plan: 'I will look twice.' })
    expect(said).not.to.have.property('content')
    expect(said!.tool_calls![0]).not.to.have.property('extra_content')
  })

  it('so it does with thoughts', async () => {
    const [, said] = (await secondTurn('thinking-before-tools')) as AssistantMessage[]
    expect(said!.content).to.deep.equal([{ type: 'thinking', thinking: 'First the sea.' }])
    expect(said).not.to.have.property('tool_plan')
  })

  it('a call that nothing led to carries nothing', async () => {
    const { tools } = await hear(fixture('tools-without-arguments'))
    expect(tools.map(({ extra_content }) => extra_content)).to.deep.equal([undefined, undefined, undefined])
  })

  it('what a client made up is not brought along', async () => {
    for (const extra_content of [{ cohere: { tool_plan: 3, thinking: ['x'] } }, { cohere: 'x' }, { google: {} }, 'x', null, []]) {
      const messages = [
        { role: 'user', content: '?' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' }, extra_content }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'x' },
      ]
      const { messages: sent } = await translate({ messages })
      expect(sent[1]).to.have.all.keys('role', 'tool_calls')
    }
  })
})
