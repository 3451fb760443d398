import { expect } from 'chai'
import { Ticker, type TickListener } from '../../../core/async/event-loop.ts'

/** A member that resolves at its first tick. */
class Member implements TickListener {
  previous: this | undefined
  next: this | undefined
  readonly #ticked = Promise.withResolvers<number>()
  readonly #listener: () => void

  constructor(listener: () => void = () => undefined) {
    this.#listener = listener
  }

  get ticked(): Promise<number> {
    return this.#ticked.promise
  }

  onTick(now: number): void {
    this.#ticked.resolve(now)
    this.#listener()
  }
}

describe('a ticker', () => {
  it('calls all its members with the time of the tick', async () => {
    const ticker = new Ticker<Member>(1)
    const before = performance.now()
    const members = [new Member(), new Member()]
    for (const member of members) ticker.add(member)
    for (const member of members) expect(await member.ticked).to.be.within(before, performance.now())
    for (const member of members) ticker.remove(member)
  })

  it('lets a member remove itself at a tick', async () => {
    const ticker = new Ticker<Member>(1)
    const leaving = new Member(() => ticker.remove(leaving))
    const staying = new Member()
    ticker.add(staying)
    ticker.add(leaving)
    await Promise.all([leaving.ticked, staying.ticked])
    ticker.remove(staying)
  })

  it('ticks again after a time without members', async () => {
    const ticker = new Ticker<Member>(1)
    for (let i = 0; i < 3; i++) {
      const member = new Member()
      ticker.add(member)
      await member.ticked
      ticker.remove(member)
      // Two ticks: the first of them finds no member.
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })
})
