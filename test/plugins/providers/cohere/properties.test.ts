import { expect } from 'chai'
import fc from 'fast-check'
import { GatewayError } from 'unified-model-gateway/plugin'
import type { ChatBody, Message } from '../../../../plugins/providers/cohere/wire.ts'
import { anyRequest, anyWords } from '../../../support/any-request.ts'
import { expectTaken, taken } from './sdk-input.ts'
import { translate } from './support.ts'

const image = (url: string, detail?: string) => ({ type: 'image_url', image_url: { url, detail } })
const anyPenalty = fc.oneof(fc.double({ min: -2, max: 2, noNaN: true }), fc.constant(null))

const anyCall = anyRequest({
  models: ['command-a-plus-05-2026', 'command-a-03-2025', 'command-r-plus-08-2024', 'a-model-yet-to-come'],
  parts: [
    image('data:image/png;base64,QUJD'),
    image('https://a.example/b.png', 'high'),
    image('https://a.example/b.png', 'original'),
    { type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } },
  ],
  thinkingState: fc.record({ cohere: fc.record({ tool_plan: anyWords, thinking: anyWords }, { requiredKeys: [] }) }),
  fields: {
    frequency_penalty: anyPenalty,
    presence_penalty: anyPenalty,
    seed: fc.oneof(fc.maxSafeInteger(), fc.constant(null)),
  },
})

describe('cohere: random valid requests', () => {
  it('are translated to valid requests of the SDK’s types, or refused with a reason', async () => {
    await fc.assert(
      fc.asyncProperty(anyCall, async (body) => {
        const sent = await sentFor(body)
        if (sent === undefined) return
        expectTaken(sent)
        expectMessages(sent.messages)
        expectBounds(sent)
      }),
      { numRuns: 1000 },
    )
  })

  it('with an unknown member would fail this test', () => {
    const sent = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] } satisfies ChatBody
    expect(taken(sent)).to.equal(sent)
    expectTaken(sent)
    expect(() => expectTaken({ ...sent, top_p: 0.5 } as ChatBody)).to.throw('top_p')
    const named = [{ ...sent.messages[0], name: 'x' }]
    expect(() => expectTaken({ ...sent, messages: named } as ChatBody)).to.throw('name')
  })
})

async function sentFor(body: Readonly<Record<string, unknown>>): Promise<ChatBody | undefined> {
  return translate({ ...body, model: String(body.model).replace('any/', '') }).catch((error: unknown) => {
    expect(error).to.be.instanceOf(GatewayError)
    expect(error).to.have.property('status', 400)
    return undefined
  })
}

function expectMessages(messages: readonly Message[]): void {
  expect(messages, 'there are some').not.to.deep.equal([])
  expect(
    messages.slice(1).some(({ role }) => role === 'system'),
    'instructions come first, as one',
  ).to.equal(false)
  const waiting = new Set<string>()
  const called = new Set<string>()
  for (const message of messages) {
    if (message.role === 'tool') {
      expect(waiting.delete(message.tool_call_id), 'a result has its call').to.equal(true)
      expect(message.content).not.to.equal('')
      continue
    }
    expect([...waiting], 'every call has its result').to.deep.equal([])
    if (message.role !== 'assistant' || message.tool_calls === undefined) {
      for (const words of wordsOf(message.content)) expect(words.trim(), 'no blank words').not.to.equal('')
      continue
    }
    for (const { id, function: look } of message.tool_calls) {
      expect(called.has(id), 'no two calls have one id').to.equal(false)
      expect(JSON.parse(look.arguments), 'arguments are an object').to.be.an('object')
      called.add(id)
      waiting.add(id)
    }
  }
  expect([...waiting], 'every call has its result').to.deep.equal([])
}

function wordsOf(content: Message['content']): string[] {
  if (typeof content === 'string') return [content]
  expect(content, 'no empty message').not.to.be.oneOf([undefined, []])
  return content!.flatMap((part) => ('text' in part ? [part.text] : []))
}

function expectBounds(sent: ChatBody): void {
  const { temperature = 0, p = 0.5, seed = 0, frequency_penalty, presence_penalty, thinking, stop_sequences = [] } = sent
  expect(temperature).to.be.within(0, 1)
  expect(p).to.be.within(0.01, 0.99)
  expect(seed).to.be.within(0, Number.MAX_SAFE_INTEGER)
  for (const penalty of [frequency_penalty, presence_penalty]) if (penalty !== undefined) expect(penalty).to.be.within(0, 1)
  expect([frequency_penalty, presence_penalty], 'one penalty at most').to.include(undefined)
  if (thinking?.token_budget !== undefined) expect(thinking.token_budget).to.be.at.least(1)
  expect(stop_sequences).not.to.include('')
  expect(sent.tools, 'a list of tools has some').not.to.deep.equal([])
  if (sent.tool_choice) expect(sent).to.have.property('tools')
  if (sent.response_format) expect(sent).not.to.have.property('tools')
}
