import { BlockCounter, repeat } from '../../support/block-counter.ts'
import { type Members, type Path, startVendors, type Vendors } from './doubled-fixture.ts'

const user = (content: unknown) => ({ role: 'user', content })

const toolOf = (i: number) => ({ name: `tool_${i}`, description: 'A tool', [SCHEMA]: SCHEMA_OF_TOOL })
const SCHEMA = 'parameters'
const SCHEMA_OF_TOOL = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const wideSchema = (n: number) => ({
  type: 'object',
  properties: Object.fromEntries(repeat(n, (i) => [`p${i}`, { type: 'string', description: 'A property' }])),
  required: repeat(n, (i) => `p${i}`),
  additionalProperties: false,
})
const schemaOfReferences = (n: number) => ({
  ...wideSchema(0),
  properties: Object.fromEntries(repeat(n, (i) => [`p${i}`, { $ref: `#/$defs/d${i}` }])),
  $defs: Object.fromEntries(repeat(n, (i) => [`d${i}`, { type: 'string' }])),
})
const PICTURE = 'data:image/png;base64,iVBORw0KGgo='
const PDF = 'data:application/pdf;base64,JVBERi0xLjQK'
const ANTHROPIC_CACHE = { cache_control: { type: 'ephemeral' } }

/** A growing request: its members, by how much of it there is. */
type Growing = (count: number) => Members

const CHAT: Readonly<Record<string, Growing>> = {
  messages: (n) => ({
    messages: repeat(n, (i) => (i % 2 === 0 ? user('Hi') : { role: 'assistant', content: 'Yes' })).concat(user('Go')),
  }),
  'messages of one side': (n) => ({ messages: repeat(n, () => user('Hi')) }),
  parts: (n) => ({ messages: [user(repeat(n, (i) => ({ type: 'text', text: `Part ${i}` })))] }),
  addresses: (n) => ({
    messages: [user(repeat(n, (i) => ({ type: 'image_url', image_url: { url: `https://example.com/${i}.png` } })))],
  }),
  pictures: (n) => ({ messages: [user(repeat(n, () => ({ type: 'image_url', image_url: { url: PICTURE } })))] }),
  files: (n) => ({ messages: [user(repeat(n, (i) => ({ type: 'file', file: { filename: `${i}.pdf`, file_data: PDF } })))] }),
  'later instructions': (n) => ({
    messages: [user('Hi'), ...repeat(n, () => [{ role: 'system', content: 'Be brief' }, user('Go')]).flat()],
  }),
  'thoughts in a history': (n) => ({
    messages: repeat(n, () => [
      user('Hi'),
      { role: 'assistant', content: 'Yes', reasoning_content: 'Hm', reasoning_details: [{ type: 'reasoning.text', text: 'Hm' }] },
    ])
      .flat()
      .concat(user('Go')),
  }),
  'thoughts of one turn': (n) => ({
    messages: [
      user('Hi'),
      {
        role: 'assistant',
        content: 'Yes',
        reasoning_details: repeat(n, (i) => ({ type: 'reasoning.text', text: 'Hm', signature: `s${i}`, index: i })),
      },
      user('Go'),
    ],
  }),
  'parts of an answer': (n) => ({
    messages: [user('Hi'), { role: 'assistant', content: repeat(n, () => ({ type: 'text', text: 'Yes' })) }, user('Go')],
  }),
  'parts of a result': (n) => ({
    messages: [
      user('Hi'),
      { role: 'assistant', content: null, tool_calls: [callOf(0)] },
      { role: 'tool', tool_call_id: 'call_0', content: repeat(n, () => ({ type: 'text', text: 'Sunny' })) },
    ],
    tools: [{ type: 'function', function: toolOf(0) }],
  }),
  'stop sequences': (n) => ({ messages: [user('Hi')], stop: repeat(n, (i) => `stop ${i}`) }),
  tools: (n) => ({ messages: [user('Hi')], tools: repeat(n, (i) => ({ type: 'function', function: toolOf(i) })) }),
  'properties of a tool': (n) => ({
    messages: [user('Hi')],
    tools: [{ type: 'function', function: { ...toolOf(0), [SCHEMA]: wideSchema(n) } }],
  }),
  'properties of an answer': (n) => ({
    messages: [user('Hi')],
    response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: wideSchema(n) } },
  }),
  'alternatives of a tool': (n) => ({
    messages: [user('Hi')],
    tools: [{ type: 'function', function: { ...toolOf(0), [SCHEMA]: { anyOf: repeat(n, () => SCHEMA_OF_TOOL) } } }],
  }),
  'definitions of a tool': (n) => ({
    messages: [user('Hi')],
    tools: [{ type: 'function', function: { ...toolOf(0), [SCHEMA]: schemaOfReferences(n) } }],
  }),
  'tool calls of one turn': (n) => ({
    messages: [
      user('Hi'),
      { role: 'assistant', content: null, tool_calls: repeat(n, callOf) },
      ...repeat(n, (i) => ({ role: 'tool', tool_call_id: `call_${i}`, content: 'Sunny' })),
    ],
    tools: [{ type: 'function', function: toolOf(0) }],
  }),
  'turns with a tool call': (n) => ({
    messages: repeat(n, (i) => [
      user('Hi'),
      { role: 'assistant', content: null, tool_calls: [callOf(i)] },
      { role: 'tool', tool_call_id: `call_${i}`, content: 'Sunny' },
    ]).flat(),
    tools: [{ type: 'function', function: toolOf(0) }],
  }),
  'cache marks': (n) => ({ messages: [user(repeat(n, () => ({ type: 'text', text: 'Hi', ...ANTHROPIC_CACHE })))] }),
  'logit biases': (n) => ({ messages: [user('Hi')], logit_bias: Object.fromEntries(repeat(n, (i) => [String(i), 1])) }),
}

const callOf = (i: number) => ({ id: `call_${i}`, type: 'function', function: { name: 'tool_0', arguments: '{"city":"Paris"}' } })

const MESSAGES: Readonly<Record<string, Growing>> = {
  messages: CHAT.messages!,
  parts: CHAT.parts!,
  'cache marks': CHAT['cache marks']!,
  addresses: (n) => ({
    messages: [user(repeat(n, (i) => ({ type: 'image', source: { type: 'url', url: `https://example.com/${i}.png` } })))],
  }),
  instructions: (n) => ({ system: repeat(n, () => ({ type: 'text', text: 'Be brief' })), messages: [user('Hi')] }),
  documents: (n) => ({
    messages: [
      user(
        repeat(n, () => ({ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQK' } })),
      ),
    ],
  }),
  'thoughts of one turn': (n) => ({
    messages: [
      user('Hi'),
      {
        role: 'assistant',
        content: repeat(n, (i) => [
          { type: 'thinking', thinking: 'Hm', signature: `s${i}` },
          { type: 'text', text: 'Yes' },
          { type: 'tool_use', id: `call_${i}`, name: 'tool_0', input: { city: 'Paris' } },
        ]).flat(),
      },
      user(repeat(n, (i) => ({ type: 'tool_result', tool_use_id: `call_${i}`, content: 'Sunny' }))),
    ],
    tools: [{ name: 'tool_0', input_schema: SCHEMA_OF_TOOL }],
  }),
  'parts of a result': (n) => ({
    messages: [
      user('Hi'),
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_0', name: 'tool_0', input: { city: 'Paris' } }] },
      user([{ type: 'tool_result', tool_use_id: 'call_0', content: repeat(n, () => ({ type: 'text', text: 'Sunny' })) }]),
    ],
    tools: [{ name: 'tool_0', input_schema: SCHEMA_OF_TOOL }],
  }),
  tools: (n) => ({ messages: [user('Hi')], tools: repeat(n, (i) => ({ name: `tool_${i}`, input_schema: SCHEMA_OF_TOOL })) }),
  'tool calls of one turn': (n) => ({
    messages: [
      user('Hi'),
      {
        role: 'assistant',
        content: repeat(n, (i) => ({ type: 'tool_use', id: `call_${i}`, name: 'tool_0', input: { city: 'Paris' } })),
      },
      user(repeat(n, (i) => ({ type: 'tool_result', tool_use_id: `call_${i}`, content: 'Sunny' }))),
    ],
    tools: [{ name: 'tool_0', input_schema: SCHEMA_OF_TOOL }],
  }),
}

const RESPONSES: Readonly<Record<string, Growing>> = {
  messages: (n) => ({ input: repeat(n, () => user('Hi')) }),
  parts: (n) => ({ input: [user(repeat(n, (i) => ({ type: 'input_text', text: `Part ${i}` })))] }),
  addresses: (n) => ({ input: [user(repeat(n, (i) => ({ type: 'input_image', image_url: `https://example.com/${i}.png` })))] }),
  tools: (n) => ({ input: 'Hi', tools: repeat(n, (i) => ({ type: 'function', ...toolOf(i), strict: false })) }),
  'tool calls': (n) => ({
    input: [
      user('Hi'),
      ...repeat(n, (i) => ({ type: 'function_call', call_id: `call_${i}`, name: 'tool_0', arguments: '{"city":"Paris"}' })),
      ...repeat(n, (i) => ({ type: 'function_call_output', call_id: `call_${i}`, output: 'Sunny' })),
    ],
    tools: [{ type: 'function', ...toolOf(0), strict: false }],
  }),
  thoughts: (n) => ({
    input: repeat(n, (i) => [
      { type: 'reasoning', id: `rs_${i}`, summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: `s${i}` },
      { role: 'assistant', content: 'Yes' },
      user('Go'),
    ]).flat(),
  }),
  'parts of a thought': (n) => ({
    input: [
      { type: 'reasoning', id: 'rs_1', summary: repeat(n, () => ({ type: 'summary_text', text: 'Hm' })), encrypted_content: 's' },
      user('Go'),
    ],
  }),
  'parts of an output': (n) => ({
    input: [
      user('Hi'),
      { type: 'function_call', call_id: 'call_0', name: 'tool_0', arguments: '{"city":"Paris"}' },
      { type: 'function_call_output', call_id: 'call_0', output: repeat(n, () => ({ type: 'input_text', text: 'Sunny' })) },
    ],
    tools: [{ type: 'function', ...toolOf(0), strict: false }],
  }),
  'shared names of tools': (n) => ({
    input: 'Hi',
    tools: repeat(n, (i) => ({
      type: 'namespace',
      name: `mcp_${i}`,
      description: 'x',
      tools: [{ type: 'function', ...toolOf(0) }],
    })),
  }),
  'custom tools': (n) => ({
    input: 'Hi',
    tools: repeat(n, (i) => ({ type: 'custom', name: `tool_${i}`, description: 'A tool' })),
  }),
  'ids of items': (n) => ({
    input: repeat(n, (i) => ({ type: 'message', id: `msg_${i}`, role: 'user', content: [{ type: 'input_text', text: 'Hi' }] })),
  }),
  'models of tools': (n) => ({ input: 'Hi', tools: repeat(n, () => ({ type: 'image_generation', model: 'm' })) }),
  'files in a tool': (n) => ({ input: 'Hi', tools: [{ type: 'file_search', vector_store_ids: repeat(n, (i) => `vs_${i}`) }] }),
  'files in parts': (n) => ({ input: [user(repeat(n, (i) => ({ type: 'input_image', file_id: `file_${i}` })))] }),
}

/** What grows in the requests of each endpoint, and the vendors to which they go: each translation once. */
const REQUESTS: Readonly<
  Record<Path, { readonly growing: Readonly<Record<string, Growing>>; readonly vendors: readonly string[] }>
> = {
  '/v1/chat/completions': {
    growing: CHAT,
    vendors: ['openai-compatible', 'openai-by-responses', 'anthropic', 'gemini', 'bedrock', 'cohere', 'ollama'],
  },
  '/v1/messages': { growing: MESSAGES, vendors: ['openai-compatible', 'anthropic'] },
  '/v1/responses': { growing: RESPONSES, vendors: ['openai', 'openai-compatible', 'anthropic'] },
}

/** What a vendor has nothing for, so that calls with it are refused. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  'openai-compatible': /^(?:models of tools|files in)/,
  'openai-by-responses': /^(?:logit biases|stop sequences)$/,
  anthropic: /^(?:logit biases$|models of tools$|files in)/,
  gemini: /^logit biases$/,
  bedrock: /^(?:addresses|logit biases)$/,
  cohere: /^(?:files|logit biases)$/,
  ollama: /^(?:addresses|files|logit biases)$/,
}

const image = (i: number): File => new File(['PNG'], `${i}.png`, { type: 'image/png' })

/** What grows in the forms of pictures to edit. */
const FORMS: Readonly<Record<string, (form: FormData, index: number) => void>> = {
  fields: (form, i) => form.append(`field_${i}`, 'text'),
  'entries of one field': (form) => form.append('tags[]', 'text'),
  files: (form, i) => form.append('image[]', image(i)),
  'other files': (form, i) => form.append(`file_${i}`, image(i)),
}

const MADE = {
  candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'Zm94' } }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
}

/** Models that edit pictures, and what they answer: one gets the form, the other one JSON. */
const EDITORS = [
  { model: 'openai-compatible/gpt-image-1', reply: { created: 1, data: [{ b64_json: 'Zm94' }] } },
  { model: 'gemini/gemini-2.5-flash-image', reply: MADE },
]

/** Twice as much of anything in a call costs at most about twice as much. */
describe('twice as much in a request', () => {
  const blocks = new BlockCounter()
  let vendors: Vendors

  before(async () => {
    vendors = await startVendors()
    await blocks.start()
  })
  after(async () => {
    blocks.stop()
    await vendors?.stop()
  })

  for (const [path, { growing, vendors: names }] of Object.entries(REQUESTS) as [Path, (typeof REQUESTS)[Path]][])
    for (const name of names)
      for (const [what, members] of Object.entries(growing)) {
        if (REFUSED[name]?.test(what)) continue
        it(`of ${what} in ${path} by ${name} costs twice as much`, () =>
          blocks.expectLinear((count) => vendors.ask(name, path, members(count))))
      }

  for (const { model, reply } of EDITORS)
    for (const [what, grow] of Object.entries(FORMS))
      it(`of ${what} in a form for ${model} costs twice as much`, () =>
        blocks.expectLinear((count) => {
          const form = new FormData()
          form.append('model', model)
          form.append('prompt', 'A fox')
          form.append('image[]', image(0))
          for (let i = 1; i <= count; i++) grow(form, i)
          return vendors.edit(form, reply)
        }))

  it('of ids in one item costs twice as much', () =>
    blocks.expectLinear((count) => {
      const ids = repeat(count, () => '"id":"msg_1"').join()
      const content = repeat(count, () => '{"type":"input_text","text":"Hi"}').join()
      const item = `{"type":"message","role":"user",${ids},"content":[${content}]}`
      return vendors.send('/v1/responses', `{"model":"openai/gpt-5","store":false,"input":[${item}]}`)
    }))
})
