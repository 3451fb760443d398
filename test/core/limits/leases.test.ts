import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import type { Counter } from '../../../core/limits/counter.ts'
import { AuthorityUnavailable, type Debit } from '../../../core/limits/leases.ts'
import { one, places, requests, SharedAuthority, take, takeAll, takeAllKnown } from './shared-authority.ts'

describe('leases of several processes', () => {
  let authority: SharedAuthority

  beforeEach(() => {
    authority = new SharedAuthority()
  })

  afterEach(() => authority?.close())

  it('spend a limit exactly, whichever process gets the calls', async () => {
    const processes = Array.from({ length: 6 }, () => authority.process())
    const spent = await Promise.all(processes.map((leases) => takeAll(leases, one(requests(60)))))
    expect(spent.reduce((sum, each) => sum + each, 0)).to.be.within(57, 60)
    // What others have not used comes back to the one that goes on asking.
    let total = spent.reduce((sum, each) => sum + each, 0)
    while (total < 60) {
      if ((await take(processes[0]!, one(requests(60)))) !== undefined) total += 1
      await setImmediate()
    }
    expect(await takeAll(processes[0]!, one(requests(60)))).to.equal(0)
  })

  it('ask the authority at most once in twenty calls, far from the limit', async () => {
    const leases = authority.process()
    for (let call = 0; call < 2000; call++) expect(await take(leases, one(requests(1_000_000)))).to.not.equal(undefined)
    expect(authority.asked).to.be.at.most(100)
  })

  it('ask less often the faster the calls come', async () => {
    const leases = authority.process()
    for (let call = 0; call < 50_000; call++) await leases.take([one(requests(1_000_000_000))])
    expect(authority.asked).to.be.at.most(100)
  })

  it('ask once for all limits of a call', async () => {
    const leases = authority.process()
    const charges = [one(requests(100)), { ...one(requests(10_000, 3_600_000)), amount: 300 }, one(places(5))]
    expect(await leases.take(charges)).to.not.have.property('refused')
    expect(authority.asked).to.equal(1)
    expect(await leases.take([one(requests(100)), one(places(0))])).to.have.nested.property('refused.counter.id', 'places')
  })

  it('do not ask for each refused call', async () => {
    const leases = authority.process()
    await takeAll(leases, one(requests(3)))
    const before = authority.asked
    for (let call = 0; call < 100; call++) expect(await take(leases, one(requests(3)))).to.equal(undefined)
    expect(authority.asked - before).to.be.at.most(10)
  })

  it('never have more places in use than there are, and give places back', async () => {
    const processes = [authority.process(), authority.process(), authority.process()]
    let inUse = 0
    let served = 0
    await Promise.all(
      processes.flatMap((leases) =>
        Array.from({ length: 8 }, async () => {
          while (served < 300) {
            const taken = await take(leases, one(places(5)))
            if (taken === undefined) {
              await setImmediate()
              continue
            }
            inUse += 1
            served += 1
            expect(inUse).to.be.at.most(5)
            await setImmediate()
            inUse -= 1
            taken.correct(0, 0)
          }
        }),
      ),
    )
  })

  it('take nothing if one of several limits refuses', async () => {
    const leases = authority.process()
    const result = await leases.take([one(requests(10)), one(places(0))])
    expect(result).to.have.nested.property('refused.counter.id', 'places')
    expect(leases.view(requests(10)).remaining).to.equal(10)
    expect(await takeAll(leases, one(requests(10)))).to.equal(10)
  })

  it('charge what a call has used in the end, more or less than it took', async () => {
    const leases = authority.process()
    const tokens = (amount: number): Debit => ({ counter: requests(1000), amount, onOutage: 'serve' })
    const less = await take(leases, tokens(400))
    const more = await take(leases, tokens(100))
    less?.correct(0, 50)
    more?.correct(0, 600)
    expect(leases.view(requests(1000)).remaining).to.equal(350)
    expect(await take(leases, tokens(351))).to.equal(undefined)
    expect(await take(leases, tokens(350))).to.not.equal(undefined)
  })

  describe('while the authority is away', () => {
    it('serve calls from what they hold, and a twentieth of the limit', async () => {
      const leases = authority.process()
      await take(leases, one(requests(100)))
      authority.isAway = true
      expect(await takeAllKnown(leases, one(requests(100)))).to.equal(24 + 5)
    })

    it('refuse calls where the limit says so', async () => {
      const leases = authority.process()
      authority.isAway = true
      const error = await take(leases, one(requests(10), 'refuse')).catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(AuthorityUnavailable)
    })
  })

  it('tell an authority that has forgotten everything what was spent', async () => {
    const [here, there] = [authority.process(), authority.process()]
    for (let call = 0; call < 6; call++) await take(here, one(requests(10)))
    authority.restore()
    await takeAll(here, { ...one(requests(10)), amount: 4 })
    expect(await takeAll(there, one(requests(10)))).to.equal(0)
  })

  it('cost only their own limit if a counter cannot be changed', async () => {
    const leases = authority.process()
    const faulty: Counter = { ...requests(1000), id: 'faulty' }
    authority.faulty = faulty.id
    expect(await takeAllKnown(leases, one(faulty))).to.equal(50)
    const error = await take(leases, one(faulty, 'refuse')).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(AuthorityUnavailable)
    expect(await takeAll(leases, one(requests(60), 'refuse'))).to.equal(60)
  })

  it('give back what is not used when a process ends', async () => {
    const [ending, going] = [authority.process(), authority.process()]
    await take(ending, { ...one(requests(100)), amount: 1 })
    await ending.close()
    expect(await takeAll(going, one(requests(100)))).to.equal(99)
  })

  it('are given back in several requests if they are many: none makes the authority late for the others', async () => {
    const [ending, going] = [authority.process(), authority.process()]
    const counters = Array.from({ length: 1200 }, (_, id) => ({ ...requests(100), id: `requests/${id}` }))
    for (const counter of counters) await take(ending, one(counter))
    await ending.close()
    expect(authority.mostAsked).to.equal(500)
    for (const counter of counters) expect(await take(going, { ...one(counter), amount: 99 })).to.not.equal(undefined)
  })
})
