import { expect } from 'chai'
import { BoundedMap } from '../../../core/async/bounded-map.ts'

describe('a bounded map', () => {
  it('replaces its oldest entry when it is full', () => {
    const map = new BoundedMap<string, number>(2)
    map.set('a', 1).set('b', 2).set('c', 3)
    expect([...map]).to.deep.equal([
      ['b', 2],
      ['c', 3],
    ])
  })

  it('removes no entry when a key gets a new value', () => {
    const map = new BoundedMap<string, number>(2)
    map.set('a', 1).set('b', 2).set('b', 3)
    expect([...map.values()]).to.deep.equal([1, 3])
  })

  it('replaces the oldest of the entries that are left', () => {
    const map = new BoundedMap<string, number>(3)
    map.set('a', 1).set('b', 2).set('c', 3)
    map.delete('a')
    map.set('d', 4).set('a', 5)
    expect([...map.keys()]).to.deep.equal(['c', 'd', 'a'])
    map.clear()
    map.set('e', 6)
    expect([...map.keys()]).to.deep.equal(['e'])
  })

  it('replaces an entry of many in the time of one of few', () => {
    const timeOf = (max: number): number => {
      const map = new BoundedMap<number, number>(max)
      for (let key = 0; key < max; key++) map.set(key, key)
      const before = process.cpuUsage()
      for (let key = 0; key < 60_000; key++) map.set(max + key, key)
      const { user, system } = process.cpuUsage(before)
      return user + system
    }
    timeOf(100)
    expect(timeOf(100_000) / timeOf(100)).to.be.lessThan(15)
  })
})
