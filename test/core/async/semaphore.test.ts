import { expect } from 'chai'
import { Semaphore } from '../../../core/async/semaphore.ts'

describe('a semaphore', () => {
  it('gives its places in order of arrival', async () => {
    const places = new Semaphore(1)
    await places.acquire()
    const order: string[] = []
    const both = ['first', 'second'].map((name) => places.acquire().then(() => order.push(name)))
    expect([places.waiting, places.tryAcquire()]).to.deep.equal([2, false])
    places.release()
    await both[0]
    expect(order).to.deep.equal(['first'])
    places.release()
    await both[1]
    places.release()
    expect([order, places.waiting, places.tryAcquire()]).to.deep.equal([['first', 'second'], 0, true])
  })

  it('gives no place to work that has left, and tells it why', async () => {
    const places = new Semaphore(1)
    await places.acquire()
    const leaving = new AbortController()
    const left = places.acquire(leaving.signal).catch((reason: unknown) => reason)
    const staying = places.acquire(new AbortController().signal)
    leaving.abort('gone')
    expect([await left, places.waiting]).to.deep.equal(['gone', 1])
    places.release()
    await staying
    expect(await places.acquire(leaving.signal).catch((reason: unknown) => reason)).to.equal('gone')
  })

  it('takes the place back from work that fails', async () => {
    const places = new Semaphore(1)
    const failed = await places.run(() => Promise.reject(new Error('failed'))).catch((error: Error) => error.message)
    expect([failed, await places.run(async () => 'done')]).to.deep.equal(['failed', 'done'])
  })
})
