import { expect } from 'chai'
import { Deadlines, type Expiring } from '../../../core/async/event-loop.ts'

/** A member that resolves when its deadline has passed. */
class Member implements Expiring {
  previous: this | undefined
  next: this | undefined
  deadline: number
  readonly #passed = Promise.withResolvers<number>()
  readonly #listener: () => void

  constructor(deadline: number, listener: () => void = () => undefined) {
    this.deadline = deadline
    this.#listener = listener
  }

  /** When it was told. */
  get passed(): Promise<number> {
    return this.#passed.promise
  }

  onDeadline(): void {
    this.#passed.resolve(performance.now())
    this.#listener()
  }
}

const inMs = (ms: number): number => performance.now() + ms

describe('deadlines', () => {
  it('are told when they have passed, in any order of their addition', async () => {
    const deadlines = new Deadlines<Member>(1)
    const members = [new Member(inMs(20)), new Member(inMs(5)), new Member(inMs(30))]
    for (const member of members) deadlines.add(member)
    for (const member of members) {
      expect(await member.passed).to.be.at.least(member.deadline)
      deadlines.remove(member)
    }
  })

  it('may become later without a word', async () => {
    const deadlines = new Deadlines<Member>(1)
    const first = new Member(inMs(5))
    const later = new Member(inMs(5))
    for (const member of [first, later]) deadlines.add(member)
    later.deadline = inMs(30)
    deadlines.remove(first)
    expect(await later.passed).to.be.at.least(later.deadline)
    deadlines.remove(later)
  })

  it('may become earlier, or begin, with a word', async () => {
    const deadlines = new Deadlines<Member>(1)
    const paused = new Member(Number.POSITIVE_INFINITY)
    const patient = new Member(inMs(60_000))
    for (const member of [paused, patient]) deadlines.add(member)
    for (const member of [paused, patient]) {
      member.deadline = inMs(5)
      deadlines.expect(member.deadline)
      await member.passed
      deadlines.remove(member)
    }
  })

  it('let a member remove itself, while others are told', async () => {
    const deadlines = new Deadlines<Member>(1)
    const staying = new Member(inMs(5))
    const leaving = new Member(staying.deadline, () => deadlines.remove(leaving))
    deadlines.add(staying)
    deadlines.add(leaving)
    await Promise.all([leaving.passed, staying.passed])
    deadlines.remove(staying)
  })

  it('are not read while the earliest known one has not passed', async () => {
    let reads = 0
    const idle: Expiring = {
      previous: undefined,
      next: undefined,
      get deadline() {
        reads += 1
        return Number.POSITIVE_INFINITY
      },
      onDeadline: () => undefined,
    }
    const deadlines = new Deadlines<Expiring>(1)
    const due = new Member(inMs(30))
    deadlines.add(idle)
    deadlines.add(due)
    const atStart = reads
    const turns = new Member(inMs(15))
    const others = new Deadlines<Member>(1)
    others.add(turns)
    await turns.passed
    others.remove(turns)
    expect(reads).to.equal(atStart)
    await due.passed
    expect(reads).to.be.above(atStart)
    for (const member of [idle, due]) deadlines.remove(member)
  })
})
