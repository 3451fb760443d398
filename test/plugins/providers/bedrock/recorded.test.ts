import { expect } from 'chai'
import { runTranslator } from 'unified-model-gateway/plugin/testing'
import { recorded } from '../../openai-compatible/recorded.ts'
import { bedrock, framesOf, hear, MODEL } from './support.ts'

async function complete(text: string) {
  const { choices, usage } = runTranslator(await bedrock(), { whole: text }, { model: `aws/${MODEL}` })
  return { ...choices[0]!.message, finish_reason: choices[0]!.finish_reason, usage }
}

describe('bedrock: recorded replies', () => {
  it('amazon-bedrock-text.json', async function () {
    const text = recorded('amazon-bedrock-text.json', this)
    const { content, finish_reason, usage } = await complete(text)
    expect(content).to.match(/^Let me count the "r"s in "strawberry":.*There are \*\*3\*\*/s)
    expect(finish_reason).to.equal('stop')
    expect(usage).to.include({ prompt_tokens: 22, completion_tokens: 57, total_tokens: 79 })
  })

  it('amazon-bedrock-text.chunks.txt', async function () {
    const text = recorded('amazon-bedrock-text.chunks.txt', this)
    const { content, finish, usage } = await hear(framesOf(text))
    expect(content).to.equal(
      'Let me count the "r"s in "strawberry":\n\ns-t-**r**-a-w-b-e-**r**-**r**-y\n\nThere are **3** r\'s in "strawberry."',
    )
    expect(finish).to.equal('stop')
    expect(usage).to.include({ prompt_tokens: 22, completion_tokens: 55, total_tokens: 77 })
  })

  it('amazon-bedrock-tool-call.1.json', async function () {
    const text = recorded('amazon-bedrock-tool-call.1.json', this)
    const { content, tool_calls, finish_reason, usage } = await complete(text)
    expect(content).to.equal(null)
    expect(tool_calls).to.deep.equal([
      { id: 'tool-use-id', type: 'function', function: { name: 'bash', arguments: '{"command":"ls -l"}' } },
    ])
    expect(finish_reason).to.equal('tool_calls')
    expect(usage).to.include({ total_tokens: 30 })
  })

  it('amazon-bedrock-tool-call.1.chunks.txt', async function () {
    const text = recorded('amazon-bedrock-tool-call.1.chunks.txt', this)
    const { tools, finish, usage } = await hear(framesOf(text))
    expect(tools).to.deep.equal([{ id: 'tool-use-id', name: 'test-tool', arguments: '{"value":"Sparkle Day"}' }])
    expect(finish).to.equal('tool_calls')
    expect(usage).to.include({ prompt_tokens: 125, completion_tokens: 45 })
  })
})
