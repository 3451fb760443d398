import { expect } from 'chai'
import { SerialQueue } from '../../../core/async/serial-queue.ts'

describe('a serial queue', () => {
  it('starts work when the work before it has ended, well or badly', async () => {
    const queue = new SerialQueue()
    const events: string[] = []
    const gate = Promise.withResolvers<void>()
    const first = queue.run(async () => {
      events.push('first begins')
      await gate.promise
      events.push('first fails')
      throw new Error('failed')
    })
    const second = queue.run(() => {
      events.push('second begins')
      return 'done'
    })
    gate.resolve()
    expect([await first.catch((error: Error) => error.message), await second]).to.deep.equal(['failed', 'done'])
    expect(events).to.deep.equal(['first begins', 'first fails', 'second begins'])
  })

  it('has ended when its last work has', async () => {
    const queue = new SerialQueue()
    let isDone = false
    queue
      .run(async () => {
        await Promise.resolve()
        isDone = true
        throw new Error('failed')
      })
      .catch(() => undefined)
    await queue.ended()
    expect(isDone).to.equal(true)
  })
})
