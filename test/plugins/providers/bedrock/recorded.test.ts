import { existsSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { runTranslator } from 'unified-model-gateway/plugin/testing'
import { bedrock, framesOf, hear, MODEL } from './support.ts'

// True replies, kept beside the project and not part of it.
const RECORDED = new URL('../../../../../shared/fixtures/recorded/', import.meta.url)

function recorded(file: string, check: (text: string) => Promise<void>): void {
  const url = new URL(file, RECORDED)
  if (existsSync(url)) it(`${file} reads well`, () => check(readFileSync(url, 'utf8')))
  else it.skip(`${file} reads well (skipped: the recordings are not beside this checkout)`)
}

async function complete(text: string) {
  const { choices, usage } = runTranslator(await bedrock(), { whole: text }, { model: `aws/${MODEL}` })
  return { ...choices[0]!.message, finish_reason: choices[0]!.finish_reason, usage }
}

describe('bedrock: recorded replies', () => {
  recorded('amazon-bedrock-text.json', async (text) => {
    const { content, finish_reason, usage } = await complete(text)
    expect(content).to.match(/^Let me count the "r"s in "strawberry":.*There are \*\*3\*\*/s)
    expect(finish_reason).to.equal('stop')
    expect(usage).to.include({ prompt_tokens: 22, completion_tokens: 57, total_tokens: 79 })
  })

  recorded('amazon-bedrock-text.chunks.txt', async (text) => {
    const { content, finish, usage } = await hear(framesOf(text))
    expect(content).to.equal(
      'Let me count the "r"s in "strawberry":\n\ns-t-**r**-a-w-b-e-**r**-**r**-y\n\nThere are **3** r\'s in "strawberry."',
    )
    expect(finish).to.equal('stop')
    expect(usage).to.include({ prompt_tokens: 22, completion_tokens: 55, total_tokens: 77 })
  })

  recorded('amazon-bedrock-tool-call.1.json', async (text) => {
    const { content, tool_calls, finish_reason, usage } = await complete(text)
    expect(content).to.equal(null)
    expect(tool_calls).to.deep.equal([
      { id: 'tool-use-id', type: 'function', function: { name: 'bash', arguments: '{"command":"ls -l"}' } },
    ])
    expect(finish_reason).to.equal('tool_calls')
    expect(usage).to.include({ total_tokens: 30 })
  })

  recorded('amazon-bedrock-tool-call.1.chunks.txt', async (text) => {
    const { tools, finish, usage } = await hear(framesOf(text))
    expect(tools).to.deep.equal([{ id: 'tool-use-id', name: 'test-tool', arguments: '{"value":"Sparkle Day"}' }])
    expect(finish).to.equal('tool_calls')
    expect(usage).to.include({ prompt_tokens: 125, completion_tokens: 45 })
  })
})
