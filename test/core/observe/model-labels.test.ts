import { expect } from 'chai'
import { ModelLabels } from '../../../core/observe/call-metrics.ts'

describe('The model label', () => {
  let labels: ModelLabels

  const label = (namespace: string, model: string): string => labels.of({ namespace, model }).id

  beforeEach(() => {
    labels = new ModelLabels()
    labels.declare(new Map(Object.entries({ openai: [], claude: ['claude-sonnet-5', 'claude-haiku-*'] })))
  })

  it('is the name if the routing table has it', () => {
    expect(label('claude', 'claude-sonnet-5')).to.equal('claude/claude-sonnet-5')
  })

  it('is other for a name that only a glob allows, or no entry', () => {
    expect(label('claude', 'claude-haiku-*')).to.equal('claude/other')
    expect(label('claude', 'claude-haiku-4')).to.equal('claude/other')
    expect(label('openai', 'made-up')).to.equal('openai/other')
  })

  it('is the name once an upstream has accepted it', () => {
    labels.accept({ namespace: 'openai', model: 'gpt-5.5' })
    expect(label('openai', 'gpt-5.5')).to.equal('openai/gpt-5.5')
    expect(label('claude', 'gpt-5.5')).to.equal('claude/other')
  })

  it('is never a namespace that the routing table lacks', () => {
    labels.accept({ namespace: 'made-up', model: 'x' })
    expect(labels.of({ namespace: 'made-up', model: 'x' })).to.deep.equal({ namespace: 'none', model: 'none', id: 'none' })
    expect(labels.of(undefined).id).to.equal('none')
    expect(labels.namespace('made-up')).to.equal('none')
    expect(labels.namespace('__proto__')).to.equal('none')
  })

  it('is other for accepted names past the hundredth of a namespace; declared ones do not count', () => {
    labels.declare(new Map([['openai', Array.from({ length: 50 }, (_, n) => `declared-${n}`)]]))
    for (let n = 0; n < 200; n++) labels.accept({ namespace: 'openai', model: `model-${n}` })
    labels.accept({ namespace: 'claude', model: 'claude-haiku-4' })
    expect(label('openai', 'model-99')).to.equal('openai/model-99')
    expect(label('openai', 'model-100')).to.equal('openai/other')
    expect(label('openai', 'declared-49')).to.equal('openai/declared-49')
    expect(label('claude', 'claude-haiku-4')).to.equal('claude/claude-haiku-4')
  })

  it('is other for a very long name, even if an upstream accepts it', () => {
    const model = 'x'.repeat(1_000_000)
    labels.accept({ namespace: 'openai', model })
    expect(label('openai', model)).to.equal('openai/other')
  })

  it('survives a reload that removes the namespace, for calls still in flight', () => {
    labels.declare(new Map([['local', []]]))
    expect(label('claude', 'claude-sonnet-5')).to.equal('claude/claude-sonnet-5')
    expect(label('local', 'x')).to.equal('local/other')
  })
})
