import { expect } from 'chai'
import { gather } from 'unified-model-gateway/plugin/testing'
import { complete, listen, translate } from './gemini.ts'
import { call, reply } from './generate-content.ts'

const SIGNED = { google: { thought_signature: 'c2lnbmVk' } }
const WEATHER = call('get_weather', { city: 'Oslo' }, { thoughtSignature: 'c2lnbmVk' })

/** The calls of the model's turn, as they go upstream in the next request. */
async function returned(model: string, ...calls: readonly object[]) {
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: null, tool_calls: calls },
    ...calls.map((_, index) => ({ role: 'tool', tool_call_id: `call_${index}`, content: 'x' })),
  ]
  const { contents } = await translate({ model: `google/${model}`, messages })
  return contents[1]!.parts.map((part) => ('thoughtSignature' in part ? part.thoughtSignature : undefined))
}

const toolCall = (index: number, more: object = {}) => ({
  id: `call_${index}`,
  type: 'function',
  function: { name: 'look', arguments: '{}' },
  ...more,
})

describe('gemini: the signature of a thought', () => {
  it('rides on the call it led to', async () => {
    const { choices } = await complete(reply([WEATHER]).whole)
    expect(choices[0]!.message.tool_calls![0]).to.deep.include({ extra_content: SIGNED })
  })

  it('rides on the call it led to, streamed', async () => {
    const { chunks } = await listen(reply([WEATHER]).stream)
    expect(gather(chunks).choices[0]!.tools[0]).to.deep.include({ extra_content: SIGNED })
  })

  it('that comes after its call still reaches it, streamed or not', async () => {
    const late = reply([call('look'), { text: '', thoughtSignature: 'c2lnbmVk' }])
    expect((await complete(late.whole)).choices[0]!.message.tool_calls![0]).to.deep.include({ extra_content: SIGNED })
    const calls = (await listen(late.stream)).chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
    expect(calls.filter(({ extra_content }) => extra_content)).to.deep.equal([
      { index: 0, function: { arguments: '' }, extra_content: SIGNED },
    ])
  })

  it('of a text is no affair of a call after it', async () => {
    const { choices } = await complete(reply([{ text: 'Well.', thoughtSignature: 'c2lnbmVk' }, call('look')]).whole)
    expect(choices[0]!.message.tool_calls![0]).not.to.have.property('extra_content')
  })

  it('comes back with its call', async () => {
    expect(await returned('gemini-3-flash-preview', toolCall(0, { extra_content: SIGNED }))).to.deep.equal(['c2lnbmVk'])
    expect(await returned('gemini-2.5-flash', toolCall(0, { extra_content: SIGNED }))).to.deep.equal(['c2lnbmVk'])
  })

  it('stands on the first of parallel calls only, and the others need none', async () => {
    const calls = [toolCall(0, { extra_content: SIGNED }), toolCall(1)]
    expect(await returned('gemini-3-flash-preview', ...calls)).to.deep.equal(['c2lnbmVk', undefined])
  })

  it('that a client has lost does not end the conversation with a 400', async () => {
    const lost = ['skip_thought_signature_validator', undefined]
    expect(await returned('gemini-3-flash-preview', toolCall(0), toolCall(1))).to.deep.equal(lost)
    expect(await returned('gemini-9-flash', toolCall(0), toolCall(1))).to.deep.equal(lost)
    const others = { extra_content: { anthropic: { model: 'claude', thinking: [] } } }
    expect(await returned('gemini-3-flash-preview', toolCall(0, others))).to.deep.equal(lost.slice(0, 1))
  })

  it('is not made up for a model that does not ask for it', async () => {
    expect(await returned('gemini-2.5-flash', toolCall(0))).to.deep.equal([undefined])
  })
})
