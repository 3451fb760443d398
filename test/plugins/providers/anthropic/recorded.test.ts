import { expect } from 'chai'
import { fakeCallAndAttempt } from '../../../support/fake-call.ts'
import { recorded } from '../../openai-compatible/recorded.ts'
import { anthropic, hear, play } from './support.ts'

async function listen(lines: string) {
  return hear(
    await play(
      lines
        .split('\n')
        .filter(Boolean)
        .map((data) => ({ type: String(JSON.parse(data).type), data })),
    ),
  )
}

async function complete(text: string) {
  const { choices, usage } = (await anthropic()).translator!(...fakeCallAndAttempt()).completion(JSON.parse(text))
  return { ...choices[0]!.message, finish_reason: choices[0]!.finish_reason, usage }
}

describe('anthropic: recorded replies', () => {
  it('anthropic-text.json reads well', async function () {
    const text = recorded('anthropic-text.json', this)
    const { content, finish_reason, usage } = await complete(text)
    expect(content).to.match(/^Hello! I'm doing well, thanks for asking\./)
    expect(finish_reason).to.equal('stop')
    expect(usage).to.include({ prompt_tokens: 12, completion_tokens: 29, total_tokens: 41 })
  })

  it('anthropic-text.chunks.txt reads well', async function () {
    const text = recorded('anthropic-text.chunks.txt', this)
    const { id, content, finishes, usage } = await listen(text)
    expect(id).to.equal('msg_01QC4g3HwBThD4BaNtBckFDJ')
    expect(content).to.equal(
      "Hello! I'm doing well, thank you for asking. How are you doing today? Is there anything I can help you with?",
    )
    expect(finishes).to.deep.equal(['stop'])
    expect(usage).to.include({ prompt_tokens: 12, completion_tokens: 30, total_tokens: 42 })
  })

  it('anthropic-json-tool.2.chunks.txt reads well', async function () {
    const text = recorded('anthropic-json-tool.2.chunks.txt', this)
    const { content, calls, finishes } = await listen(text)
    expect(content).to.equal("I'll invoke the JSON response tool.")
    expect(calls.map(({ index, id, name }) => ({ index, id, name }))).to.deep.equal([
      { index: 0, id: 'toolu_01KFbKqPYSuAKujiL6mTfzYA', name: 'json' },
    ])
    expect(JSON.parse(calls[0]!.arguments)).to.have.nested.property('elements[0].location', 'San Francisco')
    expect(finishes).to.deep.equal(['tool_calls'])
  })

  it('anthropic-mcp.1.json reads well', async function () {
    const text = recorded('anthropic-mcp.1.json', this)
    const reply = await complete(text)
    expect(reply.content).to.match(/^The echo tool responded back with/)
    expect(reply).not.to.have.property('tool_calls')
  })

  it('anthropic-mcp.1.chunks.txt reads well', async function () {
    const text = recorded('anthropic-mcp.1.chunks.txt', this)
    const { content, calls, usage } = await listen(text)
    expect(content).to.equal(
      'The echo tool responded back with: **hello world**\n\nIt simply echoed back the exact message that was sent to it.',
    )
    expect(calls).to.deep.equal([])
    expect(usage).to.include({ prompt_tokens: 1250, completion_tokens: 83 })
  })

  it('anthropic-fallback.json reads well', async function () {
    const text = recorded('anthropic-fallback.json', this)
    const { content, usage } = await complete(text)
    expect(content).to.match(/^The printing press/)
    expect(usage).to.include({ prompt_tokens: 412, completion_tokens: 264 })
  })

  it('anthropic-fallback.chunks.txt reads well', async function () {
    const text = recorded('anthropic-fallback.chunks.txt', this)
    const { content, usage } = await listen(text)
    expect(content).to.equal('The printing press was invented by Johannes Gutenberg around 1440.')
    expect(usage).to.include({ prompt_tokens: 412, completion_tokens: 264 })
  })
})
