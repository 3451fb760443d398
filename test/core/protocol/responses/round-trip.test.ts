import { expect } from 'chai'
import fc from 'fast-check'
import type { RepliedCall } from '../../../../core/protocol/client-protocol.ts'
import { toResponse } from '../../../../core/protocol/responses/reply.ts'
import { MEMBERS, toChat } from '../../../../core/protocol/responses/request.ts'
import { heardIn, linesOf } from '../heard.ts'
import { callOf, completionOf, keptOf, OWNER, type Said, text, turnOf, url, withoutState } from '../turns.ts'

const TOOLS = [
  { type: 'function', name: 'look' },
  { type: 'custom', name: 'shell' },
  { type: 'namespace', name: 'crm', description: 'Customers.', tools: [{ type: 'function', name: 'find' }] },
]

const CALL: RepliedCall = {
  model: 'open/m',
  owner: OWNER,
  promptEstimate: 1,
  large: false,
  member: (name) => ({ tools: TOOLS })[name],
  mayInclude: () => false,
  keeper: { namespace: 'n', account: 'a', secret: 's' },
}

const message = turnOf(
  callOf(['look', 'shell', 'crm__find'], (name, says) => (name === 'shell' ? { input: says } : { query: says })),
  'call',
)

/** The message that an upstream gets back: the state of its own. */
function expected(said: Said): object[] {
  const { content, refusal, calls } = said
  if (content === null && refusal === null && calls.length === 0) return []
  const plain = refusal === null ? content : undefined
  const parts = [
    ...(content === null ? [] : [{ type: 'text' as const, text: content }]),
    ...(refusal === null ? [] : [{ type: 'refusal' as const, refusal }]),
  ]
  return [
    {
      role: 'assistant',
      content: plain === undefined ? parts : plain,
      ...(calls.length > 0 && { tool_calls: withoutState(calls) }),
      ...keptOf(said),
    },
  ]
}

describe('A turn of a model, as items of the Responses API', () => {
  it('comes back to its upstream as it was', () => {
    fc.assert(
      fc.property(message, (said) => {
        const { output } = toResponse(completionOf(said), CALL)
        const { body, dropped } = toChat({ model: 'open/m', input: [{ role: 'user', content: 'Hi' }, ...output], tools: TOOLS })
        expect(body.messages.slice(1)).to.deep.equal(expected(said))
        expect(dropped).to.deep.equal([])
      }),
      { numRuns: 500 },
    )
  })
})

const inMessage = (part: object) => ({ type: 'message', role: 'user', content: [part] })

/** An item that a client adds, and what its upstream must get of it. */
const item = fc.oneof(
  text.map((says) => ({ own: { role: 'user', content: says }, kept: says })),
  text.map((says) => ({ own: inMessage({ type: 'input_text', text: says }), kept: says })),
  text.map((says) => ({ own: { type: 'function_call_output', call_id: 'call_1', output: says }, kept: says })),
  text.map((says) => ({
    own: { type: 'custom_tool_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: says }] },
    kept: says,
  })),
  url.map((address) => ({ own: inMessage({ type: 'input_image', image_url: address, detail: 'auto' }), kept: address })),
  url.map((address) => ({ own: inMessage({ type: 'input_file', file_url: address }), kept: address })),
)

describe('What a client adds, as items of the Responses API', () => {
  it('reaches its upstream whole: texts, outputs of tools, pictures and files', () => {
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 6 }), (items) => {
        const { body, dropped, foreign } = toChat({ model: 'open/m', input: items.map(({ own }) => own) })
        expect(heardIn(body.messages)).to.deep.equal(linesOf(items.map(({ kept }) => kept)))
        expect([dropped, foreign]).to.deep.equal([[], undefined])
      }),
      { numRuns: 500 },
    )
  })
})

/** A value of each member, that asks for something. */
const VALUES: Readonly<Record<keyof typeof MEMBERS, unknown>> = {
  model: 'open/m',
  input: 'Hi',
  instructions: 'Be brief.',
  max_output_tokens: 9,
  stream: true,
  stream_options: { include_obfuscation: false },
  temperature: 0.5,
  top_p: 0.5,
  top_logprobs: 2,
  include: ['message.output_text.logprobs'],
  tools: TOOLS,
  tool_choice: 'required',
  parallel_tool_calls: false,
  reasoning: { effort: 'low' },
  text: { verbosity: 'low' },
  metadata: { a: 'b' },
  user: 'ada',
  service_tier: 'flex',
  safety_identifier: 'ada',
  prompt_cache_key: 'k',
  prompt_cache_retention: '24h',
  prompt_cache_options: { ttl: '30m' },
  access_programs: { cyber: 'standard' },
  context_management: [{ type: 'compaction' }],
  image: { context_compression: 'auto' },
  max_tool_calls: 3,
  store: true,
  truncation: 'auto',
  background: true,
  conversation: 'conv_1',
  moderation: { model: 'omni-moderation-latest' },
  previous_response_id: 'resp_1',
  prompt: { id: 'pmpt_1' },
}

describe('A member of a request of the Responses API', () => {
  const least = { model: 'open/m', input: 'Hi', tools: [TOOLS[0]] }

  for (const [name, { support }] of Object.entries(MEMBERS)) {
    it(`is not lost in silence: ${name}, ${support}`, () => {
      const without: Record<string, unknown> = { ...least }
      delete without[name]
      const { body, dropped, foreign } = toChat({ ...least, [name]: VALUES[name] })
      expect(dropped).to.deep.equal(support === 'dropped' ? [name] : [])
      expect(foreign?.param).to.equal(support === 'refused' ? name : undefined)
      const kept = support === 'mapped' && !['stream_options', 'metadata', 'model', 'input'].includes(name)
      if (kept) expect(body).to.not.deep.equal(toChat({ ...without, input: 'Hi', model: 'open/m' }).body)
    })
  }

  it('that is not known is left out, and named', () => {
    expect(toChat({ ...least, verbosity_level: 3 }).dropped).to.deep.equal(['verbosity_level'])
  })
})
