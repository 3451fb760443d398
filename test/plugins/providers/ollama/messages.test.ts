import { expect } from 'chai'
import { messagesOf, refusalOf } from './ollama.ts'

const user = (...parts: readonly object[]) => ({ role: 'user', content: parts })
const text = (words: string) => ({ type: 'text', text: words })
const image = (url: string) => ({ type: 'image_url', image_url: { url } })
const call = (id: string, name: string, values: string) => ({ id, type: 'function', function: { name, arguments: values } })
const asks = (...calls: readonly object[]) => ({ role: 'assistant', content: null, tool_calls: calls })
const result = (id: string, content: unknown) => ({ role: 'tool', tool_call_id: id, content })
const refused = (...messages: readonly object[]) => refusalOf({ messages })

describe('ollama: messages', () => {
  it('sends a developer message as a system message', async () => {
    expect(
      await messagesOf({ role: 'developer', content: 'Be brief.' }, { role: 'system', content: [text('Be kind.')] }),
    ).to.deep.equal([
      { role: 'system', content: 'Be brief.' },
      { role: 'system', content: 'Be kind.' },
    ])
  })

  it('joins the text parts of a message as lines', async () => {
    expect(await messagesOf(user(text('One'), text('Two')))).to.deep.equal([{ role: 'user', content: 'One\nTwo' }])
  })

  it('sends an inline image as base64 beside the text', async () => {
    expect(await messagesOf(user(text('What is this?'), image('data:image/png;base64,iVBORw0KGgo=')))).to.deep.equal([
      { role: 'user', content: 'What is this?', images: ['iVBORw0KGgo='] },
    ])
  })

  it('sends sound among the images', async () => {
    const sound = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }
    expect(await messagesOf(user(sound))).to.deep.equal([{ role: 'user', content: '', images: ['UklGRg=='] }])
  })

  it('refuses the address of an image, and says what to send instead', async () => {
    const refusal = await refused(user(image('https://example.com/cat.png')))
    expect(refusal).to.include({ code: 'unsupported_parameter', param: 'messages[0].content[0].image_url.url' })
    expect(refusal.message).to.contain('send a base64 data URL')
    expect(await refused(user(image('cat.png')))).to.include({ code: 'invalid_value' })
  })

  it('refuses unsupported content and names its path', async () => {
    const file = { type: 'file', file: { file_data: 'data:application/pdf;base64,QQ==' } }
    const param = 'messages[0].content'
    expect(await refused(user(file))).to.include({ code: 'unsupported_parameter', param: `${param}[0]` })
    const shown = [image('data:image/png;base64,QQ==')]
    expect(await refused({ role: 'system', content: shown })).to.include({ code: 'unsupported_parameter', param })
    expect(await refused(result('c1', shown))).to.include({ code: 'unsupported_parameter', param })
  })

  it('leaves out the pictures of earlier answers', async () => {
    const shown = [text('A cat:'), image('data:image/png;base64,QQ==')]
    expect(await messagesOf({ role: 'assistant', content: shown })).to.deep.equal([{ role: 'assistant', content: 'A cat:' }])
  })

  it('sends the reasoning and refusals of earlier answers', async () => {
    const messages = await messagesOf(
      { role: 'assistant', content: 'Blue.', reasoning_content: 'The sky?' },
      { role: 'assistant', content: null, refusal: 'I would rather not.' },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    )
    expect(messages).to.deep.equal([
      { role: 'assistant', content: 'Blue.', thinking: 'The sky?' },
      { role: 'assistant', content: 'I would rather not.' },
      { role: 'assistant', content: 'No.' },
    ])
  })
})

describe('ollama: earlier tool calls', () => {
  it('sends arguments as an object, and a result with the name of its tool', async () => {
    const calls = [call('c1', 'look', '{"at":"sea"}'), call('c2', 'listen', '')]
    expect(await messagesOf(asks(...calls), result('c2', 'Waves.'), result('c1', [text('Blue')]))).to.deep.equal([
      {
        role: 'assistant',
        content: '',
        tool_calls: [
          { id: 'c1', function: { name: 'look', arguments: { at: 'sea' } } },
          { id: 'c2', function: { name: 'listen', arguments: {} } },
        ],
      },
      { role: 'tool', content: 'Waves.', tool_name: 'listen', tool_call_id: 'c2' },
      { role: 'tool', content: 'Blue', tool_name: 'look', tool_call_id: 'c1' },
    ])
  })

  it('takes a repeated id for the latest call', async () => {
    const messages = await messagesOf(
      asks(call('c1', 'look', '{}')),
      result('c1', 'Blue'),
      asks(call('c1', 'listen', '{}')),
      result('c1', 'Waves'),
    )
    expect(messages.map(({ tool_name }) => tool_name)).to.deep.equal([undefined, 'look', undefined, 'listen'])
  })

  it('sends invalid arguments as a text', async () => {
    const [message] = await messagesOf(asks(call('c1', 'look', '{"at": "s'), call('c2', 'look', '[1]')))
    expect(message!.tool_calls!.map((one) => one.function.arguments)).to.deep.equal([
      { arguments: '{"at": "s' },
      { arguments: '[1]' },
    ])
  })

  it('refuses custom tools and deprecated functions, and names their path', async () => {
    const custom = { id: 'c1', type: 'custom', custom: { name: 'x', input: 'y' } }
    expect((await refused(asks(custom))).param).to.equal('messages[0].tool_calls[0]')
    const old = { role: 'assistant', content: null, function_call: { name: 'x', arguments: '{}' } }
    expect((await refused(old)).param).to.equal('messages[0].function_call')
    expect((await refused({ role: 'assistant', audio: { id: 'audio_1' } })).param).to.equal('messages[0].audio')
    expect((await refused({ role: 'function', name: 'x', content: 'y' })).param).to.equal('messages[0].role')
  })
})
