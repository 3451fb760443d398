import { expect } from 'chai'
import { documentedEvents, documentedReply } from '../../../fixtures/documented.ts'
import { fakeCallAndAttempt } from '../../../support/fake-call.ts'
import { anthropic, event, hear, play } from './support.ts'

const listen = async (name: string) => hear(await play(documentedEvents(name).map((data) => event(JSON.parse(data)))))

async function complete(name: string) {
  const { choices, usage } = (await anthropic()).translator!(...fakeCallAndAttempt())!.completion(
    JSON.parse(documentedReply(name)),
  )
  return { ...choices[0]!.message, finish_reason: choices[0]!.finish_reason, usage }
}

describe('anthropic: documented replies', () => {
  const GREETING = 'Good morning! The harbour is quiet today. What would you like to know about it?'
  const TIDE = 'The tide table says: **low tide at 14:05**.\n\nAfter that the water rises again.'
  const LIGHTHOUSE = 'The first lighthouse stood at Alexandria.'

  it('a whole text', async () => {
    const { content, finish_reason, usage } = await complete('anthropic-text')
    expect({ content, finish_reason }).to.deep.equal({ content: GREETING, finish_reason: 'stop' })
    expect(usage).to.include({ prompt_tokens: 11, completion_tokens: 21, total_tokens: 32 })
  })

  it('a streamed text', async () => {
    const { id, content, finishes, usage } = await listen('anthropic-text')
    expect(id).to.equal('msg_01DocText0000000000000002')
    expect(content).to.equal(GREETING)
    expect(finishes).to.deep.equal(['stop'])
    expect(usage).to.include({ prompt_tokens: 11, completion_tokens: 21, total_tokens: 32 })
  })

  it('a streamed text before a tool call', async () => {
    const { content, calls, finishes } = await listen('anthropic-json-tool')
    expect(content).to.equal("Here's the forecast as JSON.")
    expect(calls.map(({ index, id, name }) => ({ index, id, name }))).to.deep.equal([
      { index: 0, id: 'toolu_01DocJson000000000000001', name: 'json' },
    ])
    expect(JSON.parse(calls[0]!.arguments)).to.have.nested.property('elements[0].location', 'Lisbon')
    expect(finishes).to.deep.equal(['tool_calls'])
  })

  it('a whole text after the call of an MCP server', async () => {
    const reply = await complete('anthropic-mcp')
    expect(reply.content).to.equal(TIDE)
    expect(reply).not.to.have.property('tool_calls')
  })

  it('a streamed text after the call of an MCP server', async () => {
    const { content, calls, usage } = await listen('anthropic-mcp')
    expect(content).to.equal(TIDE)
    expect(calls).to.deep.equal([])
    expect(usage).to.include({ prompt_tokens: 1102, completion_tokens: 74 })
  })

  it('a whole text of a fallback model', async () => {
    const { content, usage } = await complete('anthropic-fallback')
    expect(content).to.equal(LIGHTHOUSE)
    expect(usage).to.include({ prompt_tokens: 305, completion_tokens: 118 })
  })

  it('a streamed text of a fallback model', async () => {
    const { content, usage } = await listen('anthropic-fallback')
    expect(content).to.equal(LIGHTHOUSE)
    expect(usage).to.include({ prompt_tokens: 305, completion_tokens: 118 })
  })
})
