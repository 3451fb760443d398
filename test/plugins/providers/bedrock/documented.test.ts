import { expect } from 'chai'
import { runTranslator } from 'unified-model-gateway/plugin/testing'
import { documentedEvents, documentedReply } from '../../../fixtures/documented.ts'
import { bedrock, event, hear, MODEL } from './support.ts'

async function complete(text: string) {
  const { choices, usage } = runTranslator(await bedrock(), { whole: text }, { model: `aws/${MODEL}` })
  return { ...choices[0]!.message, finish_reason: choices[0]!.finish_reason, usage }
}

const frames = (name: string): Buffer[] => documentedEvents(name).map((line) => event(JSON.parse(line)))

describe('bedrock: documented replies', () => {
  const TEXT = 'A spider has **8** legs:\n\n4 on the left, and 4 on the "right".'

  it('a whole text', async () => {
    const { content, finish_reason, usage } = await complete(documentedReply('bedrock-text'))
    expect({ content, finish_reason }).to.deep.equal({ content: TEXT, finish_reason: 'stop' })
    expect(usage).to.include({ prompt_tokens: 17, completion_tokens: 31, total_tokens: 48 })
  })

  it('a streamed text', async () => {
    const { content, finish, usage } = await hear(frames('bedrock-text'))
    expect({ content, finish }).to.deep.equal({ content: TEXT, finish: 'stop' })
    expect(usage).to.include({ prompt_tokens: 17, completion_tokens: 31, total_tokens: 48 })
  })

  it('a whole tool call', async () => {
    const { content, tool_calls, finish_reason, usage } = await complete(documentedReply('bedrock-tool-call'))
    expect(content).to.equal(null)
    expect(tool_calls).to.deep.equal([
      { id: 'tooluse_doc1', type: 'function', function: { name: 'list', arguments: '{"folder":"docs"}' } },
    ])
    expect(finish_reason).to.equal('tool_calls')
    expect(usage).to.include({ total_tokens: 36 })
  })

  it('a streamed tool call', async () => {
    const { tools, finish, usage } = await hear(frames('bedrock-tool-call'))
    expect(tools).to.deep.equal([{ id: 'tooluse_doc2', name: 'list', arguments: '{"folder":"test files"}' }])
    expect(finish).to.equal('tool_calls')
    expect(usage).to.include({ prompt_tokens: 88, completion_tokens: 33 })
  })
})
