import { expect } from 'chai'
import { blocksOf, isToolResult, isToolUse, translate } from './support.ts'

const text = (words: string) => ({ type: 'text', text: words })
const call = (id: string, name = 'look', args = '{"at":"sea"}') => ({ id, type: 'function', function: { name, arguments: args } })
const asks = (...calls: object[]) => ({ role: 'assistant', content: null, tool_calls: calls })
const answer = (id: string, content: unknown) => ({ role: 'tool', tool_call_id: id, content })
const user = (content: unknown) => ({ role: 'user', content })

async function refusalOf(messages: unknown): Promise<{ code: string; param: string; message: string }> {
  const failure: unknown = await translate({ messages }).catch((error: unknown) => error)
  expect(failure).to.have.property('name', 'GatewayError')
  return failure as { code: string; param: string; message: string }
}

describe('anthropic: instructions', () => {
  it('those at the beginning are the system prompt, and later ones stay where they are, as the user says them', async () => {
    const request = await translate({
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'system', content: [text('Be kind.'), text('Rhyme.')] },
        user('Hi'),
        { role: 'assistant', content: 'Hi.' },
        { role: 'system', content: 'Time flies.' },
        user('Go on.'),
        { role: 'developer', content: 'Hurry.' },
      ],
    })
    expect(request.system).to.equal('Be brief.\nBe kind.\nRhyme.')
    expect(request.messages).to.deep.equal([
      { role: 'user', content: [text('Hi')] },
      { role: 'assistant', content: [text('Hi.')] },
      { role: 'user', content: [text('Time flies.'), text('Go on.'), text('Hurry.')] },
    ])
  })

  it('one between a tool call and its result comes after the result', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }
    const { system, messages } = await translate({
      messages: [
        user('?'),
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'system', content: 'Hurry.' },
        { role: 'tool', tool_call_id: 'c1', content: 'Blue.' },
      ],
    })
    expect(system).to.equal(undefined)
    const result = { type: 'tool_result', tool_use_id: 'c1', content: [text('Blue.')] }
    expect(messages.at(-1)).to.deep.equal({ role: 'user', content: [result, text('Hurry.')] })
  })

  it('instructions alone are sent as a message', async () => {
    const request = await translate({ messages: [{ role: 'system', content: 'Say hello.' }] })
    expect(request).not.to.have.property('system')
    expect(request.messages).to.deep.equal([{ role: 'user', content: [text('Say hello.')] }])
  })

  it('blank instructions are omitted', async () => {
    const request = await translate({ messages: [{ role: 'system', content: ' \n' }, user('Hi')] })
    expect(request).not.to.have.property('system')
  })
})

describe('anthropic: turns', () => {
  it('adjacent messages of one role become one turn', async () => {
    const request = await translate({ messages: [user('One'), user([text('Two')]), { role: 'assistant', content: 'Three' }] })
    expect(request.messages).to.deep.equal([
      { role: 'user', content: [text('One'), text('Two')] },
      { role: 'assistant', content: [text('Three')] },
    ])
  })

  it('empty and blank texts are omitted, and turns without other content', async () => {
    const request = await translate({
      messages: [user('One'), { role: 'assistant', content: '' }, user([text(' \t\n'), text('Two')])],
    })
    expect(request.messages).to.deep.equal([{ role: 'user', content: [text('One'), text('Two')] }])
  })

  it('a conversation of blank messages is refused', async () => {
    expect(await refusalOf([user('  ')])).to.include({ code: 'invalid_value', param: 'messages' })
  })

  it('refusals of the model are sent as text', async () => {
    const request = await translate({
      messages: [
        user('One'),
        { role: 'assistant', content: null, refusal: 'I would rather not.' },
        user('Two'),
        { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
        user('Three'),
      ],
    })
    expect(blocksOf(request).map((block) => 'text' in block && block.text)).to.deep.equal([
      'One',
      'I would rather not.',
      'Two',
      'No.',
      'Three',
    ])
  })

  it('white space at the end of a last assistant message is removed', async () => {
    const request = await translate({ messages: [user('Count'), { role: 'assistant', content: 'One, two, \n' }] })
    expect(request.messages.at(-1)).to.deep.equal({ role: 'assistant', content: [text('One, two,')] })
  })

  it("the client's body is not changed", async () => {
    const messages = [user('Count'), { role: 'assistant', content: [text('One ')] }]
    const before = structuredClone(messages)
    await translate({ messages })
    expect(messages).to.deep.equal(before)
  })
})

describe('anthropic: earlier tool calls', () => {
  it('arguments are sent as an object, after the text', async () => {
    const request = await translate({
      messages: [user('?'), { ...asks(call('c1')), content: 'Let me look.' }, answer('c1', 'Blue')],
    })
    expect(request.messages.slice(1)).to.deep.equal([
      { role: 'assistant', content: [text('Let me look.'), { type: 'tool_use', id: 'c1', name: 'look', input: { at: 'sea' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: [text('Blue')] }] },
    ])
  })

  it("results of parallel calls are one message, followed by the user's text", async () => {
    const request = await translate({
      messages: [user('?'), asks(call('c1'), call('c2')), answer('c2', 'Two'), answer('c1', 'One'), user('Well?')],
    })
    expect(request.messages).to.have.length(3)
    expect(request.messages[2]).to.deep.equal({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'c2', content: [text('Two')] },
        { type: 'tool_result', tool_use_id: 'c1', content: [text('One')] },
        text('Well?'),
      ],
    })
  })

  it('an empty result has no content', async () => {
    const request = await translate({ messages: [user('?'), asks(call('c1')), answer('c1', '')] })
    expect(request.messages[2]!.content).to.deep.equal([{ type: 'tool_result', tool_use_id: 'c1' }])
  })

  it('missing arguments are an empty object, invalid ones a text', async () => {
    const messages = [user('?'), asks(call('c1', 'f', ''), call('c2', 'f', '{"path": "a'), call('c3', 'f', '[1]'))]
    const request = await translate({ messages: [...messages, answer('c1', 'x'), answer('c2', 'x'), answer('c3', 'x')] })
    const inputs = blocksOf(request).filter(isToolUse)
    expect(inputs.map(({ input }) => input)).to.deep.equal([{}, { arguments: '{"path": "a' }, { arguments: '[1]' }])
  })

  it('ids of other providers become valid and stay unique', async () => {
    const ids = ['functions.look:0', 'functions:look:0', 'functions_look_0', '', 'functions.look:0_2', 'toolu_01AbC-x']
    const request = await translate({
      messages: [user('?'), asks(...ids.map((id) => call(id))), ...ids.map((id) => answer(id, `result of ${id}`))],
    })
    const uses = blocksOf(request).filter(isToolUse)
    const results = blocksOf(request).filter(isToolResult)
    expect(new Set(uses.map(({ id }) => id)).size).to.equal(ids.length)
    for (const { id } of uses) expect(id).to.match(/^[a-zA-Z0-9_-]+$/)
    expect(uses.at(-1)!.id).to.equal('toolu_01AbC-x')
    expect(results.map(({ tool_use_id }) => tool_use_id)).to.deep.equal(uses.map(({ id }) => id))
  })

  it('an id may repeat in a later step', async () => {
    const request = await translate({
      messages: [user('?'), asks(call('call_0')), answer('call_0', 'One'), asks(call('call_0')), answer('call_0', 'Two')],
    })
    expect(
      blocksOf(request)
        .filter(isToolUse)
        .map(({ id }) => id),
    ).to.deep.equal(['call_0', 'call_0_2'])
    expect(
      blocksOf(request)
        .filter(isToolResult)
        .map(({ tool_use_id }) => tool_use_id),
    ).to.deep.equal(['call_0', 'call_0_2'])
  })

  it('an id stays the same as the conversation grows', async () => {
    const start = [user('?'), asks(call('a:b')), answer('a:b', 'One')]
    const longer = await translate({ messages: [...start, asks(call('a.b')), answer('a.b', 'Two')] })
    const shorter = await translate({ messages: start })
    expect(longer.messages.slice(0, 3)).to.deep.equal(shorter.messages)
  })

  it('a thousand equal ids are translated quickly', async () => {
    const ids = Array.from({ length: 1000 }, () => 'same')
    const request = await translate({
      messages: [user('?'), asks(...ids.map((id) => call(id))), ...ids.map((id) => answer(id, 'x'))],
    })
    expect(
      new Set(
        blocksOf(request)
          .filter(isToolUse)
          .map(({ id }) => id),
      ).size,
    ).to.equal(1000)
  })

  it('a result without a call is refused and its path is named', async () => {
    const refusal = await refusalOf([user('?'), answer('c9', 'x')])
    expect(refusal).to.include({ code: 'invalid_value', param: 'messages[1].tool_call_id' })
  })

  it('a call without a result is refused and the path of the next message is named', async () => {
    expect(await refusalOf([user('?'), asks(call('c1'), call('c2')), answer('c1', 'x'), user('Well?')])).to.include({
      code: 'invalid_value',
      param: 'messages[3]',
      message:
        "Invalid value for 'messages[3]': the tool call 'c2' before it has no message with role 'tool' that gives its result.",
    })
    expect(await refusalOf([user('?'), asks(call('c1'))])).to.include({ param: 'messages' })
  })

  it('custom tool calls and deprecated functions are refused and their path is named', async () => {
    const custom = { id: 'c1', type: 'custom', custom: { name: 'x', input: 'y' } }
    expect((await refusalOf([user('?'), asks(custom)])).param).to.equal('messages[1].tool_calls[0]')
    const old = { role: 'assistant', content: null, function_call: { name: 'x', arguments: '{}' } }
    expect((await refusalOf([user('?'), old])).param).to.equal('messages[1].function_call')
    expect((await refusalOf([{ role: 'function', name: 'x', content: 'y' }])).param).to.equal('messages[0].role')
    const spoken = { role: 'assistant', audio: { id: 'audio_1' } }
    expect(await refusalOf([user('?'), spoken])).to.include({ code: 'unsupported_parameter', param: 'messages[1].audio' })
  })
})

const marked = (text: string) => ({ type: 'text', text, prompt_cache_breakpoint: { mode: 'explicit' } })
const plain = (text: string) => ({ type: 'text', text })
const MARK = { cache_control: { type: 'ephemeral' } }

describe('anthropic: prompt caching', () => {
  it('a marked part has a cache mark', async () => {
    const { messages } = await translate({ messages: [{ role: 'user', content: [marked('Long.'), plain('Short?')] }] })
    expect(messages[0]!.content).to.deep.equal([{ ...plain('Long.'), ...MARK }, plain('Short?')])
  })

  it('marked instructions stay instructions', async () => {
    const { system } = await translate({
      messages: [
        { role: 'system', content: [marked('Be brief.')] },
        { role: 'developer', content: 'Rhyme.' },
        { role: 'user', content: 'Hi' },
      ],
    })
    expect(system).to.deep.equal([{ ...plain('Be brief.'), ...MARK }, plain('Rhyme.')])
  })

  it('the mark in a tool result is on the result', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }
    const { messages } = await translate({
      messages: [
        { role: 'user', content: '?' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: [marked('Blue.'), plain('Grey.')] },
      ],
    })
    const content = [plain('Blue.'), plain('Grey.')]
    expect(messages[2]!.content).to.deep.equal([{ type: 'tool_result', tool_use_id: 'c1', content, ...MARK }])
  })

  it('only the latest four marks are sent', async () => {
    const request = await translate({
      messages: [
        { role: 'system', content: [marked('0')] },
        { role: 'user', content: [marked('1'), plain('-'), marked('2')] },
        { role: 'assistant', content: [marked('3')] },
        { role: 'user', content: [marked('4')] },
      ],
    })
    expect(request.system).to.equal('0')
    const kept = request.messages.flatMap(({ content }) => content.filter((block) => 'cache_control' in block))
    expect(kept.map((block) => 'text' in block && block.text)).to.deep.equal(['1', '2', '3', '4'])
  })
})
