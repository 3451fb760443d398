import { expect } from 'chai'
import { upstream } from './support.ts'

async function sent(model: string, body: Readonly<Record<string, unknown>>) {
  const { body: text, dropped } = await upstream({ model: `claude/${model}`, ...body })
  const { thinking, output_config, temperature } = JSON.parse(String(text))
  return { thinking, effort: output_config?.effort, temperature, dropped }
}

const SUMMARY = { type: 'adaptive', display: 'summarized' }
const tools = [{ type: 'function', function: { name: 'look' } }]

describe('anthropic: reasoning on models that choose how much to think', () => {
  it('the effort arrives, and the thinking is to be seen', async () => {
    for (const [asked, effort] of Object.entries({ minimal: 'low', low: 'low', medium: 'medium', xhigh: 'xhigh', max: 'max' })) {
      expect(await sent('claude-opus-5', { reasoning_effort: asked })).to.deep.include({ thinking: SUMMARY, effort, dropped: [] })
    }
  })

  it('an effort the model does not know becomes the next below', async () => {
    expect((await sent('claude-sonnet-4-6', { reasoning_effort: 'xhigh' })).effort).to.equal('high')
  })

  it('an unasked model is left to its own habit', async () => {
    expect(await sent('claude-opus-5', {})).to.include({ thinking: undefined, effort: undefined })
  })

  it('none turns thinking off in the way the model takes, or to its least', async () => {
    const none = { reasoning_effort: 'none' }
    expect(await sent('claude-sonnet-5', none)).to.deep.include({ thinking: { type: 'disabled' }, effort: undefined })
    expect(await sent('claude-haiku-5-5', none)).to.deep.include({ thinking: { type: 'disabled' } })
    expect(await sent('claude-sonnet-5-5', none)).to.deep.include({ thinking: { type: 'between_tools' } })
    expect(await sent('claude-fable-5', none)).to.deep.include({ thinking: undefined, effort: 'low' })
    expect(await sent('claude-opus-5-5', none)).to.deep.include({ thinking: undefined, effort: 'low' })
  })

  it('where it thinks, a temperature is left out, and said to be', async () => {
    const thinks = await sent('claude-opus-4-6', { reasoning_effort: 'high', temperature: 0.2 })
    expect(thinks).to.deep.include({ temperature: undefined, dropped: ['temperature'] })
    const does_not = await sent('claude-opus-4-6', { reasoning_effort: 'none', temperature: 0.2 })
    expect(does_not).to.deep.include({ temperature: 0.2, dropped: [] })
  })
})

describe('anthropic: reasoning on models with a budget', () => {
  const budgetOf = async (body: Readonly<Record<string, unknown>>) => (await sent('claude-haiku-4-5', body)).thinking

  it('more effort is a larger share of the reply, always less than the whole', async () => {
    const budgets: number[] = []
    for (const reasoning_effort of ['minimal', 'low', 'medium', 'high', 'xhigh']) {
      budgets.push((await budgetOf({ reasoning_effort, max_tokens: 20_000 })).budget_tokens)
    }
    expect(budgets).to.deep.equal([2000, 4000, 10_000, 16_000, 19_000])
  })

  it('is never below what Anthropic takes, and left out where the reply is too short for it', async () => {
    expect(await budgetOf({ reasoning_effort: 'low', max_tokens: 2000 })).to.deep.equal({ type: 'enabled', budget_tokens: 1024 })
    const short = await sent('claude-haiku-4-5', { reasoning_effort: 'high', max_tokens: 1024 })
    expect(short).to.deep.include({ thinking: undefined, dropped: ['reasoning_effort'] })
  })

  it('does not think where a tool is forced, which Anthropic refuses together', async () => {
    const forced = { reasoning_effort: 'high', tools, tool_choice: 'required' }
    expect(await sent('claude-haiku-4-5', forced)).to.deep.include({ thinking: undefined, dropped: ['reasoning_effort'] })
    expect((await sent('claude-opus-5', forced)).thinking).to.deep.equal(SUMMARY)
  })

  it('none is what they do anyway', async () => {
    expect(await sent('claude-haiku-4-5', { reasoning_effort: 'none' })).to.deep.include({ thinking: undefined, dropped: [] })
  })
})

describe('anthropic: reasoning elsewhere', () => {
  it('a model that cannot think does not, and the client is told', async () => {
    for (const model of ['claude-3-5-haiku-20241022', 'some-other-model']) {
      expect(await sent(model, { reasoning_effort: 'high' })).to.deep.include({
        thinking: undefined,
        dropped: ['reasoning_effort'],
      })
    }
  })

  it('an effort nobody knows is refused with those that are known', async () => {
    const failure: unknown = await sent('claude-opus-5', { reasoning_effort: 'heroic' }).catch((error: unknown) => error)
    expect(failure).to.include({ code: 'invalid_value', param: 'reasoning_effort' })
    expect(String(failure)).to.contain('none, minimal, low, medium, high, xhigh, max')
  })
})
