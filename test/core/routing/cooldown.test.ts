import { expect } from 'chai'
import { ANYONE, Cooldown } from '../../../core/routing/cooldown.ts'

describe('a cooldown', () => {
  it('is for the account alone that met the refusal', () => {
    const cooldown = new Cooldown()
    cooldown.begin(60, 'ann')
    expect([cooldown.until('ann'), cooldown.until('ben'), cooldown.longest]).to.deep.equal([60, 0, 60])
  })

  it('is for all while those of two accounts last', () => {
    const cooldown = new Cooldown()
    cooldown.begin(60, 'ann')
    cooldown.begin(20, 'ben')
    expect(cooldown.until('cat')).to.equal(20)
    cooldown.begin(90, 'ben')
    expect(['ann', 'ben', 'cat'].map((account) => cooldown.until(account))).to.deep.equal([60, 90, 60])
    cooldown.begin(100, 'ben')
    expect(cooldown.until('cat'), 'the same account again').to.equal(60)
    cooldown.begin(80, 'cat')
    expect(cooldown.until('dan')).to.equal(80)
  })

  it('is for all at once if it concerns all, and none shortens it', () => {
    const cooldown = new Cooldown()
    cooldown.begin(60, ANYONE)
    cooldown.begin(10, 'ann')
    expect([cooldown.until('ann'), cooldown.until('ben')]).to.deep.equal([60, 60])
    cooldown.begin(90, 'ann')
    expect([cooldown.until('ann'), cooldown.until('ben'), cooldown.longest]).to.deep.equal([90, 60, 90])
  })

  it('is remembered for a thousand accounts', () => {
    const cooldown = new Cooldown()
    cooldown.begin(60, 'first')
    // Each is over before the next begins.
    for (let count = 0; count < 1000; count++) cooldown.begin(1, `account-${count}`)
    expect([cooldown.until('first'), cooldown.until('account-999')]).to.deep.equal([1, 1])
  })
})
