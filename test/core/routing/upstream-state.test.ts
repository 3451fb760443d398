import { expect } from 'chai'
import { UpstreamState } from '../../../core/routing/upstream-state.ts'
import { UNWATCHED } from './routes.ts'

describe('the health of models that routes.yaml does not name', () => {
  const fail = (state: UpstreamState, model: string): void => {
    for (let count = 0; count < 5; count++) state.of(model).failed(0, 'reply')
  }

  it('is one for each model, of a bounded number of them', () => {
    const state = new UpstreamState('vendor', { breaker: true }, UNWATCHED)
    fail(state, 'first')
    expect(state.of('first').availability(0)).to.equal('open')
    for (let count = 0; count < 999; count++) expect(state.of(`made-up-${count}`).availability(0)).to.equal('available')
    expect(state.of('first').availability(0)).to.equal('open')
    state.of('one-too-many')
    expect(state.of('first').availability(0), 'forgotten').to.equal('available')
  })

  it('is reported as that of the worst one, with all attempts', () => {
    const state = new UpstreamState('vendor', { breaker: true }, UNWATCHED)
    fail(state, 'bad')
    for (const model of ['bad', 'good', 'good']) state.of(model).begin()
    expect(state.report(0)).to.have.lengthOf(1)
    expect(state.report(0)[0]).to.include({ model: '*', breaker: 'open', availability: 'open', busy: 3 })
  })

  it('is not that of a model that routes.yaml names', () => {
    const state = new UpstreamState('vendor', { breaker: true }, UNWATCHED)
    const named = state.named('gpt')
    fail(state, 'made-up')
    expect([state.of('gpt'), named.availability(0)]).to.deep.equal([named, 'available'])
  })
})
