import { expect } from 'chai'
import type { QuotaAuthority } from '../../../core/limits/authority.ts'
import type { Counter, Lease, LeaseRequest } from '../../../core/limits/counter.ts'
import { onEachAuthority, type SharedStorage, uniqueId } from './authorities.ts'

const MINUTE = { kind: 'fixed', ms: 60_000 } as const
const MONTH = { kind: 'calendar', unit: 'month', timeZone: 'Europe/Berlin' } as const

const counterOf = (limit: number, window: Counter['window'] = MINUTE): Counter => ({ id: uniqueId(), limit, window })

/** Asks as a process does that has nothing yet. */
const first = (counter: Counter, need = 1, want = need): LeaseRequest => ({
  counter,
  windowEnd: 0,
  spent: 0,
  keep: 0,
  need,
  want,
})

onEachAuthority((open) => {
  let shared: SharedStorage

  before(async () => {
    shared = await open()
  })

  after(() => shared?.close())

  /** Asks until it is answered: a connection may not be open yet. */
  async function renew(authority: QuotaAuthority, holder: string, request: LeaseRequest): Promise<Lease> {
    for (;;) {
      try {
        const [lease] = await authority.renew(holder, [request])
        return lease!
      } catch {
        await new Promise(setImmediate)
      }
    }
  }

  it('grants a limit once to many holders that ask at the same time', async () => {
    const counter = counterOf(40)
    const gateways = [shared.gateway(), shared.gateway()]
    // Each holder asks once: 60 holders for 40.
    const leases = await Promise.all(
      Array.from({ length: 60 }, (_, holder) => renew(gateways[holder % 2]!, `holder-${holder}`, first(counter))),
    )
    expect(leases.filter(({ granted }) => granted)).to.have.length(40)
    expect(leases.reduce((sum, { held }) => sum + held, 0)).to.equal(40)
  })

  it('answers many counters at once, in the order of the questions', async () => {
    const gateway = shared.gateway()
    await renew(gateway, 'one', first(counterOf(1)))
    const counters = [counterOf(1), counterOf(5), counterOf(0)]
    const leases = await gateway.renew(
      'one',
      counters.map((counter) => first(counter, 1)),
    )
    expect(leases.map((lease) => [lease?.granted, lease?.remaining])).to.deep.equal([
      [true, 0],
      [true, 4],
      [false, 0],
    ])
  })

  it('answers a holder that asks nothing, such as one that ends without places', async () => {
    expect(await shared.gateway().renew('one', [])).to.deep.equal([])
  })

  it('takes back what a holder does not keep, and counts what it has spent', async () => {
    const counter = counterOf(10)
    const gateway = shared.gateway()
    const { windowEnd } = await renew(gateway, 'one', first(counter, 10))
    expect(await renew(gateway, 'two', first(counter))).to.include({ granted: false })
    await renew(gateway, 'one', { counter, windowEnd, spent: 3, keep: 0, need: 0, want: 0 })
    expect(await renew(gateway, 'two', first(counter, 7))).to.include({ granted: true, held: 7, remaining: 0, windowEnd })
  })

  it('is not changed by a question that is asked again', async () => {
    const counter = counterOf(10)
    const gateway = shared.gateway()
    const { windowEnd } = await renew(gateway, 'one', first(counter, 2))
    const question = { counter, windowEnd, spent: 2, keep: 0, need: 3, want: 3 }
    const leases = [await renew(gateway, 'one', question), await renew(gateway, 'one', question)]
    for (const lease of leases) expect(lease).to.include({ held: 3, spent: 2, remaining: 5 })
  })

  it('grants a place again once it was given back', async () => {
    const places = counterOf(2, undefined)
    const gateway = shared.gateway()
    for (const holder of ['one', 'two']) expect(await renew(gateway, holder, first(places))).to.include({ granted: true })
    expect(await renew(gateway, 'three', first(places))).to.include({ granted: false })
    await renew(gateway, 'one', { ...first(places, 0), keep: 0 })
    expect(await renew(gateway, 'three', first(places))).to.include({ granted: true })
  })

  it('counts the processes of all gateways, also those of older versions, which count themselves', async () => {
    const gateways = [shared.gateway(), shared.gateway()]
    const before = await renew(gateways[0]!, uniqueId(), first(counterOf(1)))
    await renew(gateways[1]!, uniqueId(), first(counterOf(1)))
    const witness: Counter = { id: 'witness', limit: Number.MAX_SAFE_INTEGER, window: { kind: 'fixed', ms: 86_400_000 } }
    const older = uniqueId()
    const { windowEnd, holders } = await renew(gateways[1]!, older, first(witness))
    expect(holders).to.equal(before.holders + 2)
    const told = { counter: witness, windowEnd, spent: 7, keep: 0, need: 0, want: 0 }
    await renew(gateways[0]!, older, told)
    expect(await renew(gateways[0]!, older, { ...told, spent: 8 })).to.include({ known: 7, spent: 8 })
    expect(await renew(gateways[0]!, uniqueId(), first(counterOf(1)))).to.include({ holders: before.holders + 3 })
  })

  it('learns from its holders what it has forgotten', async () => {
    const counter = counterOf(10)
    const gateway = shared.gateway()
    const windowEnd = Date.now() + 30_000
    const known = await renew(gateway, 'one', { counter, windowEnd, spent: 6, keep: 1, need: 1, want: 1 })
    expect(known).to.include({ granted: true, held: 2, remaining: 2, windowEnd })
    expect(await renew(gateway, 'two', first(counter, 3))).to.include({ granted: false })
  })

  it('begins a budget in the middle of a month with what the ledger says', async () => {
    const counter = counterOf(100, MONTH)
    const asked: number[] = []
    const gateway = shared.gateway(async (_, since) => {
      asked.push(since)
      return 60
    })
    await renew(gateway, 'one', first(counterOf(1)))
    expect(await renew(gateway, 'one', first(counter, 41))).to.include({ granted: false, remaining: 40 })
    expect(await renew(gateway, 'one', first(counter, 40))).to.include({ granted: true, remaining: 0 })
    expect(asked.length).to.be.within(1, 2)
    expect(new Date(asked[0]!).toLocaleString('de', { timeZone: 'Europe/Berlin' })).to.match(/^1\.\d+\.\d+, 00:00:00$/)
  })
})
