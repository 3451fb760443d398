import { expect } from 'chai'
import type { AssistantMessage } from '../../../../plugins/providers/cohere/wire.ts'
import { fixture, hear, refusalOf, translate, upstream } from './support.ts'

const PLAIN = 'command-a-03-2025'

describe('cohere: reasoning_effort', () => {
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

  it('is not sent by default', async () => expect(await translate({})).not.to.have.property('thinking'))

  it("is a share of the model's maximum without max_tokens", async () => {
    const { thinking } = await translate({ reasoning_effort: 'medium' })
    expect(thinking).to.deep.equal({ type: 'enabled', token_budget: 32_000 })
    const own = await translate({ model: 'm', reasoning_effort: 'medium' }, { facts: { m: { maxTokens: 100 } } })
    expect(own.thinking).to.have.property('token_budget', 50)
  })

  it('is one token at least', async () => {
    expect((await translate({ reasoning_effort: 'low', max_tokens: 2 })).thinking).to.have.property('token_budget', 1)
  })

  it('is dropped for a model without thinking', async () => {
    const { body, dropped } = await upstream({ model: PLAIN, reasoning_effort: 'low' })
    expect(JSON.parse(String(body))).not.to.have.property('thinking')
    expect(dropped).to.deep.equal(['reasoning_effort'])
  })

  it('none is not sent to a model without thinking', async () => {
    const { body, dropped } = await upstream({ model: PLAIN, reasoning_effort: 'none' })
    expect(JSON.parse(String(body))).not.to.have.property('thinking')
    expect(dropped).to.deep.equal([])
  })

  it('is refused if unknown', async () => {
    expect(await refusalOf({ reasoning_effort: 'utmost' })).to.contain('expected one of none, minimal, low')
  })
})

/** The upstream request after a client ran the tools of a fixture. */
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

describe('cohere: thinking state', () => {
  it('the first tool call has the plan, and the next turn sends it back', async () => {
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

  it('the first tool call has the thinking, and the next turn sends it back', async () => {
    const [, said] = (await secondTurn('thinking-before-tools')) as AssistantMessage[]
    expect(said!.content).to.deep.equal([{ type: 'thinking', thinking: 'First the sea.' }])
    expect(said).not.to.have.property('tool_plan')
  })

  it('a tool call without plan and thinking has none', async () => {
    const { tools } = await hear(fixture('tools-without-arguments'))
    expect(tools.map(({ extra_content }) => extra_content)).to.deep.equal([undefined, undefined, undefined])
  })

  it('invalid state of a client is omitted', async () => {
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
