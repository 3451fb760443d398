import { expect } from 'chai'
import fc from 'fast-check'
import { GatewayError } from 'unified-model-gateway/plugin'
import type { Block, ConverseRequest } from '../../../../plugins/providers/bedrock/wire.ts'
import { anyCall } from './any-request.ts'
import { taken, writtenBySdk } from './sdk-input.ts'
import { blocksOf, translate } from './support.ts'

describe('bedrock: random valid requests', () => {
  it('are translated to valid requests, or refused with a reason', async () => {
    await fc.assert(
      fc.asyncProperty(anyCall, async (body) => {
        const sent = await sentFor(body)
        if (sent) expectTakeable(sent, modelOf(body))
      }),
      { numRuns: 1000 },
    )
  })

  it('have only members that the AWS SDK writes', async () => {
    await fc.assert(
      fc.asyncProperty(anyCall, async (body) => {
        const sent = await sentFor(body)
        if (sent) expect(await writtenBySdk(sent, body.stream === true)).to.deep.equal(taken(sent))
      }),
      { numRuns: 300 },
    )
  })

  it('with an unknown member would fail this test', async () => {
    const stray = { messages: [], inferenceConfig: { topK: 5 } } as ConverseRequest
    expect(await writtenBySdk(stray)).not.to.deep.equal(stray)
  })
})

const modelOf = ({ model }: Readonly<Record<string, unknown>>): string => String(model).replace('any/', '')

async function sentFor(body: Readonly<Record<string, unknown>>): Promise<ConverseRequest | undefined> {
  return translate({ ...body, model: modelOf(body) }).catch((error: unknown) => {
    expect(error).to.be.instanceOf(GatewayError)
    expect(error).to.have.property('status', 400)
    return undefined
  })
}

const idOf = (block: Block) => ('toolUse' in block ? [block.toolUse.toolUseId] : [])
const answeredBy = (block: Block) => ('toolResult' in block ? [block.toolResult.toolUseId] : [])

function expectTakeable(sent: ConverseRequest, model: string): void {
  expect(sent.messages[0]?.role, 'a user begins').to.equal('user')
  for (const [index, { role, content }] of sent.messages.entries()) {
    expect(role, 'roles alternate').not.to.equal(sent.messages[index - 1]?.role)
    expect(content, 'no empty message').not.to.deep.equal([])
    expect(content[0], 'nothing stands before a cache point').not.to.have.property('cachePoint')
    const called = role === 'user' ? (sent.messages[index - 1]?.content ?? []).flatMap(idOf) : []
    expect(content.flatMap(answeredBy), 'each call has its result').to.have.members(called)
    const first = content.findIndex((block) => !('toolResult' in block || 'cachePoint' in block))
    if (first >= 0) expect(content.slice(first).flatMap(answeredBy), 'results come first').to.deep.equal([])
  }
  const blocks = [...(sent.system ?? []), ...blocksOf(sent)]
  expectIds(blocks.flatMap(idOf), model)
  expect(blocks.filter((block) => 'cachePoint' in block).length, 'at most four cache points').to.be.at.most(4)
  for (const block of blocks) if ('text' in block) expect(block.text.trim(), 'no blank text').not.to.equal('')
  const names = blocks.flatMap((block) => ('document' in block ? [block.document.name.toLowerCase()] : []))
  expect(new Set(names).size, 'no two files have one name').to.equal(names.length)
  for (const name of names) expect(name).to.match(/^(?!.*\s\s)[a-z\d\s()[\]-]{1,200}$/)
  expectTools(sent)
  expectInference(sent)
}

function expectIds(ids: readonly string[], model: string): void {
  expect(new Set(ids).size, 'ids are unique').to.equal(ids.length)
  const fits = model.startsWith('mistral.') ? /^[a-zA-Z0-9]{9}$/ : /^[a-zA-Z0-9_-]{1,64}$/
  for (const id of ids) expect(id).to.match(fits)
}

function expectTools(sent: ConverseRequest): void {
  const declared = sent.toolConfig?.tools.flatMap((tool) => ('toolSpec' in tool ? tool.toolSpec.name : []))
  if (sent.toolConfig) expect(declared, 'a tool configuration has tools').not.to.deep.equal([])
  if (blocksOf(sent).flatMap(idOf).length > 0)
    expect(sent.toolConfig, 'a history with tools has them declared').to.be.an('object')
  const own = sent.additionalModelRequestFields?.tool_choice
  if (own !== undefined) expect(sent.toolConfig, 'one choice, not two').to.be.an('object').that.has.not.property('toolChoice')
}

function expectInference({ inferenceConfig = {}, additionalModelRequestFields = {}, messages }: ConverseRequest): void {
  const { maxTokens, temperature, stopSequences = [] } = inferenceConfig
  if (temperature !== undefined) expect(temperature).to.be.within(0, 1)
  for (const sequence of stopSequences) expect(sequence.trim()).not.to.equal('')
  const { thinking } = additionalModelRequestFields as { thinking?: { type: string; budget_tokens?: number } }
  if (thinking?.type === 'enabled') expect(thinking.budget_tokens).to.be.within(1024, maxTokens! - 1)
  const reasons = messages.some(({ content }) => content.some((block) => 'reasoningContent' in block))
  if (reasons) expect(thinking?.type, 'reasoning goes back to a model that reasons').to.equal('adaptive')
}
