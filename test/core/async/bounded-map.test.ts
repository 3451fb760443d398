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
})
