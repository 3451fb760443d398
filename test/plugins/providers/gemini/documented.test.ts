import { expect } from 'chai'
import { gather } from 'unified-model-gateway/plugin/testing'
import { toRefusal } from '../../../../plugins/providers/gemini/refusal.ts'
import { documentedEvents, documentedReply } from '../../../fixtures/documented.ts'
import { complete, listen } from './gemini.ts'

const events = (name: string): string[] => documentedEvents(name).map((data) => `data: ${data}\r\n\r\n`)
const signatureOf = (what: string): string => Buffer.from(`made-up thought signature of ${what}`).toString('base64')

describe('gemini: documented replies', () => {
  for (const [name, content, completion_tokens] of [
    ['gemini-text', 'A spider has **8** legs.\n\nThat is *four pairs*.', 185],
    ['gemini-reasoning', 'A spider has **8** legs and an octopus 8 arms.\n\nTogether: *16*.', 270],
  ] as const) {
    const tokens = { prompt_tokens: 9, completion_tokens, total_tokens: 9 + completion_tokens }

    it(`${name}, whole`, async () => {
      const { id, choices, usage } = await complete(JSON.parse(documentedReply(name)))
      expect(choices[0]).to.nested.include({ 'message.content': content, finish_reason: 'stop' })
      expect(usage).to.include(tokens)
      expect(id).to.match(/^Doc\w+$/)
    })

    it(`${name}, streamed`, async () => {
      const { chunks, done, usage } = await listen(events(name))
      const { choices } = gather(chunks)
      expect(done).to.equal(true)
      expect(choices).to.have.lengthOf(1)
      expect(choices[0]).to.include({ content, finish: 'stop' })
      expect(usage).to.include(tokens)
      expect(usage!.completion_tokens_details!.reasoning_tokens).to.equal(completion_tokens - 22)
    })
  }

  it('a whole tool call', async () => {
    const { choices, usage } = await complete(JSON.parse(documentedReply('gemini-tool-call')))
    const [call] = choices[0]!.message.tool_calls!
    expect(call!.function).to.deep.equal({ name: 'weather', arguments: '{"location":"Lisbon"}' })
    expect(call!.extra_content).to.have.nested.property('google.thought_signature', signatureOf('gemini-tool-call, whole'))
    expect(choices[0]!).to.nested.include({ 'message.content': null, finish_reason: 'tool_calls' })
    expect(usage).to.include({ prompt_tokens: 27, completion_tokens: 416, total_tokens: 443 })
  })

  it('a streamed tool call', async () => {
    const { chunks } = await listen(events('gemini-tool-call'))
    const { tools, content, finish } = gather(chunks).choices[0]!
    expect(tools).to.have.lengthOf(1)
    expect(tools[0]).to.include({
      id: 'call_DocTool0000000000000002_0_0',
      name: 'weather',
      arguments: '{"location":"Lisbon"}',
    })
    expect(tools[0]!.extra_content).to.have.nested.property('google.thought_signature', signatureOf('gemini-tool-call, streamed'))
    expect({ content, finish }).to.deep.equal({ content: '', finish: 'tool_calls' })
  })

  it('a refusal with the time to wait', () => {
    expect(toRefusal({ status: 429, body: documentedReply('gemini-429') })).to.deep.equal({
      status: 429,
      message: 'The quota of this project is used up.',
      retryAfter: 27.5,
    })
  })
})
