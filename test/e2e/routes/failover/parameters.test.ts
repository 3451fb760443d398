import { expect } from 'chai'
import { json } from '../../../../core/testing/kit.ts'
import { anthropic } from '../../sdk/anthropic-dialect.ts'
import { openai } from '../../sdk/openai-dialect.ts'
import { cleanReply, hitsSince } from './assertions.ts'
import { call, servedBy } from './client.ts'
import { type FailoverFixture, startFailover } from './fixture.ts'

const curated = (first: string, second: string, more: object = {}) => ({
  models: { m: { targets: [{ model: first }], fallbacks: [second], ...more } },
})

const [OPEN, CLAUDE] = ['open-first/m', 'claude-second/m'] as const

describe('The parameters of a call', () => {
  let fixture: FailoverFixture

  before(async () => {
    fixture = await startFailover({
      namespace: { breaker: false },
      others: () => ({
        mixed: curated(OPEN, CLAUDE),
        translated: curated('claude-first/m', 'open-second/m'),
        claudes: curated('claude-first/m', CLAUDE),
        strict: curated('claude-first/m', 'open-second/m', { strict: true }),
        'strict-claudes': curated('claude-first/m', CLAUDE, { strict: true }),
        filled: curated(OPEN, CLAUDE, { defaults: { temperature: 0.25, max_tokens: 77 } }),
      }),
    })
  })
  after(() => fixture?.stop())

  /** The first target fails, or serves; the second serves. */
  function script(first: 'fails' | 'serves', model: string): () => readonly Record<string, unknown>[] {
    const asked = hitsSince(fixture.first, fixture.second)
    const [firstDialect, secondDialect] =
      model.startsWith('mixed') || model.startsWith('filled') ? [openai, anthropic] : [anthropic, openai]
    fixture.first.on(() =>
      first === 'serves' ? cleanReply(firstDialect, false) : json(firstDialect.error(500, 'No.'), { status: 500 }),
    )
    fixture.second.on(() => cleanReply(secondDialect, false))
    return () => {
      const [one, two] = asked() as [number, number]
      const last = (upstream: FailoverFixture['first'], count: number) =>
        upstream.requests.slice(upstream.requests.length - count)
      return [...last(fixture.first, one), ...last(fixture.second, two)].map(
        (request) => request.json() as Record<string, unknown>,
      )
    }
  }

  it('are translated for each attempt, in the format of each upstream', async () => {
    const bodies = script('fails', 'mixed')
    const { headers } = await call(fixture, { model: 'mixed/m', seed: 7, stop: ['END'] })
    const [first, second] = bodies()
    expect(first).to.deep.include({ model: 'm', seed: 7, stop: ['END'] })
    expect(second).to.deep.include({ model: 'm', stop_sequences: ['END'] })
    expect(second).not.to.have.any.keys('seed', 'stop')
    expect(headers['x-umg-params-dropped']).to.equal('seed')
  })

  it('are not reported as dropped if only the failed target dropped them', async () => {
    const bodies = script('fails', 'translated')
    const { headers } = await call(fixture, { model: 'translated/m', seed: 7 })
    expect(bodies()[1]).to.deep.include({ seed: 7 })
    expect(headers).not.to.have.property('x-umg-params-dropped')
  })

  it('skip a target that would refuse them', async () => {
    const bodies = script('serves', 'translated')
    const reply = await call(fixture, { model: 'translated/m', logit_bias: { 1: 2 } })
    expect(servedBy(reply)).to.equal('1 open-second')
    expect(bodies()).to.have.length(1)
  })

  it('are refused by name without an upstream request if every target would refuse them', async () => {
    const bodies = script('serves', 'claudes')
    const { status, code, text } = await call(fixture, { model: 'claudes/m', logit_bias: { 1: 2 } })
    expect([status, code, JSON.parse(text).error.param]).to.deep.equal([400, 'unsupported_parameter', 'logit_bias'])
    expect(bodies()).to.deep.equal([])
  })

  it('skip a target that would drop them if the model is strict', async () => {
    const bodies = script('serves', 'strict')
    expect(servedBy(await call(fixture, { model: 'strict/m', seed: 7 }))).to.equal('1 open-second')
    expect(bodies()).to.have.length(1)
    expect(servedBy(await call(fixture, { model: 'strict/m', stop: ['END'] }))).to.equal('1 claude-first')
  })

  it('are refused if every target would drop them and the model is strict', async () => {
    const bodies = script('serves', 'strict-claudes')
    const { status, code, text } = await call(fixture, { model: 'strict-claudes/m', seed: 7 })
    expect([status, code, JSON.parse(text).error.param]).to.deep.equal([400, 'unsupported_parameter', 'seed'])
    expect(bodies()).to.deep.equal([])
  })

  it('get defaults for every target if the client sends none', async () => {
    const bodies = script('fails', 'filled')
    await call(fixture, { model: 'filled/m', temperature: 0.75 })
    for (const body of bodies()) expect(body).to.deep.include({ temperature: 0.75, max_tokens: 77 })
    expect(bodies()).to.have.length(2)
  })
})
