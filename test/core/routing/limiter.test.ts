import { expect } from 'chai'
import { GatewayError } from '../../../core/errors.ts'
import { ConcurrencyLimiter } from '../../../core/routing/protection.ts'

const STAYING = new AbortController().signal

/** The row of the error that a promise rejects with. */
const refusal = (place: Promise<Disposable>): Promise<string> =>
  place.then(
    () => 'admitted',
    (error: GatewayError) => error.row,
  )

describe('a concurrency limiter', () => {
  it('admits any number of calls without a limit', () => {
    const limiter = new ConcurrencyLimiter(undefined)
    for (let i = 0; i < 1000; i++) expect(limiter.tryAcquire()).not.to.equal(undefined)
  })

  it('admits waiting calls in their order', async () => {
    const limiter = new ConcurrencyLimiter({ limit: 1, queue: 2, wait: 60_000 })
    const place = limiter.tryAcquire()!
    expect(limiter.tryAcquire()).to.equal(undefined)
    const order: string[] = []
    const [first, second] = ['first', 'second'].map((name) =>
      limiter.acquire(STAYING).then((own) => {
        order.push(name)
        return own
      }),
    )
    place[Symbol.dispose]()
    const own = await first!
    expect([order, limiter.waiting]).to.deep.equal([['first'], 1])
    own[Symbol.dispose]()
    await second
    expect([order, limiter.waiting]).to.deep.equal([['first', 'second'], 0])
  })

  it('refuses a call if its queue is full, with the time to wait', async () => {
    const limiter = new ConcurrencyLimiter({ limit: 1, queue: 1, wait: 60_000 })
    limiter.tryAcquire()
    const leaving = new AbortController()
    const waiting = refusal(limiter.acquire(leaving.signal))
    const refused = await limiter.acquire(STAYING).catch((error: GatewayError) => error)
    expect(refused).to.have.property('headers').that.includes({ 'retry-after': '1' })
    leaving.abort(new GatewayError('service_unavailable'))
    await waiting
  })

  it('refuses a call that has waited too long', async () => {
    const limiter = new ConcurrencyLimiter({ limit: 1, queue: 1, wait: 1 })
    limiter.tryAcquire()
    expect(await refusal(limiter.acquire(STAYING))).to.equal('upstream_busy')
    expect(limiter.waiting).to.equal(0)
  })

  it('admits the next call if a waiting client disconnects', async () => {
    const limiter = new ConcurrencyLimiter({ limit: 1, queue: 2, wait: 60_000 })
    const place = limiter.tryAcquire()!
    const leaving = new AbortController()
    const left = refusal(limiter.acquire(leaving.signal))
    const staying = refusal(limiter.acquire(STAYING))
    leaving.abort(new GatewayError('service_unavailable'))
    expect(await left).to.equal('service_unavailable')
    place[Symbol.dispose]()
    expect(await staying).to.equal('admitted')
  })
})
