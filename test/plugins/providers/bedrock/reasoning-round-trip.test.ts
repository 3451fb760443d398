import { expect } from 'chai'
import { runTranslator } from 'unified-model-gateway/plugin/testing'
import { bedrock, fixture, hear, translate } from './support.ts'

const OPUS_4_7 = 'us.anthropic.claude-opus-4-7'
const HAIKU_4_5 = 'us.anthropic.claude-haiku-4-5-20251001-v1:0'
const SEALED = [
  { reasoningContent: { reasoningText: { text: 'First the sea.', signature: 'EqQBCkYI' } } },
  { reasoningContent: { redactedContent: Buffer.from('sealed').toString('base64') } },
]
const AGAIN = { reasoningContent: { reasoningText: { text: '', signature: 'ErUB' } } }

/** The conversation after a client has run the tools of the fixture and put its message together. */
async function secondTurn() {
  const { content, tools } = await hear(fixture('reasoning-before-tools'), { model: `aws/${OPUS_4_7}` })
  const tool_calls = tools.map(({ id, name, arguments: text, extra_content }) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
    extra_content,
  }))
  return [
    { role: 'user', content: 'How is it outside?' },
    { role: 'assistant', content, tool_calls },
    ...tools.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Blue' })),
  ]
}

const kinds = (content: readonly object[]) => content.map((block) => Object.keys(block)[0])

describe('bedrock: reasoning from turn to turn', () => {
  it('a streamed call carries the reasoning that led to it', async () => {
    const { tools } = await hear(fixture('reasoning-before-tools'), { model: `aws/${OPUS_4_7}` })
    expect(tools.map(({ extra_content }) => extra_content)).to.deep.equal([
      { bedrock: { model: OPUS_4_7, reasoning: SEALED } },
      { bedrock: { model: OPUS_4_7, reasoning: [AGAIN] } },
    ])
  })

  it('a whole reply carries the same, on the call it led to', async () => {
    const look = (toolUseId: string) => ({ toolUse: { toolUseId, name: 'look', input: {} } })
    const content = [...SEALED, look('a'), look('b')]
    const reply = { output: { message: { role: 'assistant', content } }, stopReason: 'tool_use' }
    const { choices } = runTranslator(await bedrock(), { whole: reply }, { model: `aws/${OPUS_4_7}` })
    expect(choices[0]?.message.tool_calls?.map(({ extra_content }) => extra_content)).to.deep.equal([
      { bedrock: { model: OPUS_4_7, reasoning: SEALED } },
      undefined,
    ])
  })

  it('the next turn brings it back as it was, each before its call', async () => {
    const { messages } = await translate({ model: OPUS_4_7, reasoning_effort: 'high', messages: await secondTurn() })
    expect(messages[1]!.content).to.deep.equal([
      ...SEALED,
      { text: 'I look.' },
      { toolUse: { toolUseId: 'tooluse_A', name: 'look', input: { at: 'sea' } } },
      AGAIN,
      { toolUse: { toolUseId: 'tooluse_B', name: 'look', input: { at: 'sky' } } },
    ])
  })

  it('so it does where the model is reached by another profile', async () => {
    for (const model of [
      'global.anthropic.claude-opus-4-7',
      'arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-opus-4-7',
    ]) {
      const { messages } = await translate({ model, reasoning_effort: 'high', messages: await secondTurn() })
      expect(kinds(messages[1]!.content)[0], model).to.equal('reasoningContent')
    }
  })

  it('another model never gets it, for it would refuse the seal', async () => {
    const { messages } = await translate({ model: 'us.anthropic.claude-opus-5', messages: await secondTurn() })
    expect(kinds(messages[1]!.content)).to.deep.equal(['text', 'toolUse', 'toolUse'])
  })

  it('a call that does not reason brings none', async () => {
    const { messages } = await translate({ model: OPUS_4_7, messages: await secondTurn() })
    expect(kinds(messages[1]!.content)).to.deep.equal(['text', 'toolUse', 'toolUse'])
  })

  it('a step that began with reasoning goes on with it', async () => {
    const extra_content = { bedrock: { model: HAIKU_4_5, reasoning: [SEALED[0]] } }
    const messages = [
      { role: 'user', content: '?' },
      {
        role: 'assistant',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' }, extra_content }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
    ]
    const request = await translate({ model: HAIKU_4_5, reasoning_effort: 'low', messages })
    expect(request.additionalModelRequestFields).to.have.nested.property('thinking.type', 'enabled')
    expect(kinds(request.messages[1]!.content)).to.deep.equal(['reasoningContent', 'toolUse'])
  })

  it('reasoning without a seal is not carried: open models would say it aloud', async () => {
    const frames = fixture('reasoning-before-tools').filter((frame) => !/signature|redacted/.test(frame.toString()))
    expect((await hear(frames)).tools.map(({ extra_content }) => extra_content)).to.deep.equal([undefined, undefined])
  })

  it('what a client made up is not brought along', async () => {
    const junk = [null, 'x', { text: 'x' }, { reasoningContent: null }, { reasoningContent: { reasoningText: { text: 'x' } } }]
    for (const extra_content of [{ bedrock: { model: OPUS_4_7, reasoning: junk } }, { bedrock: 'x' }, 'x', null, []]) {
      const messages = [
        { role: 'user', content: '?' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' }, extra_content }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'x' },
      ]
      const request = await translate({ model: OPUS_4_7, reasoning_effort: 'low', messages })
      expect(kinds(request.messages[1]!.content)).to.deep.equal(['toolUse'])
    }
  })
})
