import { expect } from 'chai'
import { Flusher, type FlusherOptions } from '../../../core/async/flusher.ts'

/** A flusher of numbers whose writes the test answers, one after the other. */
function flusher(options: Partial<FlusherOptions<number>> = {}) {
  const writes: { readonly batch: readonly number[]; readonly answer: PromiseWithResolvers<void> }[] = []
  const dropped: number[] = []
  let began = Promise.withResolvers<void>()
  const all = new Flusher<number>({
    maxBatch: 2,
    maxWaiting: 4,
    delayMs: 60_000,
    retryMs: 60_000,
    write: (batch) => {
      const answer = Promise.withResolvers<void>()
      writes.push({ batch, answer })
      began.resolve()
      began = Promise.withResolvers()
      return answer.promise
    },
    onFull: (item) => dropped.push(item),
    ...options,
  })
  /** Resolves when the next write begins. */
  const next = (): Promise<void> => began.promise
  return { all, writes, dropped, next, batches: () => writes.map(({ batch }) => batch) }
}

describe('a flusher', () => {
  it('writes a full batch at once, and one batch at a time', async () => {
    const { all, writes, batches, next } = flusher()
    for (const item of [1, 2, 3, 4]) all.add(item)
    expect(batches()).to.deep.equal([[1, 2]])
    const second = next()
    writes[0]!.answer.resolve()
    await second
    expect([batches(), all.waiting]).to.deep.equal([
      [
        [1, 2],
        [3, 4],
      ],
      [3, 4],
    ])
  })

  it('writes what is no full batch after a delay', async () => {
    const { all, batches, next } = flusher({ delayMs: 1 })
    const first = next()
    all.add(1)
    await first
    expect(batches()).to.deep.equal([[1]])
  })

  it('drops items for which there is no room', () => {
    const { all, dropped } = flusher()
    for (const item of [1, 2, 3, 4, 5]) all.add(item)
    expect([dropped, all.waiting]).to.deep.equal([[5], [1, 2, 3, 4]])
  })

  it('writes a batch again that could not be written, and says when all is written', async () => {
    const { all, writes, batches, next } = flusher({ retryMs: 1 })
    for (const item of [1, 2]) all.add(item)
    const flushed = all.flushed()
    const second = next()
    writes[0]!.answer.reject(new Error('failed'))
    await second
    writes[1]!.answer.resolve()
    await flushed
    expect([batches(), all.waiting]).to.deep.equal([
      [
        [1, 2],
        [1, 2],
      ],
      [],
    ])
  })

  it('writes without the pause when it is told that the failure may be over', async () => {
    const { all, writes, batches, next } = flusher()
    for (const item of [1, 2]) all.add(item)
    writes[0]!.answer.reject(new Error('failed'))
    await Promise.allSettled([writes[0]!.answer.promise])
    await new Promise(setImmediate)
    expect(batches().length).to.equal(1)
    const second = next()
    all.retry()
    await second
    expect(batches().length).to.equal(2)
  })

  it('writes items again that were lost after they were written', async () => {
    const { all, writes, batches, next } = flusher()
    for (const item of [1, 2]) all.add(item)
    all.addAgain([0])
    const second = next()
    writes[0]!.answer.resolve()
    all.add(3)
    await second
    expect(batches()[1]).to.deep.equal([0, 3])
  })

  it('writes the rest when it is closed, and says what it could not write', async () => {
    const { all, writes, next } = flusher()
    for (const item of [1, 2, 3]) all.add(item)
    const last = next()
    const closed = all.close(60_000)
    writes[0]!.answer.resolve()
    await last
    writes[1]!.answer.reject(new Error('failed'))
    expect(await closed).to.deep.equal([3])
  })

  it('leaves what is not written in time', async () => {
    const { all } = flusher()
    all.add(1)
    expect(await all.close(1)).to.deep.equal([1])
  })
})
