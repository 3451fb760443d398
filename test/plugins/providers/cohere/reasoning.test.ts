import { expect } from 'chai'
import type { AssistantMessage } from '../../../../plugins/providers/cohere/wire.ts'
import { fixture, hear, refusalOf, translate, upstream } from './support.ts'

const PLAIN = 'command-a-03-2025'

describe('cohere: how much a model thinks', () => {
  for (const [effort, thinking] of [
    ['none', { type: 'disabled' }],
    ['minimal', { type: 'enabled', token_budget: 1000 }],
    ['low', { type: 'enabled', token_budget: 2000 }],
    ['medium', { type: 'enabled', token_budget: 5000 }],
    ['high', { type: 'enabled', token_budget: 8000 }],
    ['xhigh', { type: 'enabled' }],
    ['max', { type: 'enabled' }],
  ] as const) {
    it(`${effort} of 10 000 tokens`, async () => {
      expect((await translate({ reasoning_effort: effort, max_tokens: 10_000 })).thinking).to.deep.equal(thinking)
    })
  }

  it('where nothing is asked, nothing is said', async () => expect(await translate({})).not.to.have.property('thinking'))

  it('without max_tokens it is a share of what the model may write at most', async () => {
    const { thinking } = await translate({ reasoning_effort: 'medium' })
    expect(thinking).to.deep.equal({ type: 'enabled', token_budget: 32_000 })
    const own = await translate({ model: 'm', reasoning_effort: 'medium' }, { facts: { m: { maxTokens: 100 } } })
    expect(own.thinking).to.have.property('token_budget', 50)
  })

  it('of next to nothing it is one token', async () => {
    expect((await translate({ reasoning_effort: 'low', max_tokens: 2 })).thinking).to.have.property('token_budget', 1)
  })

  it('a model that does not think is not told to: the reply says that it was dropped', async () => {
    const { body, dropped } = await upstream({ model: PLAIN, reasoning_effort: 'low' })
    expect(JSON.parse(String(body))).not.to.have.property('thinking')
    expect(dropped).to.deep.equal(['reasoning_effort'])
  })

  it('a model that does not think already does not', async () => {
    const { body, dropped } = await upstream({ model: PLAIN, reasoning_effort: 'none' })
    expect(JSON.parse(String(body))).not.to.have.property('thinking')
    expect(dropped).to.deep.equal([])
  })

  it('an effort that nobody knows is refused', async () => {
    expect(await refusalOf({ reasoning_effort: 'utmost' })).to.contain('expected one of none, minimal, low')
  })
})

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
