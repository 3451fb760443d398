import { expect } from 'chai'
import { gather, runTranslator } from 'unified-model-gateway/plugin/testing'
import { recorded, recordedEvents } from '../../openai-compatible/recorded.ts'
import { azure } from './azure.ts'
import { FIRST } from './azure-reply.ts'

describe("azure-openai: OpenAI's recorded replies, as Azure frames them", () => {
  it('openai-text.json reads well', async function () {
    const whole = JSON.parse(recorded('openai-text.json', this))
    const { choices, usage } = runTranslator(await azure(), { whole })
    expect(choices[0]!.message).to.deep.include(whole.choices[0].message)
    expect(usage).to.deep.equal(whole.usage)
  })

  it('openai-text.chunks.txt reads well', async function () {
    const events = recordedEvents('openai-text.chunks.txt', this).map((data) => `data: ${data}\n\n`)
    const { chunks, done } = runTranslator(await azure(), { stream: [FIRST, ...events] })
    expect(done).to.equal(true)
    expect(gather(chunks).choices[0]!.content).to.have.length.above(10)
    expect(gather(chunks).choices[0]!.finish).to.equal('stop')
  })
})
