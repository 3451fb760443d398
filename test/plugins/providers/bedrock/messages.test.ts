import { expect } from 'chai'
import { GatewayError } from 'unified-model-gateway/plugin'
import { blocksOf, translate } from './support.ts'

const call = (id: string, name = 'look', text = '{}') => ({ id, type: 'function', function: { name, arguments: text } })
const result = (id: string, content: unknown = 'Blue') => ({ role: 'tool', tool_call_id: id, content })
const user = (content: unknown) => ({ role: 'user', content })

async function refusalOf(messages: readonly object[]): Promise<GatewayError> {
  const failure: unknown = await translate({ messages }).catch((error: unknown) => error)
  expect(failure).to.be.instanceOf(GatewayError)
  return failure as GatewayError
}

describe('bedrock: a conversation', () => {
  it('instructions of either role at the beginning are the system prompt, and later ones stay where they are', async () => {
    const { system, messages } = await translate({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] },
        user('Hi'),
        { role: 'system', content: 'Time flies.' },
      ],
    })
    expect(system).to.deep.equal([{ text: 'Be brief.' }, { text: 'Be kind.' }])
    expect(messages).to.deep.equal([{ role: 'user', content: [{ text: 'Hi' }, { text: 'Time flies.' }] }])
  })

  it("instructions alone are sent as the user's", async () => {
    const request = await translate({ messages: [{ role: 'system', content: 'Say hello.' }] })
    expect(request).not.to.have.property('system')
    expect(request.messages).to.deep.equal([{ role: 'user', content: [{ text: 'Say hello.' }] }])
  })

  it('adjacent messages of one role become one turn', async () => {
    const { messages } = await translate({
      messages: [
        user('One'),
        user('Two'),
        { role: 'assistant', content: 'Three' },
        { role: 'assistant', content: 'Four' },
        user('?'),
      ],
    })
    expect(messages).to.deep.equal([
      { role: 'user', content: [{ text: 'One' }, { text: 'Two' }] },
      { role: 'assistant', content: [{ text: 'Three' }, { text: 'Four' }] },
      { role: 'user', content: [{ text: '?' }] },
    ])
  })

  it('a first message of the assistant gets a user message before it', async () => {
    const { messages } = await translate({ messages: [{ role: 'assistant', content: 'Hello!' }, user('Hi')] })
    expect(messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'user'])
    expect(messages[0]!.content).to.deep.equal([{ text: '…' }])
  })

  it('blank texts are omitted, and turns without other content', async () => {
    const { messages } = await translate({
      messages: [
        user([
          { type: 'text', text: ' ' },
          { type: 'text', text: 'Hi' },
        ]),
        { role: 'assistant', content: '\n' },
        user('?'),
      ],
    })
    expect(messages).to.deep.equal([{ role: 'user', content: [{ text: 'Hi' }, { text: '?' }] }])
  })

  it('a conversation of blank messages is refused', async () => {
    expect(await refusalOf([user(' ')])).to.include({ status: 400, param: 'messages' })
  })

  it('white space at the end of a last assistant message is removed', async () => {
    const { messages } = await translate({ messages: [user('Count.'), { role: 'assistant', content: 'One, two, \n' }] })
    expect(messages[1]!.content).to.deep.equal([{ text: 'One, two,' }])
  })

  it('refusals of the model are sent as text', async () => {
    const { messages } = await translate({
      messages: [user('?'), { role: 'assistant', content: null, refusal: 'No.' }, user('Why?')],
    })
    expect(messages[1]!.content).to.deep.equal([{ text: 'No.' }])
  })
})

describe('bedrock: earlier tool calls', () => {
  const step = [user('?'), { role: 'assistant', content: 'I look.', tool_calls: [call('a', 'look', '{"at":"sea"}'), call('b')] }]

  it('arguments are an object, and the results of a step are one turn before any text', async () => {
    const { messages } = await translate({ messages: [...step, result('b'), result('a', 'Grey'), user('So?')] })
    expect(messages.slice(1)).to.deep.equal([
      {
        role: 'assistant',
        content: [
          { text: 'I look.' },
          { toolUse: { toolUseId: 'a', name: 'look', input: { at: 'sea' } } },
          { toolUse: { toolUseId: 'b', name: 'look', input: {} } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'b', content: [{ text: 'Blue' }] } },
          { toolResult: { toolUseId: 'a', content: [{ text: 'Grey' }] } },
          { text: 'So?' },
        ],
      },
    ])
  })

  it('invalid arguments stay as a text in an object', async () => {
    for (const [text, input] of [
      ['{"at":', { arguments: '{"at":' }],
      ['[1]', { arguments: '[1]' }],
      ['', {}],
    ] as const) {
      const messages = [user('?'), { role: 'assistant', tool_calls: [call('a', 'look', text)] }, result('a')]
      expect(blocksOf(await translate({ messages }))[1]).to.deep.equal({ toolUse: { toolUseId: 'a', name: 'look', input } })
    }
  })

  it('an empty result is sent', async () => {
    for (const content of ['', ' \n', [], [{ type: 'text', text: '' }]]) {
      const request = await translate({
        messages: [user('?'), { role: 'assistant', tool_calls: [call('a')] }, result('a', content)],
      })
      expect(blocksOf(request)[2]).to.deep.equal({ toolResult: { toolUseId: 'a', content: [{ json: {} }] } })
    }
  })

  it('calls without results and results without calls are refused and their path is named', async () => {
    expect(await refusalOf([...step, result('a'), user('So?')])).to.include({ status: 400, param: 'messages[3]' })
    expect(await refusalOf(step)).to.include({ status: 400, param: 'messages' })
    expect(await refusalOf([user('?'), result('a')])).to.include({ param: 'messages[1].tool_call_id' })
  })

  it('deprecated functions are refused, and the error says what to use instead', async () => {
    expect(await refusalOf([user('?'), { role: 'function', name: 'look', content: 'x' }])).to.include({
      param: 'messages[1].role',
    })
    const functionCall = { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } }
    expect(await refusalOf([user('?'), functionCall])).to.include({ param: 'messages[1].function_call' })
  })
})

describe('bedrock: ids of tool calls', () => {
  const turn = (...ids: string[]) => [
    user('?'),
    { role: 'assistant', tool_calls: ids.map((id) => call(id)) },
    ...ids.map((id) => result(id)),
  ]

  async function idsOf(messages: readonly object[], model?: string): Promise<string[]> {
    const blocks = blocksOf(await translate({ messages, ...(model && { model }) }))
    const used = blocks.flatMap((block) => ('toolUse' in block ? [block.toolUse.toolUseId] : []))
    const answered = blocks.flatMap((block) => ('toolResult' in block ? [block.toolResult.toolUseId] : []))
    expect(answered).to.deep.equal(used)
    return used
  }

  it('a valid id is kept', async () => {
    expect(await idsOf(turn('tooluse_bpe71yCfRu2b5i-nKGDr5g'))).to.deep.equal(['tooluse_bpe71yCfRu2b5i-nKGDr5g'])
  })

  it('ids of other providers become valid and unique, the same in every turn', async () => {
    const strange = ['a:b', 'a.b', 'a_b', '', 'x'.repeat(65), 'x'.repeat(66)]
    const ids = await idsOf(turn(...strange))
    for (const id of ids) expect(id).to.match(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(new Set(ids).size).to.equal(strange.length)
    expect(ids[2]).to.equal('a_b')
    const later = await idsOf([...turn(...strange), { role: 'assistant', content: 'Blue.' }, ...turn('a:b')])
    expect(later.slice(0, strange.length)).to.deep.equal(ids)
    expect(new Set(later).size).to.equal(strange.length + 1)
  })

  it('ids for Mistral have nine letters and digits', async () => {
    const ids = await idsOf(turn('tooluse_bpe71yCfRu2b5i-nKGDr5g', 'abcDEF123'), 'mistral.mistral-large-2402-v1:0')
    expect(ids[0]).to.match(/^[a-zA-Z0-9]{9}$/)
    expect(ids[1]).to.equal('abcDEF123')
  })

  it('an id may repeat', async () => {
    const ids = await idsOf([...turn('call_0'), ...turn('call_0'), ...turn('call_0')])
    expect(new Set(ids).size).to.equal(3)
  })
})
