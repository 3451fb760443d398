import { expect } from 'chai'
import fc from 'fast-check'
import { GatewayError } from 'unified-model-gateway/plugin'
import type { MessagesRequest } from '../../../../plugins/providers/anthropic/wire.ts'
import { fakeTry } from '../../../support/fake-call.ts'
import { anthropic, blocksOf, isToolResult, isToolUse, translate } from './support.ts'

const words = fc.oneof(fc.constantFrom('', ' ', '\n\t', 'Hello'), fc.string({ maxLength: 8 }))
const image = fc.constantFrom('https://a/b.png', 'data:image/png;base64,QQ==')
const part = fc.oneof(
  { weight: 8, arbitrary: fc.record({ type: fc.constant('text'), text: words }) },
  { weight: 4, arbitrary: image.map((url) => ({ type: 'image_url', image_url: { url } })) },
  { weight: 1, arbitrary: fc.constant({ type: 'image_url', image_url: { url: 'nowhere' } }) },
  { weight: 1, arbitrary: fc.constant({ type: 'input_audio', input_audio: { data: 'QQ==', format: 'wav' } }) },
)
const content = fc.oneof({ weight: 3, arbitrary: words }, { weight: 1, arbitrary: fc.array(part, { maxLength: 3 }) })
const id = fc.oneof(fc.constantFrom('call_0', 'a:b', 'a.b', 'a_b', ''), fc.string({ maxLength: 6 }))
const thinking = fc.array(
  fc.constantFrom({ type: 'thinking', thinking: 'Hm.', signature: 's' }, { type: 'redacted_thinking', data: 'd' }),
  {
    maxLength: 2,
  },
)
const freight = fc.option(fc.record({ anthropic: fc.record({ model: fc.constantFrom('claude-opus-5', 'other'), thinking }) }), {
  nil: undefined,
})

const plainTurn = fc
  .record({ role: fc.constantFrom('user', 'system', 'developer', 'assistant'), content: fc.oneof(content, fc.constant(null)) })
  .map((message) => [message])

/** An assistant message with tool calls, and the result of each, in any order. */
const toolStep = fc
  .record({
    content: fc.oneof(words, fc.constant(null)),
    calls: fc.array(fc.tuple(id, words, freight), { minLength: 1, maxLength: 4 }),
    shuffle: fc.nat(),
  })
  .map(({ content, calls, shuffle }) => {
    const tool_calls = calls.map(([id, text, extra_content]) => ({
      id,
      type: 'function',
      function: { name: 'look', arguments: text },
      ...(extra_content && { extra_content }),
    }))
    const results = calls.map(([id], index) => ({ role: 'tool', tool_call_id: id, content: index % 2 ? '' : 'Blue' }))
    const turned = [...results.slice(shuffle % results.length), ...results.slice(0, shuffle % results.length)]
    return [{ role: 'assistant', content, tool_calls }, ...turned]
  })

const tool = fc.record({ type: fc.constant('function'), function: fc.record({ name: fc.constantFrom('look', 'listen') }) })

const request = fc.record(
  {
    model: fc
      .constantFrom('claude-haiku-4-5', 'claude-opus-5', 'claude-opus-5-5', 'claude-sonnet-4-6', 'claude-3-5-haiku', 'other')
      .map((name) => `c/${name}`),
    messages: fc.array(fc.oneof(plainTurn, toolStep), { minLength: 1, maxLength: 6 }).map((turns) => turns.flat()),
    max_tokens: fc.oneof(fc.integer({ min: 1, max: 50_000 }), fc.constant(null)),
    temperature: fc.oneof(fc.double({ min: 0, max: 2, noNaN: true }), fc.constant(null)),
    top_p: fc.double({ min: 0, max: 1, noNaN: true }),
    stop: fc.oneof(words, fc.array(words, { maxLength: 4 })),
    tools: fc.array(tool, { maxLength: 2 }),
    tool_choice: fc.oneof(fc.constantFrom('none', 'auto', 'required', null), tool),
    parallel_tool_calls: fc.boolean(),
    reasoning_effort: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom('none', 'minimal', 'high', 'max', null) },
      { weight: 1, arbitrary: fc.constant('heroic') },
    ),
    response_format: fc.oneof(
      {
        weight: 8,
        arbitrary: fc.constantFrom({ type: 'text' }, { type: 'json_schema', json_schema: { name: 'x', schema: {} } }),
      },
      { weight: 1, arbitrary: fc.constant({ type: 'json_object' }) },
    ),
    stream: fc.boolean(),
  },
  { requiredKeys: ['model', 'messages'] },
)

describe('anthropic: any valid request', () => {
  it('becomes one that Anthropic can take, or is refused in words', async () => {
    await fc.assert(
      fc.asyncProperty(request, async (body) => {
        const sent = await translate(body).catch((error: unknown) => {
          expect(error).to.be.instanceOf(GatewayError)
          expect(error).to.have.property('status', 400)
          return undefined
        })
        if (sent) expectTakeable(sent)
      }),
      { numRuns: 500 },
    )
  })
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
  for (const sequence of sent.stop_sequences ?? []) expect(sequence.trim()).not.to.equal('')
  if (sent.temperature !== undefined) expect(sent.temperature).to.be.within(0, 1)
  if (sent.temperature !== undefined) expect(sent.top_p, 'temperature or top_p').to.equal(undefined)
  if (sent.thinking?.type === 'enabled') expect(sent.thinking.budget_tokens).to.be.within(1024, sent.max_tokens - 1)
}

/** What a hostile or broken upstream may send: the names of the protocol with anything in their places. */
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

describe('anthropic: any stream', () => {
  it('gives a client strings where it expects strings, or an error', async () => {
    const provider = await anthropic()
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        const translator = provider.translator!(...fakeTry())
        try {
          for (const one of events) {
            for (const { choices, usage } of translator.event({ type: '', data: JSON.stringify(one) })) {
              for (const { delta } of choices) expectReadable(delta ?? {})
              if (usage) expect(usage.total_tokens).to.equal(usage.prompt_tokens + usage.completion_tokens)
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
