import { expect } from 'chai'
import { contentsOf, partsOf, refusalOf, translate } from './gemini.ts'

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown, more: object = {}) => ({ role: 'assistant', content, ...more })
const toolCall = (id: string, name = 'look', args = '{}') => ({ id, type: 'function', function: { name, arguments: args } })
const result = (id: string, content: unknown) => ({ role: 'tool', tool_call_id: id, content })

describe('gemini: a conversation', () => {
  it("has its turns in order, with Google's roles", async () => {
    expect(await contentsOf(user('Hi'), assistant('Hello.'), user('Bye'))).to.deep.equal([
      { role: 'user', parts: [{ text: 'Hi' }] },
      { role: 'model', parts: [{ text: 'Hello.' }] },
      { role: 'user', parts: [{ text: 'Bye' }] },
    ])
  })

  it('joins the instructions at the beginning, and leaves later ones where they are', async () => {
    const begin = [{ role: 'system', content: 'Be brief.' }, { role: 'developer', content: 'In French.' }, user('Hi')]
    const { systemInstruction, contents } = await translate({ messages: [...begin, { role: 'system', content: 'Hurry.' }] })
    expect(systemInstruction).to.deep.equal({ parts: [{ text: 'Be brief.\nIn French.' }] })
    expect(contents).to.deep.equal([{ role: 'user', parts: [{ text: 'Hi' }, { text: 'Hurry.' }] }])
  })

  it("of instructions alone sends them as the user's", async () => {
    const request = await translate({ messages: [{ role: 'system', content: 'Say hi.' }] })
    expect(request).to.deep.include({ contents: [{ role: 'user', parts: [{ text: 'Say hi.' }] }] })
    expect(request).not.to.have.property('systemInstruction')
  })

  it('omits empty texts', async () => {
    expect(
      await contentsOf(
        user(''),
        assistant(''),
        user([
          { type: 'text', text: '' },
          { type: 'text', text: 'Hi' },
        ]),
      ),
    ).to.deep.equal([{ role: 'user', parts: [{ text: 'Hi' }] }])
  })

  it('of empty messages is refused', async () => {
    expect(await refusalOf({ messages: [user('')] })).to.include({ status: 400, param: 'messages' })
  })

  it('merges adjacent messages of one role', async () => {
    expect(await contentsOf(user('One.'), user('Two.'))).to.deep.equal([
      { role: 'user', parts: [{ text: 'One.' }, { text: 'Two.' }] },
    ])
  })

  it('sends a refusal of the model as text', async () => {
    const [, model] = await contentsOf(user('Hi'), assistant(null, { refusal: 'No.' }))
    expect(model).to.deep.equal({ role: 'model', parts: [{ text: 'No.' }] })
  })

  it('omits the reasoning of earlier answers', async () => {
    const [, model] = await contentsOf(user('Hi'), assistant('Hello.', { reasoning_content: 'A greeting.' }))
    expect(model).to.deep.equal({ role: 'model', parts: [{ text: 'Hello.' }] })
  })

  for (const [what, message, param] of [
    [
      'a deprecated function call',
      assistant(null, { function_call: { name: 'look', arguments: '{}' } }),
      'messages[1].function_call',
    ],
    ['audio of the assistant', assistant(null, { audio: { id: 'audio_1' } }), 'messages[1].audio'],
    ['a message of a function', { role: 'function', name: 'look', content: 'x' }, 'messages[1].role'],
  ] as const) {
    it(`with ${what} is refused and its path is named`, async () => {
      expect(await refusalOf({ messages: [user('Hi'), message] })).to.include({ row: 'unsupported_parameter', param })
    })
  }
})

describe('gemini: content of a user', () => {
  const PNG = 'iVBORw0KGgo='

  for (const [what, part, expected] of [
    [
      'an image',
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
      { inlineData: { mimeType: 'image/png', data: PNG } },
    ],
    [
      'an image by the name that is no type',
      { type: 'image_url', image_url: { url: `data:image/jpg;base64,${PNG}` } },
      { inlineData: { mimeType: 'image/jpeg', data: PNG } },
    ],
    [
      'the address of an image',
      { type: 'image_url', image_url: { url: 'https://example.com/a.webp?size=2' } },
      { fileData: { fileUri: 'https://example.com/a.webp?size=2', mimeType: 'image/webp' } },
    ],
    [
      'the address of an image that does not say its type',
      { type: 'image_url', image_url: { url: 'https://example.com/a' } },
      { fileData: { fileUri: 'https://example.com/a', mimeType: 'image/jpeg' } },
    ],
    [
      'a sound',
      { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
      { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } },
    ],
    [
      'a document',
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
      { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } },
    ],
  ] as const) {
    it(`${what} is sent`, async () => {
      expect(await partsOf([{ type: 'text', text: 'Look:' }, part])).to.deep.equal([{ text: 'Look:' }, expected])
    })
  }

  for (const [what, part, expected] of [
    [
      'an image that is neither an address nor data',
      { type: 'image_url', image_url: { url: 'picture.png' } },
      { row: 'invalid_value', param: 'messages[0].content[0].image_url.url' },
    ],
    [
      'a data URL without a type',
      { type: 'image_url', image_url: { url: `data:;base64,${PNG}` } },
      { row: 'invalid_value', param: 'messages[0].content[0].image_url.url' },
    ],
    [
      "a file by OpenAI's id",
      { type: 'file', file: { file_id: 'file-123' } },
      { row: 'unsupported_parameter', param: 'messages[0].content[0].file.file_id' },
    ],
    ['a part of another kind', { type: 'video_url' }, { row: 'unsupported_parameter', param: 'messages[0].content[0]' }],
  ] as const) {
    it(`${what} is refused and its path is named`, async () => {
      expect(await refusalOf({ messages: [user([part])] })).to.include({ status: 400, ...expected })
    })
  }
})

describe('gemini: addresses', () => {
  const file = (member: object) => ({ messages: [user([{ type: 'file', file: member }])] })

  it('of buckets and files of the Files API are sent', async () => {
    const { contents } = await translate(file({ file_id: 'gs://our-pictures/a.pdf' }))
    expect(contents[0]!.parts).to.deep.equal([{ fileData: { fileUri: 'gs://our-pictures/a.pdf', mimeType: 'application/pdf' } }])
    const own = 'https://generativelanguage.googleapis.com/v1beta/files/abc'
    expect((await translate(file({ file_id: own }))).contents[0]!.parts).to.deep.equal([{ fileData: { fileUri: own } }])
  })
})

describe('gemini: tool results', () => {
  it('have the name of the called function', async () => {
    const contents = await contentsOf(
      user('Hi'),
      assistant(null, { tool_calls: [toolCall('call_1', 'get_weather')] }),
      result('call_1', 'Sunny'),
    )
    expect(contents.at(-1)).to.deep.equal({
      role: 'user',
      parts: [{ functionResponse: { id: 'call_1', name: 'get_weather', response: { output: 'Sunny' } } }],
    })
  })

  it('of parallel calls are one turn, in the order of the calls', async () => {
    const calls = assistant(null, { tool_calls: [toolCall('a', 'first'), toolCall('b', 'second')] })
    const contents = await contentsOf(user('Hi'), calls, result('b', 'Two'), result('a', 'One'), user('Thanks'))
    expect(contents.slice(2)).to.deep.equal([
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'a', name: 'first', response: { output: 'One' } } },
          { functionResponse: { id: 'b', name: 'second', response: { output: 'Two' } } },
        ],
      },
      { role: 'user', parts: [{ text: 'Thanks' }] },
    ])
  })

  it('of calls with the same id answer them in order', async () => {
    const calls = assistant(null, { tool_calls: [toolCall('x', 'first'), toolCall('x', 'second')] })
    const contents = await contentsOf(user('Hi'), calls, result('x', 'One'), result('x', 'Two'))
    expect(contents.at(-1)!.parts).to.deep.equal([
      { functionResponse: { id: 'x', name: 'first', response: { output: 'One' } } },
      { functionResponse: { id: 'x', name: 'second', response: { output: 'Two' } } },
    ])
  })

  it('are sent as the same text, without rounding numbers', async () => {
    const contents = await contentsOf(
      user('Hi'),
      assistant(null, { tool_calls: [toolCall('a')] }),
      result('a', [
        { type: 'text', text: '{"id":' },
        { type: 'text', text: '12345678901234567890}' },
      ]),
    )
    expect(contents.at(-1)!.parts[0]).to.have.nested.property('functionResponse.response.output', '{"id":12345678901234567890}')
  })

  it('may be empty', async () => {
    const contents = await contentsOf(user('Hi'), assistant(null, { tool_calls: [toolCall('a')] }), result('a', ''))
    expect(contents.at(-1)!.parts[0]).to.have.nested.property('functionResponse.response.output', '')
  })

  for (const [what, messages, param] of [
    ['a call without a result', [user('Hi'), assistant(null, { tool_calls: [toolCall('a')] }), user('And?')], 'messages[2]'],
    ['a last call without a result', [user('Hi'), assistant(null, { tool_calls: [toolCall('a')] })], 'messages'],
    ['a result without a call', [user('Hi'), result('a', 'x')], 'messages[1].tool_call_id'],
    [
      'a second result',
      [user('Hi'), assistant(null, { tool_calls: [toolCall('a')] }), result('a', 'x'), result('a', 'x')],
      'messages[3].tool_call_id',
    ],
  ] as const) {
    it(`${what} is refused and its path is named`, async () => {
      expect(await refusalOf({ messages })).to.include({ status: 400, row: 'invalid_value', param })
    })
  }

  it('with an image are refused', async () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,QQ==' } }
    const messages = [user('Hi'), assistant(null, { tool_calls: [toolCall('a')] }), result('a', [image])]
    expect(await refusalOf({ messages })).to.include({ row: 'unsupported_parameter', param: 'messages[2].content' })
  })
})

describe('gemini: earlier tool calls', () => {
  const argsOf = async (text: string) => {
    const contents = await contentsOf(
      user('Hi'),
      assistant(null, { tool_calls: [toolCall('a', 'look', text)] }),
      result('a', 'x'),
    )
    return contents[1]!.parts[0]
  }

  it('have their arguments as an object', async () => {
    expect(await argsOf('{"at":"sky"}')).to.deep.include({ functionCall: { id: 'a', name: 'look', args: { at: 'sky' } } })
  })

  it('without arguments have an empty object', async () => {
    expect(await argsOf(''))
      .to.have.nested.property('functionCall.args')
      .that.deep.equals({})
  })

  it('with truncated arguments keep them as a text', async () => {
    expect(await argsOf('{"at":"sk'))
      .to.have.nested.property('functionCall.args')
      .that.deep.equals({ arguments: '{"at":"sk' })
  })

  it('of custom tools are refused', async () => {
    const custom = { id: 'a', type: 'custom', custom: { name: 'x', input: 'y' } }
    const messages = [user('Hi'), assistant(null, { tool_calls: [custom] })]
    expect(await refusalOf({ messages })).to.include({ row: 'unsupported_parameter', param: 'messages[1].tool_calls[0]' })
  })
})
