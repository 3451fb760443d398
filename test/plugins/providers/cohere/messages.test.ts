import { expect } from 'chai'
import type { Message } from '../../../../plugins/providers/cohere/wire.ts'
import { refusalOf, translate } from './support.ts'

const call = (id: string, json = '{}', name = 'look') => ({ id, type: 'function', function: { name, arguments: json } })
const result = (tool_call_id: string, content: unknown = 'Blue') => ({ role: 'tool', tool_call_id, content })
const image = (url: string, detail?: string) => ({ type: 'image_url', image_url: { url, ...(detail && { detail }) } })

async function messagesOf(...messages: readonly object[]): Promise<readonly Message[]> {
  return (await translate({ messages })).messages
}

describe('cohere: messages', () => {
  it('instructions at the beginning are the first message, and later ones stay where they are', async () => {
    expect(
      await messagesOf(
        { role: 'system', content: 'Be brief.' },
        {
          role: 'developer',
          content: [
            { type: 'text', text: 'In' },
            { type: 'text', text: ' verse.' },
          ],
        },
        { role: 'user', content: 'Hi' },
        { role: 'system', content: ' ' },
        { role: 'system', content: 'Hurry.' },
      ),
    ).to.deep.equal([
      { role: 'system', content: 'Be brief.\nIn verse.' },
      { role: 'user', content: 'Hi' },
      { role: 'user', content: 'Hurry.' },
    ])
  })

  it('instructions alone are sent', async () => {
    expect(await messagesOf({ role: 'system', content: 'Greet.' })).to.deep.equal([{ role: 'system', content: 'Greet.' }])
  })

  it('empty messages are omitted', async () => {
    expect(
      await messagesOf(
        { role: 'user', content: '' },
        {
          role: 'user',
          content: [
            { type: 'text', text: ' ' },
            { type: 'text', text: 'Hi' },
          ],
        },
        { role: 'assistant', content: '' },
        { role: 'assistant', content: null },
        { role: 'user', content: [] },
      ),
    ).to.deep.equal([{ role: 'user', content: 'Hi' }])
    expect(await refusalOf({ messages: [{ role: 'user', content: ' ' }] })).to.contain('every message is empty')
  })

  it('images are sent unchanged', async () => {
    const data = 'data:image/png;base64,QUJD'
    const content = [{ type: 'text', text: 'What is it?' }, image(data, 'low'), image('https://a.example/b.png', 'high')]
    expect(await messagesOf({ role: 'user', content })).to.deep.equal([{ role: 'user', content }])
    const [message] = await messagesOf({ role: 'user', content: [image(data, 'original')] })
    expect(message!.content).to.deep.equal([image(data)])
  })

  it('files, sound, and images of other roles are refused and their path is named', async () => {
    const file = { type: 'file', file: { file_data: 'data:application/pdf;base64,QUJD' } }
    expect(await refusalOf({ messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }, file] }] })).to.contain(
      'messages[0].content[1]',
    )
    const sound = { type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } }
    expect(await refusalOf({ messages: [{ role: 'user', content: [sound] }] })).to.contain('text and images')
    const messages = [
      { role: 'user', content: '?' },
      { role: 'assistant', tool_calls: [call('a')] },
      result('a', [image('https://a.example/b.png')]),
    ]
    expect(await refusalOf({ messages })).to.contain('messages[2].content[0]')
    expect(await refusalOf({ messages: [{ role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }] })).to.equal(
      'not refused',
    )
  })

  it('refusals of the model are sent as text', async () => {
    expect(
      await messagesOf(
        { role: 'user', content: '?' },
        { role: 'assistant', refusal: 'I cannot.' },
        { role: 'user', content: [{ type: 'refusal', refusal: 'You can.' }] },
      ),
    ).to.deep.include.members([
      { role: 'assistant', content: 'I cannot.' },
      { role: 'user', content: 'You can.' },
    ])
  })

  it('deprecated functions and audio are refused', async () => {
    const refused = (message: object) => refusalOf({ messages: [message] })
    expect(await refused({ role: 'function', name: 'f', content: 'x' })).to.contain('messages[0].role')
    expect(await refused({ role: 'assistant', function_call: { name: 'f', arguments: '' } })).to.contain('Use `tool_calls`')
    expect(await refused({ role: 'assistant', audio: { id: 'a' } })).to.contain('messages[0].audio')
    expect(
      await refused({ role: 'assistant', tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'x', input: '' } }] }),
    ).to.contain('messages[0].tool_calls[0]')
  })
})

describe('cohere: earlier tool calls', () => {
  const HISTORY = [
    { role: 'user', content: '?' },
    { role: 'assistant', content: 'I look.', tool_calls: [call('a', '{"at":"sea"}'), call('b', '')] },
    result('b'),
    result('a', [
      { type: 'text', text: 'Gr' },
      { type: 'text', text: 'ey' },
    ]),
  ]

  it('calls and their results keep their ids; their text is the plan', async () => {
    expect((await messagesOf(...HISTORY)).slice(1)).to.deep.equal([
      { role: 'assistant', tool_plan: 'I look.', tool_calls: [call('a', '{"at":"sea"}'), call('b')] },
      { role: 'tool', tool_call_id: 'b', content: 'Blue' },
      { role: 'tool', tool_call_id: 'a', content: 'Grey' },
    ])
  })

  it('an empty result is sent', async () => {
    const messages = [HISTORY[0]!, { role: 'assistant', tool_calls: [call('a')] }, result('a', '')]
    expect((await messagesOf(...messages)).at(-1)).to.deep.equal({ role: 'tool', tool_call_id: 'a', content: '{}' })
  })

  it('arguments that are no JSON object are sent in one', async () => {
    const texts = ['{"at": "se', 'null', '[1]', 'sea']
    const calls = texts.map((json, index) => call(`c${index}`, json))
    const messages = [HISTORY[0]!, { role: 'assistant', tool_calls: calls }, ...calls.map(({ id }) => result(id))]
    const { tool_calls } = (await messagesOf(...messages))[1] as Extract<Message, { role: 'assistant' }>
    expect(tool_calls?.map(({ function: { arguments: json } }) => JSON.parse(json))).to.deep.equal(
      texts.map((json) => ({ arguments: json })),
    )
  })

  it('repeated ids become unique, each with its result', async () => {
    const turn = [{ role: 'assistant', tool_calls: [call('a'), call('a')] }, result('a', 'one'), result('a', 'two')]
    const messages = (await messagesOf(HISTORY[0]!, ...turn, ...turn)).slice(1)
    const called = messages.flatMap((message) => ('tool_calls' in message ? (message.tool_calls ?? []) : [])).map(({ id }) => id)
    const answered = messages.flatMap((message) => (message.role === 'tool' ? [message.tool_call_id] : []))
    expect(new Set(called).size).to.equal(4)
    expect(answered).to.deep.equal(called)
  })

  it('calls without results and results without calls are refused and their path is named', async () => {
    expect(await refusalOf({ messages: [...HISTORY.slice(0, 3), { role: 'user', content: 'x' }] })).to.contain(
      "'messages[3]': the tool call 'a' before it",
    )
    expect(await refusalOf({ messages: HISTORY.slice(0, 3) })).to.contain("the tool call 'a'")
    expect(await refusalOf({ messages: [HISTORY[0], result('x')] })).to.contain('messages[1].tool_call_id')
  })
})
