import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { Batch } from '../../../core/async/event-loop.ts'

describe('a batch', () => {
  it('processes its items in their order, after the current iteration of the event loop', async () => {
    const done: string[] = []
    const batch = new Batch<string>((item) => done.push(item))
    for (const item of ['first', 'second']) batch.add(item)
    expect(done).to.deep.equal([])
    await nextTurn()
    expect(done).to.deep.equal(['first', 'second'])
  })

  it('processes the first item of an iteration that is in a hurry when the callback ends that brought it', async () => {
    const done: string[] = []
    const batch = new Batch<string>((item) => done.push(item))
    await nextTurn()
    for (const item of ['first', 'second']) batch.expedite(item)
    expect(done).to.deep.equal([])
    await Promise.resolve()
    process.nextTick(() => done.push('end of the callback'))
    await nextTurn()
    expect(done).to.deep.equal(['first', 'end of the callback', 'second'])
  })

  it('lets no item in a hurry overtake those that wait', async () => {
    const done: string[] = []
    const batch = new Batch<string>((item) => done.push(item))
    await nextTurn()
    batch.add('waits')
    batch.expedite('in a hurry')
    await nextTurn()
    expect(done).to.deep.equal(['waits', 'in a hurry'])
  })

  it('processes items that are added by the processing in the next iteration', async () => {
    const done: string[] = []
    const batch: Batch<string> = new Batch((item) => {
      done.push(item)
      if (item === 'first') batch.add('its child')
    })
    for (const item of ['first', 'second']) batch.add(item)
    await nextTurn()
    expect(done).to.deep.equal(['first', 'second'])
    await nextTurn()
    expect(done).to.deep.equal(['first', 'second', 'its child'])
  })
})
