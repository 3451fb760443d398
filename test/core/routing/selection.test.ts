import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { hashOf } from '../../../core/routing/affinity.ts'
import { type Choice, candidatesOf } from '../../../core/routing/route.ts'
import { inOrder, type OrderHint } from '../../../core/routing/selection.ts'
import { branch, choice } from './routes.ts'

const HINT: OrderHint = { affinity: () => undefined, random: Math.random }

const ids = (from: Choice, hint: Partial<OrderHint> = {}): string[] =>
  inOrder(from, { ...HINT, ...hint }).map(({ target }) => target.id)

/** Calls that have an id in common. */
const of = (id: string, isShared = false): Partial<OrderHint> => ({
  affinity: () => ({ signal: 'session-id', hash: hashOf(`default\0${id}`), isShared }),
})

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

  it('is the same for the calls of a conversation', () => {
    const sticky = choice({ targets: [branch('a/1', 3), branch('b/1', 1)] })
    for (const id of ['one', 'two', 'three'])
      expect(new Set(Array.from({ length: 20 }, () => ids(sticky, of(id)).join())).size).to.equal(1)
  })

  for (const weights of [
    [1, 1],
    [3, 1],
    [5, 3, 2],
    [70, 20, 9, 1],
  ]) {
    it(`distributes conversations by the weights ${weights.join(', ')}`, () => {
      const targets = weights.map((weight, index) => branch(`upstream-${index}/model`, weight))
      const sum = weights.reduce((total, weight) => total + weight)
      const counts = weights.map(() => 0)
      // Random ids, but the same ones each time.
      for (let number = 0; number < 10_000; number++) {
        const id = createHash('sha256').update(String(number)).digest('hex').slice(0, 32)
        const [first] = ids(choice({ targets }), of(id))
        counts[Number(/\d+/.exec(first!)![0])]!++
      }
      for (const [index, weight] of weights.entries()) expect(counts[index]! / 100).to.be.closeTo((weight / sum) * 100, 1.5)
    })
  }

  it('changes for few conversations when a target is added', () => {
    const two = choice({ targets: [branch('a/1'), branch('b/1')] })
    const three = choice({ targets: [branch('a/1'), branch('b/1'), branch('c/1')] })
    const sessions = Array.from({ length: 900 }, (_, index) => of(`session_${index}`))
    const moved = sessions.filter((each) => ids(two, each)[0] !== ids(three, each)[0])
    expect(moved.length).to.be.within(230, 370)
    expect(moved.every((each) => ids(three, each)[0] === 'c/1')).to.equal(true)
  })

  it('is random for a call that names no conversation', () => {
    expect(Object.keys(firsts(choice({ targets: [branch('a/1'), branch('b/1')] }), 100))).to.have.length(2)
  })

  it('overloads no target with calls whose sign many conversations share', () => {
    const shared = choice({ targets: [branch('a/1'), branch('b/1'), branch('c/1')] })
    const healthOf = (id: string) => candidatesOf(shared).find(({ target }) => target.id === id)!.target.health
    const busy: Record<string, number> = {}
    for (let count = 0; count < 60; count++) {
      const [first] = ids(shared, of('my-product', true))
      healthOf(first!).busy++
      busy[first!] = healthOf(first!).busy
    }
    expect(Math.max(...Object.values(busy))).to.be.at.most(Math.ceil((1.25 * 60) / 3))
    const [own] = ids(shared, of('my-product'))
    const most = Object.entries(busy).sort(([, one], [, other]) => other - one)[0]!
    expect(most[0]).to.equal(own)
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
