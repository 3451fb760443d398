import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { AuthorityUnavailable, type Leases } from '../../../core/limits/leases.ts'
import { one, pass, requests, SharedAuthority, take, takeAll } from './shared-authority.ts'

const DAY = 86_400_000
const HOURS = 2 * 3_600_000
/** An authority that is back knows all by then. */
const SOON = 5_000

describe('leases over time', () => {
  let authority: SharedAuthority
  let here: Leases
  let there: Leases

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: 1_000_000 })
    authority = new SharedAuthority()
    here = authority.process(Date.now)
    there = authority.process(Date.now)
  })

  afterEach(async () => {
    await authority?.close()
    mock.timers.reset()
  })

  async function takeTimes(count: number, leases: Leases, limit: number): Promise<void> {
    for (let call = 0; call < count; call++) expect(await take(leases, one(requests(limit, DAY)))).to.not.equal(undefined)
  }

  it('are given back in several requests if many are idle at the same time', async () => {
    const counters = Array.from({ length: 1200 }, (_, id) => ({ ...requests(40, DAY), id: `requests/${id}` }))
    for (const counter of counters) await take(here, one(counter))
    await pass(15_000)
    expect(authority.mostAsked).to.equal(500)
    for (const counter of counters) expect(await take(there, { ...one(counter), amount: 39 })).to.not.equal(undefined)
  })

  it('grant a new window once if the last one ends while the authority is asked', async () => {
    const minute = requests(10)
    for (let call = 0; call < 6; call++) await take(here, one(minute))
    await pass(59_750)
    const { promise, resolve } = Promise.withResolvers<void>()
    authority.hanging = promise
    const asking = take(here, { ...one(minute), amount: 9 })
    await pass(500)
    // Another call notices that the window has ended.
    here.view(minute)
    resolve()
    const spent = (await asking) === undefined ? 0 : 9
    expect(spent + (await takeAll(here, one(minute)))).to.be.at.most(10)
    expect(await takeAll(there, one(minute))).to.equal(0)
  })

  it('do not credit a window with what calls of the last one did not use', async () => {
    const minute = requests(10)
    const early = await take(here, { ...one(minute), amount: 8 })
    await pass(60_000, 60_000)
    await take(here, one(minute))
    early?.correct(0, 1)
    expect(await takeAll(here, one(minute))).to.equal(9)
  })

  it('that are not used are given back after a while, whatever is left', async () => {
    await take(here, one(requests(1_000, DAY)))
    await pass(12_000)
    expect(await take(there, { ...one(requests(1_000, DAY)), amount: 999 })).to.not.equal(undefined)
  })

  it('that are small and not used are kept to the end of a minute: a key that rests does not ask again', async () => {
    const limits = [one(requests(10_000)), { ...one({ ...requests(1_000_000), id: 'tokens' }), amount: 300 }]
    for (let call = 0; call < 5; call++) {
      const taken = here.take(limits)
      expect(taken instanceof Promise).to.equal(call === 0)
      expect(await taken).to.not.have.property('refused')
      await pass(11_000)
    }
  })

  it('that are kept by many processes are small together', async () => {
    const limit = requests(3_000)
    const processes = Array.from({ length: 8 }, () => authority.process(Date.now))
    for (const leases of processes) {
      // A process always reports its first lease.
      await take(leases, one(requests(100, DAY)))
      await take(leases, one(limit))
    }
    await pass(15_000)
    const large = take(here, { ...one(limit), amount: 2_990 })
    await pass(3_000)
    expect(await large).to.not.equal(undefined)
  })

  it('that are not small are given back in the last seconds of a minute too', async () => {
    for (const [limit, left] of [
      [60, 59],
      [1_000, 999],
    ] as const) {
      const counter = { ...requests(limit), id: `requests/${limit}` }
      await take(here, one(counter))
      await pass(12_000)
      expect(await take(there, { ...one(counter), amount: left })).to.not.equal(undefined)
    }
  })

  it('are given back soon once others have spent the rest', async () => {
    await take(here, one(requests(1_000)))
    const spent = await takeAll(there, one(requests(1_000)))
    await pass(10_000)
    expect(spent + (await takeAll(there, one(requests(1_000))))).to.equal(999)
  })

  it('that are not used are given back at once to a large call of another process', async () => {
    const budget = requests(5_000, DAY)
    await take(here, { ...one(budget), amount: 50 })
    const large = take(there, { ...one(budget), amount: 4_800 })
    await pass(3_000)
    expect(await large).to.not.equal(undefined)
    expect(await take(there, { ...one(budget), amount: 151 })).to.equal(undefined)
    expect(await take(there, { ...one(budget), amount: 150 })).to.not.equal(undefined)
  })

  it('that are not used do not let a large call wait for what nobody holds', async () => {
    await take(here, { ...one(requests(5_000, DAY)), amount: 50 })
    await pass(SOON)
    const asked = take(there, { ...one(requests(5_000, DAY)), amount: 4_951 })
    for (let turn = 0; turn < 10; turn++) await setImmediate()
    expect(await Promise.race([asked, setImmediate('waiting')])).to.equal(undefined)
  })

  it('are given back although the first attempt did not arrive', async () => {
    await take(here, one(requests(1_000, DAY)))
    await pass(9_000)
    authority.isAway = true
    await pass(5_000)
    authority.isAway = false
    await pass(SOON)
    expect(await take(there, { ...one(requests(1_000, DAY)), amount: 999 })).to.not.equal(undefined)
  })

  it('count once what a process spent hours ago and has not forgotten', async () => {
    await takeTimes(5, here, 100)
    for (let time = 0; time < 3; time++) {
      await pass(HOURS, 5_000)
      await takeTimes(1, here, 100)
    }
    const left = { ...one(requests(100, DAY)), amount: 92 }
    await pass(HOURS, 5_000)
    expect(await take(there, left)).to.not.equal(undefined)
    expect(await take(here, one(requests(100, DAY)))).to.equal(undefined)
  })

  describe('while the authority does not answer', () => {
    for (const perSecond of [10, 100, 1_000])
      it(`let no call of a steady client wait: ${perSecond} a second`, async () => {
        const steady = one(requests(100_000_000))
        /** How many calls of so many seconds had to wait. */
        async function waitingOf(seconds: number): Promise<number> {
          let waiting = 0
          for (let call = 0; call < seconds * perSecond; call++) {
            if (here.take([steady]) instanceof Promise) waiting += 1
            await pass(1000 / perSecond, 1000 / perSecond)
          }
          return waiting
        }
        await waitingOf(6)
        const { promise, resolve } = Promise.withResolvers<void>()
        authority.hanging = promise
        expect(await waitingOf(6)).to.equal(0)
        resolve()
        await pass(SOON)
      })

    it('let no call wait for it longer than for one answer', async () => {
      authority.hanging = new Promise(() => undefined)
      const calls = Array.from({ length: 20 }, () => take(here, one(requests(10_000, DAY))))
      await pass(1_000)
      expect(await Promise.all(calls)).to.not.include(undefined)
      const later = take(here, one(requests(10_000, DAY)))
      await setImmediate()
      expect(await Promise.race([later, 'waiting'])).to.not.equal('waiting')
      authority.hanging = Promise.resolve()
      await pass(SOON)
    })

    it('take an answer that has arrived when a late process looks', async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      authority.hanging = promise
      const asking = take(here, one(requests(100, DAY), 'refuse'))
      const arrived = setImmediate().then(resolve)
      mock.timers.tick(1_000)
      await arrived
      expect(await asking).to.not.equal(undefined)
    })

    it('refuse calls at once where the limit says so', async () => {
      authority.isAway = true
      await take(here, one(requests(100, DAY)))
      const asked = authority.asked
      const error = await take(here, one(requests(100, DAY), 'refuse')).catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(AuthorityUnavailable)
      expect(authority.asked).to.equal(asked)
    })
  })

  describe('ask again without a call', () => {
    const strict = (limit: number, ms = DAY) => one(requests(limit, ms), 'refuse')
    const isRefused = async (leases: Leases, ms?: number) =>
      (await take(leases, strict(100, ms)).catch((error: unknown) => error)) instanceof AuthorityUnavailable

    it('an authority that has never answered', async () => {
      authority.isAway = true
      expect(await isRefused(here)).to.equal(true)
      authority.isAway = false
      await pass(1_000)
      expect(await isRefused(here)).to.equal(false)
    })

    it('an authority that has not answered since every window ended', async () => {
      expect(await isRefused(here, 60_000)).to.equal(false)
      authority.isAway = true
      await pass(120_000, 1_000)
      expect(await isRefused(here, 60_000)).to.equal(true)
      authority.isAway = false
      await pass(1_000)
      expect(await isRefused(here, 60_000)).to.equal(false)
    })

    it('for a counter that could not be changed at its first call', async () => {
      authority.faulty = requests(100, DAY).id
      expect(await isRefused(here)).to.equal(true)
      await pass(SOON)
      expect(await isRefused(here)).to.equal(true)
      authority.faulty = undefined
      await pass(SOON)
      expect(await isRefused(here)).to.equal(false)
    })

    it('for a counter that could not be changed when its window ended', async () => {
      expect(await isRefused(here, 60_000)).to.equal(false)
      authority.faulty = requests(100, 60_000).id
      await pass(70_000, 1_000)
      expect(await isRefused(here, 60_000)).to.equal(true)
      await pass(70_000, 1_000)
      authority.faulty = undefined
      await pass(SOON)
      expect(await isRefused(here, 60_000)).to.equal(false)
    })
  })

  it('that were forgotten are not reported when a call of them ends: the counter has another one', async () => {
    const minute = one(requests(40))
    await take(here, minute)
    const early = await take(here, minute)
    await pass(61_000, 1_000)
    for (let id = 0; id < 1_100; id++) await take(here, one({ ...requests(40, DAY), id: `requests/${id}` }))
    for (let call = 0; call < 5; call++) expect(await take(here, minute)).to.not.equal(undefined)
    early?.correct(0, 0)
    await pass(500)
    authority.isAway = true
    await authority.kill(here)
    authority.isAway = false
    await pass(SOON)
    expect(await takeAll(there, minute)).to.be.at.most(35)
  })

  describe('tell the authority', () => {
    it('what was served while it was away, although nobody calls any more', async () => {
      authority.isAway = true
      await takeTimes(7, here, 1_000)
      await pass(10_000)
      authority.isAway = false
      await pass(SOON)
      expect(await takeAll(there, one(requests(1_000, DAY)))).to.equal(993)
    })

    it('what it has forgotten, although nobody calls any more', async () => {
      await takeTimes(6, here, 10)
      await pass(60_000)
      authority.restore()
      await pass(SOON)
      expect(await takeAll(there, one(requests(10, DAY)))).to.equal(4)
    })

    it('what it has forgotten since it was copied', async () => {
      await takeTimes(2, here, 10)
      await pass(60_000)
      const copy = authority.copy()
      await takeTimes(4, here, 10)
      await pass(60_000)
      authority.restore(copy)
      await pass(SOON)
      expect(await takeAll(there, one(requests(10, DAY)))).to.equal(4)
    })
  })
})
