import { expect } from 'chai'
import { fakeCallAndAttempt } from '../../../support/fake-call.ts'
import { anthropic, fixture, hear, hearFixture, play, translate, upstream } from './support.ts'

async function sent(model: string, body: Readonly<Record<string, unknown>>) {
  const { body: text, dropped } = await upstream({ model: `claude/${model}`, ...body })
  const { thinking, output_config, temperature } = JSON.parse(String(text))
  return { thinking, effort: output_config?.effort, temperature, dropped }
}

const SUMMARY = { type: 'adaptive', display: 'summarized' }
const tools = [{ type: 'function', function: { name: 'look' } }]

describe('anthropic: reasoning of adaptive models', () => {
  it('the effort is sent, with visible thinking', async () => {
    for (const [asked, effort] of Object.entries({ minimal: 'low', low: 'low', medium: 'medium', xhigh: 'xhigh', max: 'max' })) {
      expect(await sent('claude-opus-5', { reasoning_effort: asked })).to.deep.include({ thinking: SUMMARY, effort, dropped: [] })
    }
  })

  it('an effort that the model does not know becomes the next lower one', async () => {
    expect((await sent('claude-sonnet-4-6', { reasoning_effort: 'xhigh' })).effort).to.equal('high')
  })

  it('no effort is sent by default', async () => {
    expect(await sent('claude-opus-5', {})).to.include({ thinking: undefined, effort: undefined })
  })

  it('none turns thinking off as the model takes it, or to the lowest effort', async () => {
    const none = { reasoning_effort: 'none' }
    expect(await sent('claude-sonnet-5', none)).to.deep.include({ thinking: { type: 'disabled' }, effort: undefined })
    expect(await sent('claude-haiku-5-5', none)).to.deep.include({ thinking: { type: 'disabled' } })
    expect(await sent('claude-sonnet-5-5', none)).to.deep.include({ thinking: { type: 'between_tools' } })
    expect(await sent('claude-fable-5', none)).to.deep.include({ thinking: undefined, effort: 'low' })
    expect(await sent('claude-opus-5-5', none)).to.deep.include({ thinking: undefined, effort: 'low' })
  })

  it('a number of tokens is sent to models that still take it, and where it cannot be is an effort', async () => {
    const asked = { thinking: { type: 'enabled', budget_tokens: 3000 }, max_tokens: 10_000, tools }
    const number = { thinking: { type: 'enabled', budget_tokens: 3000 }, effort: undefined, dropped: [] }
    expect(await sent('claude-opus-4-6', asked)).to.deep.include(number)
    const effort = { thinking: SUMMARY, effort: 'low', dropped: ['thinking'] }
    expect(await sent('claude-opus-4-7', asked)).to.deep.include(effort)
    expect(await sent('claude-opus-4-6', { ...asked, tool_choice: 'required' })).to.deep.include(effort)
    expect(await sent('claude-opus-4-6', { ...asked, max_tokens: 1000 })).to.deep.include(effort)
  })

  it('an effort of none is none, whatever number of tokens stands with it', async () => {
    const asked = { thinking: { type: 'enabled', budget_tokens: 3000 }, reasoning_effort: 'none', max_tokens: 10_000 }
    expect(await sent('claude-sonnet-5', asked)).to.deep.include({ thinking: { type: 'disabled' }, dropped: [] })
  })

  it('a temperature is dropped with thinking', async () => {
    const thinks = await sent('claude-opus-4-6', { reasoning_effort: 'high', temperature: 0.2 })
    expect(thinks).to.deep.include({ temperature: undefined, dropped: ['temperature'] })
    const does_not = await sent('claude-opus-4-6', { reasoning_effort: 'none', temperature: 0.2 })
    expect(does_not).to.deep.include({ temperature: 0.2, dropped: [] })
  })
})

describe('anthropic: reasoning of models with a budget', () => {
  const budgetOf = async (body: Readonly<Record<string, unknown>>) => (await sent('claude-haiku-4-5', body)).thinking

  it("a higher effort is a larger share of the reply's tokens", async () => {
    const budgets: number[] = []
    for (const reasoning_effort of ['minimal', 'low', 'medium', 'high', 'xhigh']) {
      budgets.push((await budgetOf({ reasoning_effort, max_tokens: 20_000 })).budget_tokens)
    }
    expect(budgets).to.deep.equal([2000, 4000, 10_000, 16_000, 19_000])
  })

  it("the budget is never below Anthropic's minimum, and dropped if the reply is too short", async () => {
    expect(await budgetOf({ reasoning_effort: 'low', max_tokens: 2000 })).to.deep.equal({ type: 'enabled', budget_tokens: 1024 })
    const short = await sent('claude-haiku-4-5', { reasoning_effort: 'high', max_tokens: 1024 })
    expect(short).to.deep.include({ thinking: undefined, dropped: ['reasoning_effort'] })
  })

  it('the effort is dropped with a required tool', async () => {
    const forced = { reasoning_effort: 'high', tools, tool_choice: 'required' }
    expect(await sent('claude-haiku-4-5', forced)).to.deep.include({ thinking: undefined, dropped: ['reasoning_effort'] })
    expect((await sent('claude-opus-5', forced)).thinking).to.deep.equal(SUMMARY)
  })

  it('none sends nothing', async () => {
    expect(await sent('claude-haiku-4-5', { reasoning_effort: 'none' })).to.deep.include({ thinking: undefined, dropped: [] })
  })
})

describe('anthropic: reasoning of other models', () => {
  it('the effort is dropped for a model without thinking', async () => {
    for (const model of ['claude-3-5-haiku-20241022', 'some-other-model']) {
      expect(await sent(model, { reasoning_effort: 'high' })).to.deep.include({
        thinking: undefined,
        dropped: ['reasoning_effort'],
      })
    }
  })

  it('an unknown effort is refused with a list of the known ones', async () => {
    const failure: unknown = await sent('claude-opus-5', { reasoning_effort: 'heroic' }).catch((error: unknown) => error)
    expect(failure).to.include({ code: 'invalid_value', param: 'reasoning_effort' })
    expect(String(failure)).to.contain('none, minimal, low, medium, high, xhigh, max')
  })
})

const SEALED = [
  { type: 'thinking', thinking: 'First the sea.', signature: 'EqQBCkYI' },
  { type: 'redacted_thinking', data: 'sealed==' },
]
const THOUGHT_AGAIN = { type: 'thinking', thinking: '', signature: 'ErUB' }

/** The conversation after a client ran the tools of the fixture. */
async function secondTurn() {
  const { content, calls } = await hearFixture('thinking-before-tools')
  const tool_calls = calls.map(({ id, name, arguments: text, extra_content }) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
    extra_content,
  }))
  return [
    { role: 'user', content: 'How is it outside?' },
    { role: 'assistant', content, tool_calls },
    ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Blue' })),
  ]
}

describe('anthropic: thinking state', () => {
  it('a streamed tool call has the thinking before it', async () => {
    const { calls } = await hearFixture('thinking-before-tools')
    expect(calls.map(({ extra_content }) => extra_content)).to.deep.equal([
      { anthropic: { model: 'claude-opus-5', thinking: SEALED } },
      { anthropic: { model: 'claude-opus-5', thinking: [THOUGHT_AGAIN] } },
    ])
  })

  it('a whole reply has the same thinking state', async () => {
    const look = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }
    const { choices } = (await anthropic()).translator!(...fakeCallAndAttempt())!.completion({
      type: 'message',
      model: 'claude-opus-5',
      content: [...SEALED, look, look],
    })
    expect(choices[0]?.message.tool_calls?.map(({ extra_content }) => extra_content)).to.deep.equal([
      { anthropic: { model: 'claude-opus-5', thinking: SEALED } },
      undefined,
    ])
  })

  it('unsigned thinking is omitted', async () => {
    const events = fixture('thinking-before-tools').filter(({ data }) => !data.includes('signature_delta'))
    expect(hear(await play(events)).calls.map(({ extra_content }) => extra_content)).to.deep.equal([
      { anthropic: { model: 'claude-opus-5', thinking: [SEALED[1]] } },
      undefined,
    ])
  })

  it('the next turn sends it back unchanged, before its call', async () => {
    const request = await translate({ model: 'claude/claude-opus-5', messages: await secondTurn() })
    expect(request.messages[1]).to.deep.equal({
      role: 'assistant',
      content: [
        ...SEALED,
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'toolu_01A', name: 'look', input: { at: 'sea' } },
        THOUGHT_AGAIN,
        { type: 'tool_use', id: 'toolu_01B', name: 'look', input: { at: 'sky' } },
      ],
    })
  })

  it('another model does not get it', async () => {
    for (const model of ['claude-sonnet-5', 'claude-opus-5-5']) {
      const request = await translate({ model: `claude/${model}`, messages: await secondTurn() })
      expect(
        request.messages[1]!.content.map(({ type }) => type),
        model,
      ).to.deep.equal(['text', 'tool_use', 'tool_use'])
    }
  })

  it('an alias and its dated model are the same model', async () => {
    const thinking = [{ type: 'thinking', thinking: 'Hm.', signature: 's' }]
    const extra_content = { anthropic: { model: 'claude-haiku-4-5-20251001', thinking } }
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' }, extra_content }
    const request = await translate({
      model: 'claude/claude-haiku-4-5',
      reasoning_effort: 'low',
      messages: [
        { role: 'user', content: '?' },
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: 'x' },
      ],
    })
    expect(request.thinking).to.have.property('type', 'enabled')
    expect(request.messages[1]!.content[0]).to.deep.equal(thinking[0])
  })

  it('a request without thinking omits it', async () => {
    const messages = await secondTurn()
    const request = await translate({ model: 'claude/claude-opus-5', reasoning_effort: 'none', messages })
    expect(request.messages[1]!.content.map(({ type }) => type)).to.deep.equal(['text', 'tool_use', 'tool_use'])
  })

  it('without it a tool step continues without thinking', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }
    const messages = [
      { role: 'user', content: '?' },
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'x' },
    ]
    const { body, dropped } = await upstream({ model: 'claude/claude-haiku-4-5', reasoning_effort: 'high', messages })
    expect(JSON.parse(String(body))).not.to.have.property('thinking')
    expect(dropped).to.deep.equal(['reasoning_effort'])
    const later = [...messages, { role: 'assistant', content: 'Done.' }, { role: 'user', content: 'And now?' }]
    expect((await translate({ reasoning_effort: 'high', messages: later })).thinking).to.have.property('type', 'enabled')
  })

  it('invalid state of a client is omitted', async () => {
    const junk = [
      null,
      'x',
      { type: 'text', text: 'x' },
      { type: 'thinking', thinking: 'x' },
      { type: 'redacted_thinking', data: 7 },
    ]
    for (const extra_content of [{ anthropic: { model: 'claude-opus-5', thinking: junk } }, { anthropic: 'x' }, 'x', null, []]) {
      const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' }, extra_content }
      const messages = [
        { role: 'user', content: '?' },
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: 'x' },
      ]
      const request = await translate({ model: 'claude/claude-opus-5', messages })
      expect(request.messages[1]!.content.map(({ type }) => type)).to.deep.equal(['tool_use'])
    }
  })
})
