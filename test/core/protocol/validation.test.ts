import { expect } from 'chai'
import { GatewayError } from '../../../core/errors.ts'
import { chatCompletions } from '../../../core/protocol/chat-completions.ts'
import { checkOf } from '../../../core/protocol/validation.ts'

const HELLO = { role: 'user', content: 'Hello' }
const request = (members: object): Record<string, unknown> => ({ model: 'a/b', messages: [HELLO], ...members })
const saying = (...messages: unknown[]) => request({ messages })
const parts = (...content: unknown[]) => saying({ role: 'user', content })
const calling = (call: object) => saying({ role: 'assistant', content: null, tool_calls: [call] })

/** What a client is told of a request; undefined where nothing is wrong. */
function told(
  body: Record<string, unknown>,
): { status: number; code: string | null; param: string | null; message: string } | undefined {
  try {
    chatCompletions.check(body)
  } catch (error) {
    expect(error).to.be.instanceOf(GatewayError)
    const { status, code, param, message } = error as GatewayError
    return { status, code, param, message }
  }
}

const wrongType = (param: string, expected: string, actual: string) => ({
  status: 400,
  code: 'invalid_type',
  param,
  message: `Invalid type for '${param}': expected ${expected}, but got ${actual} instead.`,
})
const wrongValue = (param: string, detail: string) => ({
  status: 400,
  code: 'invalid_value',
  param,
  message: `Invalid value for '${param}': ${detail}.`,
})
const missing = (param: string) => ({
  status: 400,
  code: 'missing_required_parameter',
  param,
  message: `Missing required parameter: '${param}'.`,
})

describe('a chat completion request', () => {
  it('without a model is refused with OpenAI’s message', () => {
    const message = 'you must provide a model parameter'
    const expected = { status: 400, code: 'missing_required_parameter', param: 'model', message }
    expect(told({ messages: [HELLO] })).to.deep.equal(expected)
    expect(told({ model: null, messages: [HELLO] })).to.deep.equal(expected)
  })

  for (const [what, body, expected] of [
    ['no messages', { model: 'a/b' }, missing('messages')],
    ['messages of null', request({ messages: null }), missing('messages')],
    ['no role', saying({ content: '' }), missing('messages[0].role')],
    ['a tool’s result of no call', saying(HELLO, { role: 'tool', content: '' }), missing('messages[1].tool_call_id')],
    ['a tool’s result without content', saying({ role: 'tool', tool_call_id: 'c' }), missing('messages[0].content')],
    ['a part of no type', parts({ text: '' }), missing('messages[0].content[0].type')],
    ['a text part without text', parts({ type: 'text' }), missing('messages[0].content[0].text')],
    [
      'an image without a URL',
      parts({ type: 'text', text: '' }, { type: 'image_url', image_url: {} }),
      missing('messages[0].content[1].image_url.url'),
    ],
    [
      'a call of a custom tool without input',
      calling({ id: 'c', type: 'custom', custom: { name: 'sql' } }),
      missing('messages[0].tool_calls[0].custom.input'),
    ],
    ['a call of no function', calling({ id: 'c', type: 'function' }), missing('messages[0].tool_calls[0].function')],
    [
      'a call of no name',
      calling({ id: 'c', type: 'function', function: { arguments: '' } }),
      missing('messages[0].tool_calls[0].function.name'),
    ],
    ['a tool of no name', request({ tools: [{ type: 'function', function: {} }] }), missing('tools[0].function.name')],
    [
      'a schema of no name',
      request({ response_format: { type: 'json_schema', json_schema: {} } }),
      missing('response_format.json_schema.name'),
    ],

    ['a model that is a number', request({ model: 7 }), wrongType('model', 'a string', 'an integer')],
    ['messages that are a text', request({ messages: 'Hi' }), wrongType('messages', 'an array', 'a string')],
    ['messages that are an object', request({ messages: {} }), wrongType('messages', 'an array', 'an object')],
    ['a message that is a text', saying('Hi'), wrongType('messages[0]', 'an object', 'a string')],
    [
      'content that is an object',
      saying({ role: 'user', content: {} }),
      wrongType('messages[0].content', 'a string or an array', 'an object'),
    ],
    ['text that is null', parts({ type: 'text', text: null }), wrongType('messages[0].content[0].text', 'a string', 'null')],
    ['a stream that is a text', request({ stream: 'true' }), wrongType('stream', 'a boolean', 'a string')],
    ['a temperature that is a text', request({ temperature: 'hot' }), wrongType('temperature', 'a number', 'a string')],
    ['a temperature that is a list', request({ temperature: [] }), wrongType('temperature', 'a number', 'an array')],
    [
      'a temperature past all numbers',
      request({ temperature: Infinity }),
      wrongType('temperature', 'a number', 'a number that is too large'),
    ],
    [
      'a limit past all numbers',
      request({ max_tokens: -Infinity }),
      wrongType('max_tokens', 'an integer', 'a number that is too large'),
    ],
    ['half a choice', request({ n: 1.5 }), wrongType('n', 'an integer', 'a number')],
    ['logprobs that are a number', request({ logprobs: 1 }), wrongType('logprobs', 'a boolean', 'an integer')],
    ['stop that is a boolean', request({ stop: true }), wrongType('stop', 'a string or an array', 'a boolean')],
    [
      'arguments that are no text',
      calling({ id: 'c', type: 'function', function: { name: 'f', arguments: {} } }),
      wrongType('messages[0].tool_calls[0].function.arguments', 'a string', 'an object'),
    ],

    [
      'empty messages',
      request({ messages: [] }),
      wrongValue('messages', 'expected an array with at least 1 element, but got an empty array'),
    ],
    [
      'a role of no name',
      saying({ role: 'boss' }),
      wrongValue('messages[0].role', "expected one of 'developer', 'system', 'user', 'assistant', 'tool', 'function'"),
    ],
    ['a temperature that is too high', request({ temperature: 2.5 }), wrongValue('temperature', 'it must be <= 2')],
    ['a temperature that is too low', request({ temperature: -1 }), wrongValue('temperature', 'it must be >= 0')],
    ['too many choices', request({ n: 129 }), wrongValue('n', 'it must be <= 128')],
    ['a negative limit', request({ max_completion_tokens: -1 }), wrongValue('max_completion_tokens', 'it must be >= 0')],
  ] as const) {
    it(`is refused for ${what}`, () => {
      expect(told(body)).to.deep.equal(expected)
    })
  }

  it('is valid with optional fields that are null', () => {
    expect(told(request({ temperature: null, stream: null, tools: null, stop: null, n: null }))).to.equal(undefined)
  })

  it('is valid with unknown fields and values', () => {
    const unknown = parts({ type: 'text', text: '' }, { type: 'video', frames: [] })
    expect(told({ ...unknown, top_k: 3, tools: [{ type: 'browser' }], response_format: { type: 'grammar' } })).to.equal(undefined)
  })

  it('is not changed', () => {
    const body = Object.freeze(request({ temperature: null, tools: Object.freeze([]) }))
    expect(told(body)).to.equal(undefined)
    expect(body).to.deep.equal(request({ temperature: null, tools: [] }))
  })

  it('is refused with the path of keys that contain slashes, tildes and dots', () => {
    const check = checkOf({ properties: { 'a/b~c': { properties: { d: { type: 'string' } } } } })
    expect(() => check({ 'a/b~c': { d: 1 } })).to.throw("Invalid type for 'a/b~c.d'")
  })

  it('is never quoted in the error', () => {
    for (const wrong of [{ temperature: 'canary' }, { messages: [{ role: 'canary' }] }, { stop: { canary: 1 } }, { n: 4711 }]) {
      expect(told(request(wrong))?.message)
        .to.be.a('string')
        .and.not.match(/canary|4711/)
    }
  })
})
