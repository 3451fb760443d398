import { expect } from 'chai'
import { gather } from 'unified-model-gateway/plugin/testing'
import { complete, configOf, listen, refusalOf, translate, upstream } from './gemini.ts'
import { call, reply } from './generate-content.ts'

const thinking = async (model: string, reasoning_effort: string | null, config = {}) =>
  (await configOf({ model: `google/${model}`, reasoning_effort }, config)).thinkingConfig

const level = (thinkingLevel: string) => ({ thinkingLevel, includeThoughts: true })
const budget = (thinkingBudget: number) => ({ thinkingBudget, includeThoughts: true })

describe('gemini: reasoning_effort', () => {
  for (const [model, effort, expected] of [
    ['gemini-3-flash-preview', 'minimal', level('MINIMAL')],
    ['gemini-3-flash-preview', 'low', level('LOW')],
    ['gemini-3-flash-preview', 'medium', level('MEDIUM')],
    ['gemini-3-flash-preview', 'high', level('HIGH')],
    ['gemini-3-flash-preview', 'xhigh', level('HIGH')],
    ['gemini-3-flash-preview', 'max', level('HIGH')],
    ['gemini-3.8-flash', 'medium', level('MEDIUM')],
    ['gemini-2.5-flash', 'minimal', budget(1024)],
    ['gemini-2.5-flash', 'low', budget(1024)],
    ['gemini-2.5-flash', 'medium', budget(8192)],
    ['gemini-2.5-flash', 'high', budget(24_576)],
    ['gemini-2.5-flash', 'max', budget(24_576)],
    ['gemini-2.5-pro', 'max', budget(32_768)],
  ] as const) {
    it(`${effort} is ${Object.values(expected)[0]} for ${model}, with its thoughts`, async () => {
      expect(await thinking(model, effort)).to.deep.equal(expected)
    })
  }

  it('is the next lower level of a model without the requested one', async () => {
    expect(await thinking('gemini-3-pro-preview', 'medium')).to.deep.equal(level('LOW'))
  })

  it('minimal is the lowest level of the model', async () => {
    for (const model of ['gemini-3.1-pro-preview', 'gemini-3.7-flash', 'gemini-flash-latest', 'gemini-9-flash']) {
      expect(await thinking(model, 'minimal'), model).to.deep.equal(level('LOW'))
    }
  })

  it('none is the least thinking of the model, without its thoughts', async () => {
    expect(await thinking('gemini-2.5-flash', 'none')).to.deep.equal({ thinkingBudget: 0 })
    expect(await thinking('gemini-2.5-pro', 'none')).to.deep.equal({ thinkingBudget: 128 })
    expect(await thinking('gemini-3-flash-preview', 'none')).to.deep.equal({ thinkingLevel: 'MINIMAL' })
    expect(await thinking('gemini-3.8-flash', 'none')).to.deep.equal({ thinkingLevel: 'LOW' })
  })

  it('is dropped for a model without thinking, unless it is none', async () => {
    const ask = (reasoning_effort: string) => upstream({ model: 'google/gemini-2.0-flash', reasoning_effort })
    expect((await ask('high')).dropped).to.deep.equal(['reasoning_effort'])
    expect((await ask('none')).dropped).to.deep.equal([])
    expect(await thinking('gemini-2.0-flash', 'high')).to.equal(undefined)
    expect(await thinking('gemini-3-pro-image', 'high')).to.equal(undefined)
  })

  it('is not sent by default', async () => {
    expect(await thinking('gemini-3-flash-preview', null)).to.equal(undefined)
  })

  it('is refused if unknown', async () => {
    expect(await refusalOf({ reasoning_effort: 'heroic' })).to.include({
      status: 400,
      row: 'invalid_value',
      param: 'reasoning_effort',
    })
  })
})

const SIGNED = { google: { thought_signature: 'c2lnbmVk' } }
const WEATHER = call('get_weather', { city: 'Oslo' }, { thoughtSignature: 'c2lnbmVk' })

/** The calls of the model's turn in the next upstream request. */
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
  it('is in the extra_content of its call', async () => {
    const { choices } = await complete(reply([WEATHER]).whole)
    expect(choices[0]!.message.tool_calls![0]).to.deep.include({ extra_content: SIGNED })
  })

  it('is in the extra_content of its call, streamed', async () => {
    const { chunks } = await listen(reply([WEATHER]).stream)
    expect(gather(chunks).choices[0]!.tools[0]).to.deep.include({ extra_content: SIGNED })
  })

  it('after its call is added to it, whole and streamed', async () => {
    const late = reply([call('look'), { text: '', thoughtSignature: 'c2lnbmVk' }])
    expect((await complete(late.whole)).choices[0]!.message.tool_calls![0]).to.deep.include({ extra_content: SIGNED })
    const calls = (await listen(late.stream)).chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
    expect(calls.filter(({ extra_content }) => extra_content)).to.deep.equal([
      { index: 0, function: { arguments: '' }, extra_content: SIGNED },
    ])
  })

  it('of a text is not added to a later call', async () => {
    const { choices } = await complete(reply([{ text: 'Well.', thoughtSignature: 'c2lnbmVk' }, call('look')]).whole)
    expect(choices[0]!.message.tool_calls![0]).not.to.have.property('extra_content')
  })

  it('is sent back with its call', async () => {
    expect(await returned('gemini-3-flash-preview', toolCall(0, { extra_content: SIGNED }))).to.deep.equal(['c2lnbmVk'])
    expect(await returned('gemini-2.5-flash', toolCall(0, { extra_content: SIGNED }))).to.deep.equal(['c2lnbmVk'])
  })

  it('is on the first of parallel calls only', async () => {
    const calls = [toolCall(0, { extra_content: SIGNED }), toolCall(1)]
    expect(await returned('gemini-3-flash-preview', ...calls)).to.deep.equal(['c2lnbmVk', undefined])
  })

  it("that a client lost is replaced by Google's placeholder", async () => {
    const lost = ['skip_thought_signature_validator', undefined]
    expect(await returned('gemini-3-flash-preview', toolCall(0), toolCall(1))).to.deep.equal(lost)
    expect(await returned('gemini-9-flash', toolCall(0), toolCall(1))).to.deep.equal(lost)
    const others = { extra_content: { anthropic: { model: 'claude', thinking: [] } } }
    expect(await returned('gemini-3-flash-preview', toolCall(0, others))).to.deep.equal(lost.slice(0, 1))
  })

  it('is not added for a model that does not require it', async () => {
    expect(await returned('gemini-2.5-flash', toolCall(0))).to.deep.equal([undefined])
  })
})
