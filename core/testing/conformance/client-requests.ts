import type { Asked } from '../translator/run-translator.ts'
import { CHAT_PARAMETERS, FUNCTION_PARAMETERS, OTHER_PARAMETERS } from './chat-parameters.ts'
import { IMAGE } from './requests.ts'

/** The parameters of a tool, with the parts of a JSON Schema that translations lose most easily. */
const PLACE = {
  type: 'object',
  properties: {
    town: { type: 'string', description: 'Name of the town.' },
    unit: { type: 'string', enum: ['celsius', 'kelvin'] },
    days: { type: 'array', items: { type: 'integer' } },
  },
  required: ['town'],
  additionalProperties: false,
}

const TOOLS = [
  { type: 'function', function: { name: 'get_forecast', description: 'Predicts the weather.', parameters: PLACE } },
  { type: 'function', function: { name: 'tell_time' } },
]

const call = (id: string, name: string, values: object) => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(values) },
})

const user = (content: unknown) => ({ role: 'user', content })
const text = (words: string) => ({ type: 'text', text: words })

/** A conversation, without its model, and the texts of it that an upstream must get. */
export interface Conversation {
  readonly asked: Asked
  /** In the order of the conversation. */
  readonly says: readonly string[]
  /** Anywhere: instructions, and the definitions of tools. */
  readonly states: readonly string[]
}

/** A conversation of every role, without tools. */
export const CONVERSATION: Conversation = {
  asked: {
    messages: [
      { role: 'system', content: 'Speak like a pilot.' },
      { role: 'developer', content: [text('Be brief.')] },
      user([text('Is it far?'), text('I mean Lima.')]),
      { role: 'assistant', content: 'It is a long flight.' },
      user('And back?'),
    ],
  },
  says: ['Is it far?', 'I mean Lima.', 'It is a long flight.', 'And back?'],
  states: ['Speak like a pilot.', 'Be brief.'],
}

/** The ids of the calls in TOOL_CONVERSATION. */
export const CALL_IDS = ['call_first', 'call_second'] as const

/** A conversation in which two tools were called, with their definitions. */
export const TOOL_CONVERSATION: Conversation = {
  asked: {
    messages: [
      user('What is it like up there?'),
      {
        role: 'assistant',
        content: 'I look it up.',
        tool_calls: [call(CALL_IDS[0], 'get_forecast', { town: 'Cusco', days: [1, 2] }), call(CALL_IDS[1], 'tell_time', {})],
      },
      { role: 'tool', tool_call_id: CALL_IDS[0], content: 'Rain all day.' },
      { role: 'tool', tool_call_id: CALL_IDS[1], content: [text('It is noon.')] },
      user('Thanks. Tomorrow?'),
    ],
    tools: TOOLS,
  },
  says: ['What is it like up there?', 'I look it up.', 'Cusco', 'Rain all day.', 'It is noon.', 'Thanks. Tomorrow?'],
  states: ['get_forecast', 'Predicts the weather.', 'town', 'Name of the town.', 'celsius', 'kelvin', 'days', 'tell_time'],
}

/** A JSON Schema with the keywords that upstreams take, drop or refuse. */
const RICH_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://schemas.example/trip',
  $comment: 'Only people read this.',
  type: 'object',
  title: 'Trip',
  description: 'A trip.',
  properties: {
    leaves: { type: 'string', format: 'date-time' },
    mail: { type: 'string', format: 'email' },
    code: { type: 'string', pattern: '^[A-Z]+$', minLength: 2, maxLength: 9 },
    seats: { type: 'integer', minimum: 1, maximum: 9, default: 1 },
    share: { type: 'number', exclusiveMinimum: 0, multipleOf: 0.5 },
    from: { $ref: '#/$defs/town' },
    via: { type: 'array', items: { $ref: '#/$defs/town' }, minItems: 1, maxItems: 3, uniqueItems: true },
    kind: { oneOf: [{ const: 'bus' }, { enum: ['train', 'boat'] }] },
    note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  },
  required: ['leaves', 'from'],
  $defs: { town: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
}

const MARK = { cache_control: { type: 'ephemeral' } }

/** More marks than any upstream takes, in every place that may have one. */
const MARKED: Asked = {
  messages: [
    {
      role: 'system',
      content: [
        { ...text('One.'), ...MARK },
        { ...text('Two.'), ...MARK },
      ],
    },
    user([{ ...text('Three.'), ...MARK }]),
    { role: 'assistant', content: null, tool_calls: [{ ...call('call_a', 'tell_time', {}), ...MARK }] },
    { role: 'tool', tool_call_id: 'call_a', content: [{ ...text('Four.'), ...MARK }] },
    user([{ ...text('Five.'), ...MARK }]),
  ],
  tools: [TOOLS[0], { ...TOOLS[1], ...MARK }],
}

/** What frameworks send and upstreams are strict about: ids of other upstreams, empty texts, speakers that do not take turns. */
const ODD: Asked = {
  messages: [
    user('One.'),
    user('Two.'),
    { role: 'assistant', content: '', tool_calls: [call('call.1/ü', 'tell_time', {}), call('call.1/u', 'tell_time', {})] },
    { role: 'tool', tool_call_id: 'call.1/u', content: '' },
    { role: 'tool', tool_call_id: 'call.1/ü', content: '{"noon":true}' },
    { role: 'assistant', refusal: 'I do not say that.', content: null },
    { role: 'assistant', content: [text('Three. ')] },
  ],
  tools: TOOLS,
}

const PICTURE = `data:image/png;base64,${IMAGE}`
const shown = (url: string): Asked => ({ messages: [user([text('What is this?'), { type: 'image_url', image_url: { url } }])] })
const file = (values: object): Asked => ({ messages: [user([{ type: 'file', file: values }])] })
const efforts = ['none', 'minimal', 'medium', 'high', 'xhigh'].map((effort) => [
  `the reasoning effort ${effort}`,
  { reasoning_effort: effort, max_completion_tokens: 20_000 },
])

const pdf = (filename: string) => ({ type: 'file', file: { filename, file_data: 'data:application/pdf;base64,JVBERi0=' } })
const ofType = (type: string): Asked => file({ filename: 'a.any', file_data: `data:${type};base64,SGVsbG8=` })
const sound = (format: string): Asked => ({
  messages: [user([{ type: 'input_audio', input_audio: { data: 'UklGRg==', format } }])],
})

/** What the parts of a message can be. */
const PARTS: Readonly<Record<string, Asked>> = {
  'an image': shown(PICTURE),
  'the address of an image': shown('https://images.example/a.png'),
  'a JPEG image': shown('data:image/jpeg;base64,/9j/'),
  'a GIF image': shown('data:image/gif;base64,R0lGOA=='),
  'a WebP image': shown('data:image/webp;base64,UklGRg=='),
  'documents of the same name': { messages: [user([pdf('a.pdf'), pdf('A.pdf'), pdf('a (1)_b.pdf'), pdf('')])] },
  'the address of a document': file({ file_data: 'https://files.example/a.pdf' }),
  'a document of text': ofType('text/plain'),
  'a document of Markdown': ofType('text/markdown'),
  'a document of CSV': ofType('text/csv'),
  'a document by its id': file({ file_id: 'file-1' }),
  'a WAV sound': sound('wav'),
  'an MP3 sound': sound('mp3'),
}

/** What is asked of tools. */
const TOOL_CHOICES: Readonly<Record<string, Asked>> = {
  'one tool that is to be called': { tools: TOOLS, tool_choice: { type: 'function', function: { name: 'tell_time' } } },
  'tools of which one is allowed': {
    tools: TOOLS,
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'tell_time' } }] },
    },
  },
  'tools of which any one is to be called alone': { tools: TOOLS, tool_choice: 'required', parallel_tool_calls: false },
  'tools of which none is to be called': { tools: TOOLS, tool_choice: 'none' },
  'tools that were called, of which none is to be called': { ...TOOL_CONVERSATION.asked, tool_choice: 'none' },
  'a tool with a schema of many keywords': {
    tools: [{ type: 'function', function: { name: 'book', parameters: RICH_SCHEMA, strict: true } }],
  },
  'a call whose arguments are no JSON': {
    messages: [
      user('Hello'),
      { role: 'assistant', tool_calls: [{ id: 'call_a', type: 'function', function: { name: 'tell_time', arguments: '{' } }] },
      { role: 'tool', tool_call_id: 'call_a', content: 'Noon.' },
    ],
  },
}

/** What is asked of the model. */
const SETTINGS: Readonly<Record<string, Asked>> = {
  'a reply in JSON': { response_format: { type: 'json_object' } },
  'a reply by a schema of many keywords': {
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'trip', description: 'Where to.', schema: RICH_SCHEMA, strict: true },
    },
  },
  'one stop sequence': { stop: 'END' },
  'stop sequences of which some are blank': { stop: ['\n', 'END', ''] },
  'both maximums': { max_tokens: 3000, max_completion_tokens: 2000 },
  'a temperature of 0': { temperature: 0 },
  'a temperature of 2': { temperature: 2 },
  'a temperature beside top_p': { temperature: 0.3, top_p: 0.9 },
  'members that choose another model': { models: ['other'], fallbacks: ['other'], route: 'fallback' },
  ...Object.fromEntries(efforts),
  'a reasoning effort beside few tokens': { reasoning_effort: 'high', max_tokens: 1000 },
  'a reasoning effort beside a temperature and a tool that is to be called': {
    reasoning_effort: 'low',
    max_tokens: 10_000,
    temperature: 0.5,
    tools: TOOLS,
    tool_choice: 'required',
  },
}

/** Chat completion requests, by title, without their model. */
export const CHAT_REQUESTS: Readonly<Record<string, Asked>> = {
  'a text': {},
  'a text, streamed': { stream: true },
  'a text, streamed with its usage': { stream: true, stream_options: { include_usage: true } },
  'a conversation': CONVERSATION.asked,
  'a conversation with tools': TOOL_CONVERSATION.asked,
  'a conversation with tools, streamed': { ...TOOL_CONVERSATION.asked, stream: true },
  'only instructions': { messages: [{ role: 'system', content: 'Be brief.' }] },
  'an odd conversation': ODD,
  'cache marks': MARKED,
  ...PARTS,
  ...TOOL_CHOICES,
  ...SETTINGS,
}

/** All parameters at once, for a provider that passes them on, but those that it refuses. */
export function parametersBut(refused: readonly string[]): Asked {
  const asked = Object.entries({ ...CHAT_PARAMETERS, ...FUNCTION_PARAMETERS, ...OTHER_PARAMETERS }).filter(
    ([name]) => !refused.includes(name),
  )
  return Object.assign({}, ...asked.map(([, members]) => members))
}
