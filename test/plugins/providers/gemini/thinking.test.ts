import { expect } from 'chai'
import { configOf, refusalOf, upstream } from './gemini.ts'

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
    it(`${effort} is ${Object.values(expected)[0]} of ${model}, and its thoughts are told`, async () => {
      expect(await thinking(model, effort)).to.deep.equal(expected)
    })
  }

  it('asks for no more than it says: the next level below, of a model that does not know it', async () => {
    expect(await thinking('gemini-3-pro-preview', 'medium')).to.deep.equal(level('LOW'))
  })

  it('minimal is the least a model knows', async () => {
    for (const model of ['gemini-3.1-pro-preview', 'gemini-3.7-flash', 'gemini-flash-latest', 'gemini-9-flash']) {
      expect(await thinking(model, 'minimal'), model).to.deep.equal(level('LOW'))
    }
  })

  it('none is as little thinking as the model can do, and none of it told', async () => {
    expect(await thinking('gemini-2.5-flash', 'none')).to.deep.equal({ thinkingBudget: 0 })
    expect(await thinking('gemini-2.5-pro', 'none')).to.deep.equal({ thinkingBudget: 128 })
    expect(await thinking('gemini-3-flash-preview', 'none')).to.deep.equal({ thinkingLevel: 'MINIMAL' })
    expect(await thinking('gemini-3.8-flash', 'none')).to.deep.equal({ thinkingLevel: 'LOW' })
  })

  it('is said to be dropped by a model that does not think, where it asks for thinking', async () => {
    const ask = (reasoning_effort: string) => upstream({ model: 'google/gemini-2.0-flash', reasoning_effort })
    expect((await ask('high')).dropped).to.deep.equal(['reasoning_effort'])
    expect((await ask('none')).dropped).to.deep.equal([])
    expect(await thinking('gemini-2.0-flash', 'high')).to.equal(undefined)
    expect(await thinking('gemini-3-pro-image', 'high')).to.equal(undefined)
  })

  it('unsaid leaves it to the model', async () => {
    expect(await thinking('gemini-3-flash-preview', null)).to.equal(undefined)
  })

  it('of a word that nobody knows is refused', async () => {
    expect(await refusalOf({ reasoning_effort: 'heroic' })).to.include({
      status: 400,
      row: 'invalid_value',
      param: 'reasoning_effort',
    })
  })
})
