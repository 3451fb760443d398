import type { Asked } from 'unified-model-gateway/plugin/testing'
import { RARE_SCHEMA } from './rare-schema.ts'

/*
 * Requests that few clients send, which providers that translate must send in their upstream's terms or refuse: for their files of requests.
 */

const PNG = 'iVBORw0KGgo='
const PICTURE = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }
const SOUND = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }
const PDF = { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } }

const text = (words: string, more: object = {}) => ({ type: 'text', text: words, ...more })
const user = (content: unknown) => ({ role: 'user', content })
const asks = (...parts: readonly unknown[]): Asked => ({ messages: [user(parts)] })
const shows = (url: string): Asked => asks({ type: 'image_url', image_url: { url } })
const hands = (file_data: string, filename?: string): Asked => asks({ type: 'file', file: { file_data, filename } })

const tool = (name: string, more: object = {}) => ({ type: 'function', function: { name, ...more } })
const TOOLS = [tool('look'), tool('listen'), tool('taste')]
const choice = (mode: string, ...names: readonly string[]): Asked => ({
  tools: TOOLS,
  tool_choice: { type: 'allowed_tools', allowed_tools: { mode, tools: names.map((name) => tool(name)) } },
})
const named = (name: string) => ({ type: 'function', function: { name } })

const call = (id: string, values = '{}', more: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: values },
  ...more,
})
const calls = (...tool_calls: readonly object[]) => ({ role: 'assistant', content: null, tool_calls })
const result = (tool_call_id: string, content: unknown) => ({ role: 'tool', tool_call_id, content })
const answered = (content: unknown): Asked => ({ messages: [user('Hello'), calls(call('call_a')), result('call_a', content)] })

/** Parts of messages that some upstreams do not take, and places where they are not expected. */
const PARTS: Readonly<Record<string, Asked>> = {
  'a refusal as a part': {
    messages: [user('Hello'), { role: 'assistant', content: [{ type: 'refusal', refusal: 'I do not say that.' }] }, user('Why?')],
  },
  'a part of an unknown type': asks({ type: 'video_url', video_url: { url: 'https://videos.example/a.mp4' } }),
  'parts of which some are blank': asks(text(''), text(' '), text('Hello')),
  'an image of the type image/jpg': shows('data:image/jpg;base64,/9j/'),
  'an image of the type TIFF': shows('data:image/tiff;base64,SUkqAA=='),
  'an image that is neither data nor an address': shows('a.png'),
  'the address of an image in capitals': shows('HTTPS://images.example/A.PNG'),
  'a document of the type ZIP': hands('data:application/zip;base64,UEsDBA==', 'a.zip'),
  'a document that is neither data nor an address': hands('a.pdf'),
  'a document without a name': hands('data:application/pdf;base64,JVBERi0='),
  'a sound of the type FLAC': asks({ type: 'input_audio', input_audio: { data: 'ZkxhQw==', format: 'flac' } }),
  'an image in the instructions': { messages: [{ role: 'system', content: [PICTURE] }, user('Hello')] },
  'an image as the result of a tool': answered([text('Look:'), PICTURE]),
  'a document as the result of a tool': answered([PDF]),
  'a sound as the result of a tool': answered([SOUND]),
}

/** The order of messages, and the ids in them. */
const CONVERSATIONS: Readonly<Record<string, Asked>> = {
  'nothing but blank messages': { messages: [{ role: 'system', content: ' ' }, user('')] },
  'no content': { messages: [{ role: 'user', content: null }, user('Hello')] },
  'instructions in several parts, and between messages': {
    messages: [
      { role: 'system', content: [text('One.'), text('Two.')] },
      user('Hello'),
      { role: 'system', content: 'Three.' },
      { role: 'assistant', content: 'Four.' },
      user([text('Five.'), text('Six.')]),
    ],
  },
  'only instructions, in parts': { messages: [{ role: 'system', content: [text('One.'), text('Two.')] }] },
  'a conversation that the assistant begins': { messages: [{ role: 'assistant', content: 'Welcome.' }, user('Hello')] },
  'a conversation that the assistant ends with a blank': { messages: [user('Hello'), { role: 'assistant', content: ' \n' }] },
  'a conversation that the user ends with a blank': { messages: [user('Hello'), user('Write: \n')] },
  'calls of the same id': {
    messages: [
      user('Hello'),
      calls(call('call_a')),
      result('call_a', 'One.'),
      calls(call('call_a')),
      result('call_a', 'Two.'),
      calls(call('call_a')),
      result('call_a', 'Three.'),
    ],
  },
  'a call without an id': { messages: [user('Hello'), calls(call('')), result('', 'One.')] },
  'a call without arguments': { messages: [user('Hello'), calls(call('call_a', '')), result('call_a', 'One.')] },
  'calls that are answered in another order': {
    messages: [
      user('Hello'),
      calls(call('call_a', '{"at":1}'), call('call_b', '{"at":2}')),
      result('call_b', 'Two.'),
      result('call_a', 'One.'),
    ],
    tools: TOOLS,
  },
  'a call that is not answered': { messages: [user('Hello'), calls(call('call_a')), user('Well?')] },
  'an answer without a call': { messages: [user('Hello'), result('call_a', 'One.')] },
  'an assistant that says, refuses and calls': {
    messages: [
      user('Hello'),
      { role: 'assistant', content: 'One.', refusal: 'Two.', tool_calls: [call('call_a')] },
      result('call_a', 'Three.'),
    ],
  },
}

/** Tools, and which of them are to be called. */
const CHOICES: Readonly<Record<string, Asked>> = {
  'a tool of another type': { tools: [{ type: 'custom', custom: { name: 'look' } }] },
  'a tool whose parameters have no type': { tools: [tool('look', { description: ' ', parameters: { properties: {} } })] },
  'tools of which one of two is to be called': choice('required', 'look', 'taste'),
  'tools of which one of one is to be called': choice('required', 'listen'),
  'tools of which two are allowed': choice('auto', 'look', 'taste'),
  'tools of which none is allowed': choice('auto'),
  'tools of which any is to be called': { tools: TOOLS, tool_choice: 'required' },
  'a tool that is to be called alone': { tools: TOOLS, tool_choice: named('look'), parallel_tool_calls: false },
  'tools that may be called alone': { tools: TOOLS, parallel_tool_calls: false },
  'tools that may be called together': { tools: TOOLS, tool_choice: 'auto', parallel_tool_calls: true },
  'a tool that does not exist and is to be called': { tools: TOOLS, tool_choice: named('smell') },
  'no tools of which one is to be called': { tools: [], tool_choice: 'required' },
  'strict tools of which none is to be called': { tools: [tool('look', { strict: true })], tool_choice: 'none' },
  'a strict tool that is to be called, beside one that is not strict': {
    tools: [tool('look', { strict: true }), tool('listen', { strict: false })],
    tool_choice: 'required',
  },
  'a format beside a tool': { tools: TOOLS, response_format: { type: 'json_object' } },
  'a format beside a tool that is to be called': {
    tools: TOOLS,
    tool_choice: 'required',
    response_format: { type: 'json_object' },
  },
  'a tool with a schema that refers to itself': {
    tools: [
      tool('look', {
        parameters: {
          type: 'object',
          properties: { at: { $ref: '#/definitions/place' }, next: { $ref: '#' }, other: { $ref: 'https://schemas.example/a' } },
          definitions: { place: { anyOf: [{ $ref: '#/definitions/place' }, { type: 'string' }] } },
        },
        strict: true,
      }),
      tool('listen'),
    ],
    tool_choice: 'required',
  },
}

const MAP = { type: 'object', properties: { m: { type: 'object', additionalProperties: { type: 'number' } } } }

const schema = (name: string, json_schema: object): Asked => ({
  response_format: { type: 'json_schema', json_schema: { name, ...json_schema } },
})

/** Settings at their limits, and where they meet. */
const SETTINGS: Readonly<Record<string, Asked>> = {
  'a schema of other keywords': schema('place', { schema: RARE_SCHEMA }),
  'a schema with a map': schema('map', { schema: MAP }),
  'a schema with a description of its own': schema('word', {
    description: 'One.',
    schema: { type: 'string', description: 'Two.' },
  }),
  'no schema': schema('place', {}),
  'a format of text': { response_format: { type: 'text' } },
  'a JSON object as the answer to instructions': {
    messages: [{ role: 'system', content: 'Be brief.' }, user('Hello')],
    response_format: { type: 'json_object' },
  },
  'a temperature of 1': { temperature: 1 },
  'a top_p of 1': { top_p: 1 },
  'a temperature of 1 beside top_p': { temperature: 1, top_p: 0.5 },
  'penalties of 0': { frequency_penalty: 0, presence_penalty: 0 },
  'a number of choices that no model gives': { n: 100 },
  'a seed of many bits': { seed: -4_294_967_299 },
  'one choice, without log probabilities': { n: 1, logprobs: false, top_logprobs: 0 },
  'log probabilities of the chosen tokens': { logprobs: true, top_logprobs: 0 },
  'the reasoning effort max': { reasoning_effort: 'max', max_tokens: 10_000 },
  'the reasoning effort low, without a limit': { reasoning_effort: 'low' },
  'an unknown reasoning effort': { reasoning_effort: 'huge' },
  'a reasoning effort beside 1024 tokens': { reasoning_effort: 'low', max_tokens: 1024 },
  'a reasoning effort beside 1025 tokens': { reasoning_effort: 'low', max_tokens: 1025 },
  'a reasoning effort after a call without reasoning': {
    ...answered('Noon.'),
    tools: TOOLS,
    reasoning_effort: 'low',
    max_tokens: 10_000,
  },
  'settings of null': {
    temperature: null,
    top_p: null,
    stop: null,
    seed: null,
    max_tokens: null,
    tool_choice: null,
    tools: null,
    response_format: null,
    reasoning_effort: null,
  },
}

const mark = (more: object = {}) => ({ cache_control: { type: 'ephemeral', ...more } })

/** Marks of prefixes to cache. */
const MARKS: Readonly<Record<string, Asked>> = {
  'cache marks of each lifetime': asks(
    text('One.', mark({ ttl: '1h' })),
    text('Two.', mark({ ttl: '5m' })),
    text('Three.', mark({ ttl: '2d' })),
    text('Four.', { cache_control: null, prompt_cache_breakpoint: { mode: 'explicit' } }),
    text(' ', mark()),
  ),
  'more cache marks than upstreams take, beside one of the request': {
    ...asks(...['One.', 'Two.', 'Three.', 'Four.', 'Five.'].map((words) => text(words, mark()))),
    ...mark(),
  },
  'cache marks of tools beside those of messages': {
    ...asks(...['One.', 'Two.', 'Three.', 'Four.'].map((words) => text(words, mark()))),
    tools: [{ ...tool('look'), ...mark() }, tool('listen'), { ...tool('taste'), ...mark() }],
  },
  'a cache mark of the request, for an hour': mark({ ttl: '1h' }),
  'a cache mark of the request, after a marked text': { ...asks(text('One.', mark())), ...mark() },
  'cache marks of instructions': {
    messages: [
      { role: 'system', content: [text('One.', mark()), text('Two.')] },
      { role: 'developer', content: 'Three.' },
      user('Hello'),
    ],
  },
  'a cache mark of a call': { messages: [user('Hello'), calls(call('call_a', '{}', mark())), result('call_a', 'Noon.')] },
}

/** All of them, by title. */
export const RARE_REQUESTS: Readonly<Record<string, Asked>> = {
  ...PARTS,
  ...CONVERSATIONS,
  ...CHOICES,
  ...SETTINGS,
  ...MARKS,
}
