import { expect } from 'chai'
import { Ticker, type TickListener } from '../../../core/async/ticker.ts'

/** Something that tells when it is looked at. */
class Sight implements TickListener {
  previous: this | undefined
  next: this | undefined
  readonly #seen = Promise.withResolvers<number>()
  readonly #onLook: () => void

  constructor(onLook: () => void = () => undefined) {
    this.#onLook = onLook
  }

  get seen(): Promise<number> {
    return this.#seen.promise
  }

  onTick(now: number): void {
    this.#seen.resolve(now)
    this.#onLook()
  }
}

describe('a watch over deadlines', () => {
  it('looks at all that it watches, at the time of the tick', async () => {
    const watch = new Ticker<Sight>(1)
    const before = performance.now()
    const both = [new Sight(), new Sight()]
    for (const sight of both) watch.add(sight)
    for (const sight of both) expect(await sight.seen).to.be.within(before, performance.now())
    for (const sight of both) watch.remove(sight)
  })

  it('may be left by what it looks at', async () => {
    const watch = new Ticker<Sight>(1)
    const leaving = new Sight(() => watch.remove(leaving))
    const staying = new Sight()
    watch.add(staying)
    watch.add(leaving)
    await Promise.all([leaving.seen, staying.seen])
    watch.remove(staying)
  })

  it('watches again after a time in which there was nothing to watch', async () => {
    const watch = new Ticker<Sight>(1)
    for (let i = 0; i < 3; i++) {
      const sight = new Sight()
      watch.add(sight)
      await sight.seen
      watch.remove(sight)
      // Two ticks: the first of them finds nobody.
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })
})
