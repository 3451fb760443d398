import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { Batch } from '../../../core/async/batch.ts'

describe('what one turn of the event loop brings', () => {
  it('is done in a row, in its order, before anything that is read later', async () => {
    const done: string[] = []
    const batch = new Batch<string>((item) => done.push(item))
    for (const item of ['first', 'second']) batch.add(item)
    expect(done).to.deep.equal([])
    await nextTurn()
    expect(done).to.deep.equal(['first', 'second'])
  })

  it('is done at once where someone cannot wait, and then not again', async () => {
    const done: string[] = []
    const batch = new Batch<string>((item) => done.push(item))
    batch.add('only')
    batch.flush()
    expect(done).to.deep.equal(['only'])
    await nextTurn()
    expect(done).to.deep.equal(['only'])
  })

  it('is not made longer by what the work itself brings: that has its own turn', async () => {
    const done: string[] = []
    const batch: Batch<string> = new Batch((item) => {
      done.push(item)
      if (item === 'first') batch.add('its child')
    })
    for (const item of ['first', 'second']) batch.add(item)
    batch.flush()
    expect(done).to.deep.equal(['first', 'second'])
    await nextTurn()
    expect(done).to.deep.equal(['first', 'second', 'its child'])
  })
})
