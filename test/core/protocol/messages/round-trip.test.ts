import { expect } from 'chai'
import fc from 'fast-check'
import type { RepliedCall } from '../../../../core/protocol/client-protocol.ts'
import { toMessage } from '../../../../core/protocol/messages/reply.ts'
import { MEMBERS, toChat } from '../../../../core/protocol/messages/request.ts'
import { heardIn, linesOf } from '../heard.ts'
import { callOf, completionOf, keptOf, OWNER, type Said, text, turnOf, url, withoutState } from '../turns.ts'

const CALL: RepliedCall = {
  model: 'open/m',
  owner: OWNER,
  promptEstimate: 1,
  large: false,
  member: () => undefined,
  mayInclude: () => false,
  keeper: { namespace: 'n', account: 'a', secret: 's' },
}

const message = turnOf(
  callOf(['look'], (_, says) => ({ query: says })),
  'toolu',
)

/** The message that an upstream gets back: a refusal as words, and the state of its own. */
function expected(said: Said): object {
  const { content, refusal, calls } = said
  const words = [content, refusal].filter((one) => one !== null).join('')
  return {
    role: 'assistant',
    content: words === '' && calls.length > 0 ? null : words,
    ...(calls.length > 0 && { tool_calls: withoutState(calls) }),
    ...keptOf(said),
  }
}

/** A body with these turns. */
const asked = (...turns: readonly object[]) => ({ model: 'open/m', max_tokens: 9, messages: turns })

describe('A turn of a model, as blocks of the Messages API', () => {
  it('comes back to its upstream as it was', () => {
    fc.assert(
      fc.property(message, (said) => {
        const { content } = toMessage(completionOf(said), CALL)
        const { body, dropped } = toChat(asked({ role: 'user', content: 'Hi' }, { role: 'assistant', content }))
        expect(body.messages.slice(1)).to.deep.equal([expected(said)])
        expect(dropped).to.deep.equal([])
      }),
      { numRuns: 500 },
    )
  })

  it('comes back with what its provider has written at its calls, if that has a name of its own', () => {
    fc.assert(
      fc.property(message, (said) => {
        const { content } = toMessage(completionOf(said), { ...CALL, owner: undefined })
        const { body } = toChat(asked({ role: 'user', content: 'Hi' }, { role: 'assistant', content }))
        const { extra_content: _, ...plain } = expected(said) as Readonly<Record<string, unknown>>
        expect(body.messages.slice(1)).to.deep.equal([{ ...plain, ...(said.calls.length > 0 && { tool_calls: said.calls }) }])
      }),
      { numRuns: 500 },
    )
  })
})

/** A block of a user's turn, and what its upstream must get of it. */
const block = fc.oneof(
  text.map((says) => ({ own: { type: 'text', text: says }, kept: says })),
  text.map((says) => ({
    own: { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: says }] },
    kept: says,
  })),
  fc.base64String({ minLength: 4, maxLength: 12 }).map((data) => ({
    own: { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
    kept: `data:image/png;base64,${data}`,
  })),
  url.map((address) => ({ own: { type: 'document', source: { type: 'url', url: address } }, kept: address })),
)

describe('A turn of a user, as blocks of the Messages API', () => {
  it('reaches its upstream whole: texts, results of tools, pictures and documents', () => {
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 6 }), (blocks) => {
        const { body, dropped, foreign } = toChat(asked({ role: 'user', content: blocks.map(({ own }) => own) }))
        expect(heardIn(body.messages)).to.deep.equal(linesOf(blocks.map(({ kept }) => kept)))
        expect([dropped, foreign]).to.deep.equal([[], undefined])
      }),
      { numRuns: 500 },
    )
  })
})

/** A value of each member, that asks for something. */
const VALUES: Readonly<Record<keyof typeof MEMBERS, unknown>> = {
  model: 'open/other',
  messages: [{ role: 'user', content: 'Hello' }],
  system: 'Be brief.',
  max_tokens: 10,
  stream: true,
  temperature: 0.5,
  top_p: 0.5,
  top_k: 5,
  stop_sequences: ['.'],
  tools: [{ name: 'look', input_schema: { type: 'object' } }],
  tool_choice: { type: 'any' },
  thinking: { type: 'adaptive' },
  output_config: { effort: 'low' },
  metadata: { user_id: 'ada' },
  service_tier: 'standard_only',
  cache_control: { type: 'ephemeral' },
  context_management: { edits: [] },
  diagnostics: { previous_message_id: 'msg_1' },
  fallbacks: [{ model: 'claude-haiku-4-5' }],
  speed: 'fast',
  user_profile_id: 'ada',
  workspace_id: 'w',
  container: 'container_1',
  inference_geo: 'eu',
  mcp_servers: [{ type: 'url', url: 'https://mcp.example', name: 'm' }],
  thread: { id: 'thread_1' },
}

describe('A member of a request of the Messages API', () => {
  const least = { ...asked({ role: 'user', content: 'Hi' }), tools: [{ name: 'see', input_schema: { type: 'object' } }] }

  for (const [name, { support }] of Object.entries(MEMBERS)) {
    it(`is not lost in silence: ${name}, ${support}`, () => {
      const { body, dropped, foreign } = toChat({ ...least, [name]: VALUES[name] })
      expect(dropped).to.deep.equal(support === 'dropped' ? [name] : [])
      expect(foreign?.param).to.equal(support === 'refused' ? name : undefined)
      if (support === 'mapped') expect(body).to.not.deep.equal(toChat(least).body)
    })
  }

  it('that is not known is left out, and named', () => {
    expect(toChat({ ...least, verbosity_level: 3 }).dropped).to.deep.equal(['verbosity_level'])
  })
})
