import { expect } from 'chai'
import fc from 'fast-check'
import type { MessagesRequest } from '../../../../plugins/providers/anthropic/wire.ts'
import { anyRequest, expectTakenOrRefused } from '../../../support/any-request.ts'
import { fakeCallAndAttempt } from '../../../support/fake-call.ts'
import { anthropic, blocksOf, isToolResult, isToolUse, translate } from './support.ts'

const image = (url: string) => ({ type: 'image_url', image_url: { url } })
const sealed = fc.constantFrom({ type: 'thinking', thinking: 'Hm.', signature: 's' }, { type: 'redacted_thinking', data: 'd' })

const request = anyRequest({
  models: ['claude-haiku-4-5', 'claude-opus-5', 'claude-opus-5-5', 'claude-sonnet-4-6', 'claude-3-5-haiku', 'other'],
  parts: [
    image('https://a/b.png'),
    image('data:image/png;base64,QQ=='),
    image('nowhere'),
    { type: 'input_audio', input_audio: { data: 'QQ==', format: 'wav' } },
    { type: 'text', text: 'Long.', prompt_cache_breakpoint: { mode: 'explicit' } },
    { type: 'text', text: ' ', prompt_cache_breakpoint: { mode: 'explicit' } },
  ],
  extraContent: fc.record({
    anthropic: fc.record({
      model: fc.constantFrom('claude-opus-5', 'other'),
      thinking: fc.array(sealed, { maxLength: 2 }),
    }),
  }),
})

describe('anthropic: random valid requests', () => {
  it('are translated to valid requests, or refused with a reason', () => expectTakenOrRefused(request, translate, expectTakeable))
})

function expectTakeable(sent: MessagesRequest): void {
  expect(sent.messages).not.to.equal([])
  expect(sent.max_tokens).to.be.greaterThan(0)
  for (const [index, { role, content }] of sent.messages.entries()) {
    expect(role, 'roles alternate').not.to.equal(sent.messages[index - 1]?.role)
    expect(content, 'no empty message').not.to.deep.equal([])
    const results = content.filter(isToolResult)
    expect(content.slice(0, results.length), 'results come first').to.deep.equal(results)
    const uses = (sent.messages[index - 1]?.content ?? []).filter(isToolUse)
    const called = role === 'user' ? uses.map(({ id }) => id) : []
    expect(
      results.map(({ tool_use_id }) => tool_use_id),
      'each call has its result',
    ).to.have.members(called)
  }
  const ids = blocksOf(sent)
    .filter(isToolUse)
    .map(({ id }) => id)
  expect(new Set(ids).size, 'ids are unique').to.equal(ids.length)
  for (const id of ids) expect(id).to.match(/^[a-zA-Z0-9_-]+$/)
  for (const block of blocksOf(sent)) if (block.type === 'text') expect(block.text.trim(), 'no blank text').not.to.equal('')
  expect(JSON.stringify(sent).split('"cache_control"').length - 1, 'no more than four marks').to.be.at.most(4)
  for (const sequence of sent.stop_sequences ?? []) expect(sequence.trim()).not.to.equal('')
  if (sent.temperature !== undefined) expect(sent.temperature).to.be.within(0, 1)
  if (sent.temperature !== undefined) expect(sent.top_p, 'temperature or top_p').to.equal(undefined)
  if (sent.thinking?.type === 'enabled') expect(sent.thinking.budget_tokens).to.be.within(1024, sent.max_tokens - 1)
}

/** What a hostile or broken upstream may send: the protocol's members with any values. */
const anything = fc.oneof(fc.constantFrom('text', 'tool_use', 'thinking', 'x', null), fc.integer(), fc.jsonValue())
const event = fc.record(
  {
    type: fc.constantFrom(
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
      'error',
    ),
    index: fc.oneof(fc.nat(2), anything),
    message: fc.oneof(fc.record({ id: anything, model: anything, usage: anything }), anything),
    content_block: fc.oneof(
      fc.record({
        type: fc.constantFrom('text', 'tool_use', 'thinking', 'redacted_thinking'),
        text: anything,
        id: anything,
        name: anything,
        input: anything,
        data: anything,
      }),
      anything,
    ),
    delta: fc.oneof(
      fc.record({
        type: fc.constantFrom('text_delta', 'input_json_delta', 'thinking_delta', 'signature_delta'),
        text: anything,
        partial_json: anything,
        thinking: anything,
        signature: anything,
        stop_reason: anything,
      }),
      anything,
    ),
    usage: anything,
    error: anything,
  },
  { requiredKeys: ['type'] },
)

describe('anthropic: random streams', () => {
  it('are readable or fail', async () => {
    const provider = await anthropic()
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        const translator = provider.translator!(...fakeCallAndAttempt())!
        try {
          for (const one of events) {
            for (const { choices, usage } of translator.event({ type: '', data: JSON.stringify(one) })) {
              for (const { delta } of choices) expectReadable(delta ?? {})
              const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage ?? {}
              if (total !== undefined) expect(total).to.equal(prompt! + completion!)
            }
          }
        } catch (error) {
          expect(error).to.be.instanceOf(Error)
          expect(error).not.to.have.property('name', 'AssertionError')
        }
      }),
      { numRuns: 500 },
    )
  })

  it('have the same text in any spelling of its event', async () => {
    const provider = await anthropic()
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('"', '\\', '\n', '"}}', '\u2028'))
    fc.assert(
      fc.property(fc.array(text), fc.nat(30), fc.constantFrom('', '  '), (texts, index, space) => {
        const translator = provider.translator!(...fakeCallAndAttempt())!
        const content = texts.flatMap((text) => {
          const written = JSON.stringify({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } })
          const chunks = translator.event({ type: 'content_block_delta', data: `${written.slice(0, -1)}${space}}` })
          return [...chunks].map(({ choices }) => choices[0]!.delta!.content)
        })
        expect(content).to.deep.equal(texts.filter((text) => text !== ''))
      }),
    )
  })
})

function expectReadable(delta: Readonly<Record<string, unknown>>): void {
  for (const name of ['content', 'reasoning_content']) {
    if (name in delta) expect(delta[name]).to.be.a('string').that.is.not.equal('')
  }
  for (const call of (delta.tool_calls ?? []) as Record<string, Record<string, unknown>>[]) {
    expect(call.function?.arguments).to.be.a('string')
    expect(call.id ?? '').to.be.a('string')
    expect(call.function?.name ?? '').to.be.a('string')
  }
}
