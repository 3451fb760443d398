import { expect } from 'chai'
import type { Choice } from '../../../core/routing/route.ts'
import { inOrder, type OrderHint } from '../../../core/routing/selection.ts'
import { branch, choice } from './routes.ts'

const HINT: OrderHint = { key: 'key_1', user: undefined, random: Math.random }

const ids = (from: Choice, hint: Partial<OrderHint> = {}): string[] =>
  inOrder(from, { ...HINT, ...hint }).map(({ target }) => target.id)

/** How often each target came first. */
function firsts(from: Choice, times: number): Record<string, number> {
  const counts: Record<string, number> = {}
  for (let i = 0; i < times; i++) {
    const [first] = ids(from)
    counts[first!] = (counts[first!] ?? 0) + 1
  }
  return counts
}

describe('the order of the targets of a curated model', () => {
  it('begins with a target by weight, and ends with the fallbacks in their order', () => {
    const smart = choice({ targets: [branch('a/1', 80), branch('b/1', 20)], fallbacks: [branch('c/1'), branch('d/1')] })
    expect(firsts(smart, 4000)['a/1']).to.be.within(3000, 3400)
    for (let i = 0; i < 20; i++) expect(ids(smart).slice(2)).to.deep.equal(['c/1', 'd/1'])
  })

  it('distributes the calls of a failed target among the others by weight', () => {
    const three = choice({ targets: [branch('a/1', 98), branch('b/1', 1), branch('c/1', 1)] })
    let seconds = 0
    for (let i = 0; i < 2000; i++) if (ids(three)[1] === 'b/1') seconds++
    expect(seconds).to.be.within(850, 1150)
  })

  it('is the same for the same user, and distributes users by weight', () => {
    const sticky = choice({ targets: [branch('a/1', 3), branch('b/1', 1)], sticky: 'key' })
    for (const key of ['key_1', 'key_2', 'key_3'])
      expect(new Set(Array.from({ length: 20 }, () => ids(sticky, { key })[0])).size).to.equal(1)
    const first = Array.from({ length: 4000 }, (_, index) => ids(sticky, { key: `key_${index}` })[0])
    expect(first.filter((id) => id === 'a/1').length).to.be.within(2850, 3150)
  })

  it('changes for few users when a target is added', () => {
    const two = choice({ targets: [branch('a/1'), branch('b/1')], sticky: 'key' })
    const three = choice({ targets: [branch('a/1'), branch('b/1'), branch('c/1')], sticky: 'key' })
    const keys = Array.from({ length: 900 }, (_, index) => `key_${index}`)
    const moved = keys.filter((key) => ids(two, { key })[0] !== ids(three, { key })[0])
    expect(moved.length).to.be.within(230, 370)
    expect(moved.every((key) => ids(three, { key })[0] === 'c/1')).to.equal(true)
  })

  it('is random for a call without a user', () => {
    const sticky = choice({ targets: [branch('a/1'), branch('b/1')], sticky: 'user' })
    expect(Object.keys(firsts(sticky, 100))).to.have.length(2)
    expect(new Set(Array.from({ length: 50 }, () => ids(sticky, { user: 'ada' })[0])).size).to.equal(1)
  })

  it('begins with the fastest target, or with one without attempts', () => {
    const quick = choice({ targets: [branch('a/1'), branch('b/1'), branch('c/1')], by: 'latency' })
    const [a, b] = quick.targets.map((target) => 'candidate' in target && target.candidate.target.health)
    if (a) a.latency = 200
    if (b) b.latency = 100
    expect(ids(quick)).to.deep.equal(['c/1', 'b/1', 'a/1'])
  })

  it('begins with the least busy target for its weight', () => {
    const calm = choice({ targets: [branch('a/1', 10), branch('b/1', 1)], by: 'busy' })
    const [a, b] = calm.targets.map((target) => 'candidate' in target && target.candidate.target.health)
    if (a) a.busy = 8
    if (b) b.busy = 2
    expect(ids(calm)).to.deep.equal(['a/1', 'b/1'])
  })

  it('contains the targets of a nested curated model in its place, each once', () => {
    const inner = choice({ id: 'acme/fast', targets: [branch('a/1')], fallbacks: [branch('b/1')] })
    const outer = choice({ id: 'acme/smart', targets: [{ weight: 1, choice: inner }], fallbacks: [branch('b/1'), branch('c/1')] })
    expect(ids(outer)).to.deep.equal(['a/1', 'b/1', 'c/1'])
  })
})
