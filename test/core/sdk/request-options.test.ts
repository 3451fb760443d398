import { expect } from 'chai'
import { GatewayError, readToolChoice, type ToolChoice } from 'unified-model-gateway/plugin'

const tool = (name: string) => ({ type: 'function', function: { name } }) as const
const allowed = (mode: 'auto' | 'required', ...names: string[]): ToolChoice => ({
  type: 'allowed_tools',
  allowed_tools: { mode, tools: names.map(tool) },
})

describe('which tools a client lets the model use', () => {
  for (const [said, choice, asked] of [
    ['nothing', undefined, { mode: 'auto' }],
    ['null', null, { mode: 'auto' }],
    ['auto', 'auto', { mode: 'auto' }],
    ['none', 'none', { mode: 'none' }],
    ['required', 'required', { mode: 'required' }],
    ['a named one', tool('look'), { mode: 'required', names: new Set(['look']) }],
    ['some it may use', allowed('auto', 'look', 'listen'), { mode: 'auto', names: new Set(['look', 'listen']) }],
    ['some of which it must use one', allowed('required', 'look'), { mode: 'required', names: new Set(['look']) }],
    ['that it may use none of them', allowed('auto'), { mode: 'auto', names: new Set() }],
  ] as const) {
    it(said, () => expect(readToolChoice(choice)).to.deep.equal(asked))
  }

  it('a custom tool is not known', () => {
    expect(refusalOf({ type: 'custom', custom: { name: 'x' } })).to.include({
      row: 'unsupported_parameter',
      param: 'tool_choice',
    })
  })

  it('what means nothing is refused, and what would mean something is said', () => {
    for (const choice of [
      'any',
      { type: 'function' },
      { type: 'allowed_tools' },
      { type: 'allowed_tools', allowed_tools: { tools: [{}] } },
    ]) {
      const refusal = refusalOf(choice as ToolChoice)
      expect(refusal).to.include({ row: 'invalid_value', param: 'tool_choice' })
      expect(refusal.message).to.contain('a function by its name')
    }
  })
})

function refusalOf(choice: ToolChoice): GatewayError {
  try {
    readToolChoice(choice)
  } catch (error) {
    expect(error).to.be.instanceOf(GatewayError)
    return error as GatewayError
  }
  throw new Error('not refused')
}
