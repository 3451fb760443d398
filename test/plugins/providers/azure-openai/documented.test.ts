import { expect } from 'chai'
import { gather, runTranslator } from 'unified-model-gateway/plugin/testing'
import { documentedChunks, documentedReply } from '../../../fixtures/documented.ts'
import { azure } from './azure.ts'
import { FIRST } from './azure-reply.ts'

describe("azure-openai: OpenAI's documented replies, as Azure frames them", () => {
  it('a whole text', async () => {
    const whole = JSON.parse(documentedReply('openai-text'))
    const { choices, usage } = runTranslator(await azure(), { whole })
    expect(choices[0]!.message).to.deep.include(whole.choices[0].message)
    expect(usage).to.deep.equal(whole.usage)
  })

  it('a streamed text', async () => {
    const events = documentedChunks('openai-text').map((data) => `data: ${data}\n\n`)
    const { chunks, done } = runTranslator(await azure(), { stream: [FIRST, ...events] })
    expect(done).to.equal(true)
    expect(gather(chunks).choices[0]!.content).to.have.length.above(10)
    expect(gather(chunks).choices[0]!.finish).to.equal('stop')
  })
})
