import { expect } from 'chai'
import fc from 'fast-check'
import {
  type Counter,
  type CounterState,
  type Grant,
  grant,
  LEASE_MS,
  type LeaseRequest,
  reconcile,
} from '../../../core/limits/counter.ts'

const WINDOW = { kind: 'fixed', ms: 60_000 } as const
const START = 1_000_000

/** One storage, in which holders ask at a time that the test sets. */
class Storage {
  now = START
  /** What the ledger says when the counter is not known. */
  initial = 0
  state: CounterState | undefined

  ask(holder: string, counter: Counter, told: Partial<LeaseRequest> = {}): Grant {
    const request = { counter, windowEnd: 0, spent: 0, keep: 0, need: 0, want: told.need ?? 0, ...told }
    const granted = grant(this.state, request, { holder, now: this.now, initial: this.initial })
    // As a storage keeps it.
    this.state = JSON.parse(JSON.stringify(granted.state))
    return granted.lease
  }
}

describe('the leases of a counter', () => {
  const limited = (limit: number): Counter => ({ id: 'tokens', limit, window: WINDOW })
  const places = (limit: number): Counter => ({ id: 'places', limit, window: undefined })
  let storage: Storage

  beforeEach(() => {
    storage = new Storage()
  })

  it('are as large as wanted far from the limit, and single units near it', () => {
    const counter = limited(10_000)
    expect(storage.ask('one', counter, { need: 1, want: 32 })).to.include({ held: 32, remaining: 9_968 })
    const near = limited(40)
    expect(storage.ask('two', near, { need: 1, want: 32 }).held).to.equal(1)
  })

  it('end with their window: what is held from before buys nothing in the next', () => {
    const counter = limited(10)
    const { windowEnd } = storage.ask('one', counter, { need: 10 })
    storage.now = windowEnd
    expect(storage.ask('one', counter, { windowEnd, spent: 4, keep: 6 })).to.include({ spent: 0, held: 0, remaining: 10 })
    expect(storage.ask('two', counter, { need: 10 })).to.include({ granted: true, windowEnd: windowEnd + WINDOW.ms })
  })

  it('of a holder that has ended count until the window ends: they may have been spent', () => {
    const counter = limited(10)
    storage.ask('ended', counter, { need: 7 })
    storage.now += LEASE_MS * 2
    expect(storage.ask('two', counter, { need: 4 })).to.include({ granted: false, remaining: 3 })
  })

  it('of a holder that was cut off count what it says when it is back, and not twice', () => {
    const counter = limited(10)
    const { windowEnd } = storage.ask('one', counter, { need: 7 })
    storage.now += LEASE_MS * 2
    expect(storage.ask('one', counter, { windowEnd, spent: 5, keep: 2 })).to.include({ spent: 5, held: 2, remaining: 3 })
  })

  it('of holders that the authority has forgotten are part of what the ledger says, and do not count twice', () => {
    const counter = limited(100)
    storage.initial = 50
    const { windowEnd } = storage.ask('new', counter, { need: 1 })
    // Of the 50, this one has spent 30, and 20 were spent by a holder that is gone.
    expect(storage.ask('forgotten', counter, { windowEnd, spent: 30 })).to.include({ spent: 30, remaining: 49 })
    expect(storage.ask('forgotten', counter, { windowEnd, spent: 35 })).to.include({ spent: 35, remaining: 44 })
  })

  it('are never less than the ledger says, and what an ended holder held is free once it says what was spent', () => {
    const counter = limited(100)
    const { windowEnd } = storage.ask('ended', counter, { need: 30 })
    storage.ask('two', counter, { windowEnd, spent: 10 })
    storage.now += LEASE_MS
    storage.state = reconcile(storage.state!, 60, storage.now)
    expect(storage.ask('two', counter, { windowEnd, spent: 10 })).to.include({ remaining: 10 })
    storage.now = windowEnd - 1
    storage.state = { ...storage.state, leases: { ...storage.state.leases, ended: { spent: 0, held: 30, expiresAt: 0 } } }
    storage.state = reconcile(storage.state, 60, storage.now)
    expect(storage.ask('two', counter, { windowEnd, spent: 10 })).to.include({ remaining: 40 })
    storage.now = windowEnd
    expect(storage.ask('two', counter, { need: 1 })).to.include({ remaining: 99 })
  })

  it('of ended holders are what the ledger says, without the reservations of their last calls and with those of others', () => {
    const counter: Counter = { id: 'budget', limit: 100, window: { kind: 'fixed', ms: 3_600_000 } }
    const { windowEnd } = storage.ask('ended', counter, { need: 40 })
    storage.ask('ended', counter, { windowEnd, spent: 35, reserved: 15, keep: 5 })
    const askOther = () => storage.ask('other', counter, { windowEnd, spent: 18, reserved: 8, keep: 2 })
    storage.now += 30_000
    askOther()
    // Silent for less than a minute: its last calls may not be in the ledger yet.
    storage.state = reconcile(storage.state!, 30, storage.now)
    expect(storage.ask('third', counter, { need: 41 })).to.include({ granted: false, remaining: 40 })
    storage.now += LEASE_MS + 60_000
    askOther()
    // In the ledger are 22 of the ended one and 10 of the other one, which has reserved 8 and holds 2.
    storage.state = reconcile(storage.state!, 32, storage.now)
    expect(storage.ask('third', counter, { need: 59 })).to.include({ granted: false, remaining: 58 })
    expect(storage.ask('third', counter, { need: 58 })).to.include({ granted: true, remaining: 0 })
  })

  it('of ended holders count until the ledger knows the last calls of the others', () => {
    const counter: Counter = { id: 'budget', limit: 100, window: { kind: 'fixed', ms: 3_600_000 } }
    const { windowEnd } = storage.ask('ended', counter, { need: 40 })
    storage.ask('ended', counter, { windowEnd, spent: 40 })
    storage.now += LEASE_MS + 60_000
    storage.ask('other', counter, { windowEnd, spent: 30 })
    // The row of the last call of the other one, 10, is not written yet.
    storage.state = reconcile(storage.state!, 60, storage.now)
    expect(storage.ask('third', counter, { need: 31 })).to.include({ granted: false, remaining: 30 })
    storage.now += 5_000
    storage.state = reconcile(storage.state!, 70, storage.now)
    expect(storage.ask('third', counter, { need: 31 })).to.include({ granted: false, remaining: 30 })
    expect(storage.ask('third', counter, { need: 30 })).to.include({ granted: true })
  })

  it('of a day are remembered in total, however many holders had them', () => {
    const counter: Counter = { id: 'day', limit: 1_000, window: { kind: 'fixed', ms: 86_400_000 } }
    for (let holder = 0; holder < 100; holder++) {
      const { windowEnd } = storage.ask(`holder-${holder}`, counter, { need: 5 })
      storage.ask(`holder-${holder}`, counter, { windowEnd, spent: 5 })
      storage.now += 120_000
    }
    expect(storage.ask('last', counter, { need: 0 }).remaining).to.equal(500)
    expect(Object.keys(storage.state!.leases).length).to.be.below(40)
  })

  it('of places are free when their holder has ended', () => {
    const counter = places(2)
    expect(storage.ask('ended', counter, { need: 2 })).to.include({ granted: true })
    expect(storage.ask('two', counter, { need: 1 })).to.include({ granted: false })
    storage.now += LEASE_MS
    expect(storage.ask('two', counter, { need: 1 })).to.include({ granted: true })
  })

  it('are cut when the limit is lowered', () => {
    const { windowEnd } = storage.ask('one', limited(10), { need: 8 })
    expect(storage.ask('one', limited(5), { windowEnd, spent: 2, keep: 6 })).to.include({ held: 3, remaining: 0 })
    expect(storage.ask('one', limited(5), { windowEnd, spent: 2, keep: 3, need: 1 })).to.include({ granted: false, held: 3 })
  })

  it('never exceed the limit in sum, whatever holders do, and in whatever order', () => {
    const deed = fc.record({
      holder: fc.constantFrom('one', 'two', 'three'),
      need: fc.integer({ min: 0, max: 6 }),
      want: fc.integer({ min: 0, max: 40 }),
      spend: fc.double({ min: 0, max: 1, noNaN: true }),
      giveBack: fc.boolean(),
      wait: fc.integer({ min: 0, max: 20_000 }),
    })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), fc.array(deed, { maxLength: 60 }), (limit, deeds) => {
        const counter = limited(limit)
        const own = new Storage()
        const held = new Map<string, { windowEnd: number; spent: number; keep: number }>()
        for (const { holder, need, want, spend, giveBack, wait } of deeds) {
          own.now += wait
          const mine = held.get(holder) ?? { windowEnd: 0, spent: 0, keep: 0 }
          const bought = Math.floor(mine.keep * spend)
          const told = { ...mine, spent: mine.spent + bought, keep: giveBack ? 0 : mine.keep - bought }
          const lease = own.ask(holder, counter, { ...told, need, want: Math.max(need, want) })
          held.set(holder, { windowEnd: lease.windowEnd, spent: lease.spent, keep: lease.held })
          const current = [...held.values()].filter(({ windowEnd }) => windowEnd === lease.windowEnd)
          const sum = current.reduce((total, { spent, keep }) => total + spent + keep, 0)
          expect(sum).to.be.at.most(limit)
          expect(lease.remaining).to.be.at.most(limit - sum)
        }
      }),
    )
  })
})
