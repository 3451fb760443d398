import { mock } from 'node:test'
import { expect } from 'chai'
import fc from 'fast-check'
import { AuthorityUnavailable, type Leases } from '../../../core/limits/leases.ts'
import { one, pass, places, requests, SharedAuthority, take, takeAllKnown, takeIfKnown } from './shared-authority.ts'

const DAY = 86_400_000
const MINUTE = 60_000
/** An authority that is back knows all by then. */
const SOON = 5_000
/** Two processes, neither of which has replaced another one. */
const FIRST = { processes: 2, predecessors: 0 }

describe('while the authority of limits is silent', () => {
  let authority: SharedAuthority
  let here: Leases
  let there: Leases

  const day = (limit: number) => one(requests(limit, DAY))

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: 1_000_000 })
    authority = new SharedAuthority()
    here = authority.process(Date.now, FIRST)
    there = authority.process(Date.now, FIRST)
  })

  afterEach(async () => {
    await authority?.close()
    mock.timers.reset()
  })

  async function takeTimes(count: number, leases: Leases, limit: number): Promise<void> {
    for (let call = 0; call < count; call++) expect(await take(leases, day(limit))).to.not.equal(undefined)
  }

  it('a limit that is spent stays spent in every process', async () => {
    await takeTimes(30, here, 50)
    await pass(SOON)
    await takeTimes(10, there, 50)
    await pass(15_000)
    expect((await takeAllKnown(here, day(50))) + (await takeAllKnown(there, day(50)))).to.equal(10)
    authority.isAway = true
    expect([await takeAllKnown(here, day(50)), await takeAllKnown(there, day(50))]).to.deep.equal([0, 0])
    await pass(DAY / 2, MINUTE)
    expect([await takeAllKnown(here, day(50)), await takeAllKnown(there, day(50))]).to.deep.equal([0, 0])
  })

  it('a process that knows nothing spends its part of a twentieth of the limit', async () => {
    authority.isAway = true
    expect([await takeAllKnown(here, day(1000)), await takeAllKnown(there, day(1000))]).to.deep.equal([25, 25])
  })

  it('the processes of a place spend a tenth of the limit in all, however many replace each other', async () => {
    authority.isAway = true
    let spent = 0
    for (let predecessors = 0; predecessors < 30; predecessors++)
      for (let place = 0; place < 2; place++) {
        const process = authority.process(Date.now, { processes: 2, predecessors })
        spent += await takeAllKnown(process, day(100_000))
        await authority.kill(process)
      }
    expect(spent).to.be.within(9_900, 10_000)
  })

  it('a process whose knowledge is old spends no more than one that has none', async () => {
    await takeTimes(1, here, 1000)
    await pass(15_000)
    await takeTimes(900, there, 1000)
    await pass(SOON)
    authority.isAway = true
    expect(await takeAllKnown(here, day(1000))).to.be.at.most(25)
  })

  it('nothing is spent beyond what the last answer said is left', async () => {
    await takeTimes(995, here, 1000)
    await pass(15_000)
    expect(await takeIfKnown(there, day(1000))).to.not.equal(undefined)
    authority.isAway = true
    expect(await takeAllKnown(there, day(1000))).to.equal(4)
  })

  it('a call for which nobody knows whether enough is left is refused as one that cannot be checked now', async () => {
    authority.isAway = true
    const error = await take(here, { ...day(1000), amount: 26 }).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(AuthorityUnavailable)
  })

  it('what was spent meanwhile counts when it is back, and buys no further part', async () => {
    authority.isAway = true
    expect(await takeAllKnown(here, day(1000))).to.equal(25)
    await pass(SOON)
    authority.isAway = false
    await pass(SOON)
    expect(await takeAllKnown(there, day(1000))).to.equal(975)
    authority.isAway = true
    expect(await takeAllKnown(here, day(1000))).to.equal(25)
    await pass(SOON)
    authority.isAway = false
    await pass(SOON)
    authority.isAway = true
    expect([await takeAllKnown(here, day(1000)), await takeAllKnown(there, day(1000))]).to.deep.equal([0, 0])
  })

  it('a call that takes nothing is served although others have used more than they took', async () => {
    authority.isAway = true
    const taken = await take(here, day(1000))
    taken?.correct(0, 30)
    expect(await takeIfKnown(here, { ...day(1000), amount: 0 })).to.not.equal(undefined)
  })

  it('a window that begins after it has been silent for long is shared by the processes that it knew', async () => {
    const minute = one(requests(60))
    for (let call = 0; call < 5; call++) for (const leases of [here, there]) await take(leases, minute)
    await pass(SOON)
    authority.isAway = true
    await pass(MINUTE, 1_000)
    expect([await takeAllKnown(here, minute), await takeAllKnown(there, minute)]).to.deep.equal([30, 30])
    const stranger = authority.process(Date.now, { ...FIRST, predecessors: 1 })
    expect(await takeAllKnown(stranger, minute)).to.be.at.most(1)
  })

  it('a window that begins during a short silence is not', async () => {
    const minute = one(requests(60))
    for (const leases of [here, there]) await take(leases, minute)
    await pass(MINUTE - 3_000)
    authority.isAway = true
    await pass(5_000)
    expect(await takeAllKnown(here, minute)).to.be.at.most(1)
  })

  it('each process has its share of the places', async () => {
    authority.isAway = true
    expect([await takeAllKnown(here, one(places(6))), await takeAllKnown(there, one(places(6)))]).to.deep.equal([3, 3])
  })

  it('a limit ends with at most a tenth more, whatever is silent, killed and replaced', async () => {
    const LIMIT = 200
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ place: fc.nat(2), calls: fc.integer({ min: 1, max: 60 }) }) },
      { weight: 2, arbitrary: fc.record({ pass: fc.constantFrom(250, 3_000, 15_000, 60_000) }) },
      { weight: 2, arbitrary: fc.record({ isAway: fc.boolean() }) },
      { weight: 1, arbitrary: fc.record({ killed: fc.nat(2) }) },
    )
    let id = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
        const limit = one({ ...requests(LIMIT, DAY), id: `requests/${id++}` })
        const shared = new SharedAuthority()
        const running = Array.from({ length: 3 }, () => ({ predecessors: 0, leases: start(0) }))
        function start(predecessors: number): Leases {
          return shared.process(Date.now, { processes: 3, predecessors })
        }
        let spent = 0
        for (const each of steps) {
          if ('isAway' in each) shared.isAway = each.isAway
          else if ('pass' in each) await pass(each.pass, each.pass > 5_000 ? 1_000 : 250)
          else if ('killed' in each) {
            const place = running[each.killed]!
            await shared.kill(place.leases)
            place.predecessors += 1
            place.leases = start(place.predecessors)
          } else {
            const { leases } = running[each.place]!
            for (let call = 0; call < each.calls; call++) {
              const taking = takeIfKnown(leases, limit)
              if ((await taking) !== undefined) spent += 1
            }
          }
        }
        shared.isAway = true
        for (const { leases } of running) spent += await takeAllKnown(leases, limit)
        await Promise.all(running.map(({ leases }) => shared.kill(leases)))
        expect(spent).to.be.at.most(LIMIT * 1.1)
      }),
      { numRuns: 60 },
    )
  })
})
