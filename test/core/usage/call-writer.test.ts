import { expect } from 'chai'
import fc from 'fast-check'
import { openStore, type Store } from '../../../core/store/database.ts'
import type { CallsTable } from '../../../core/store/schema.ts'
import { newRequestId } from '../../../core/text/ids.ts'
import { callRow } from '../../../core/usage/call-record.ts'
import { type CallWriter, createCallWriter } from '../../../core/usage/call-writer.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { callRowOf, outcomeOf } from './outcome.ts'

const NOON = Date.UTC(2026, 4, 17, 12, 30)
const DAY_MS = 86_400_000

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.constantFrom('\0', '\ud800', "'; drop table calls; --"))

/** The row of a call with arbitrary values. */
const anyRow = fc
  .record({ model: text, key: text, account: text, code: text, tags: fc.dictionary(text, text), tokens: fc.double() })
  .map(({ model, key, account, code, tags, tokens }) => {
    const error = { row: 'upstream_rejected', code, fault: 'caller' } as never
    const usage = { prompt_tokens: tokens, completion_tokens: -tokens, total_tokens: tokens }
    const outcome = outcomeOf({ outcome: { model: { id: model, namespace: model, model }, error, usage } })
    const principal = { keyId: key, name: key, kind: 'live', account, models: [] } as const
    return callRow(outcome, { id: newRequestId(), principal, tags })
  })

onEachDatabase('the call writer', (create) => {
  let store: Store
  let writer: CallWriter

  beforeEach(async () => {
    store = await openStore(await create())
    writer = createCallWriter(store)
  })

  afterEach(async () => {
    await store?.close()
  })

  const calls = (): Promise<readonly CallsTable[]> => store.read(store.db.selectFrom('calls').selectAll().orderBy('id'))
  const totals = () =>
    store.read(store.db.selectFrom('usage').selectAll().where('dimension', '=', 'all').where('scope', '=', '').orderBy('at'))

  it('writes every field of a call', async () => {
    const rows = [callRowOf({ number: 1, tags: { team: 'search' } }), callRowOf({ number: 2, error: 'upstream_timeout' })]
    await writer.write(rows)
    expect(await calls()).to.deep.equal(rows)
  })

  it('adds to existing totals', async () => {
    for (let number = 0; number < 3; number++)
      await writer.write([callRowOf({ at: NOON, number }), callRowOf({ at: NOON + DAY_MS, number })])
    const days = (await totals()).filter(({ span }) => span === 'day')
    expect(days.map(({ at, requests, input_tokens }) => [at, requests, input_tokens])).to.deep.equal([
      [Date.UTC(2026, 4, 17), 3, 30],
      [Date.UTC(2026, 4, 18), 3, 30],
    ])
  })

  it('writes a batch with more parameters than a statement may have', async () => {
    const rows = Array.from({ length: 500 }, (_, number) =>
      callRowOf({ number, key: `key_${number}`, tags: { n: String(number) } }),
    )
    await writer.write(rows)
    expect(await calls()).to.have.length(500)
    const [day] = await store.read(
      store.db
        .selectFrom('usage')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('dimension', '=', 'key')
        .where('span', '=', 'day'),
    )
    expect(Number(day?.count)).to.equal(500)
  })

  it('writes all of a batch or nothing', async () => {
    const bad = { ...callRowOf({ number: 2 }), status: null as never }
    const refused = await writer.write([callRowOf({ number: 1 }), bad]).catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(Error)
    expect(await calls()).to.deep.equal([])
    expect(await totals()).to.deep.equal([])
  })

  it('writes a batch after one that was refused', async () => {
    await writer.write([{ ...callRowOf(), status: null as never }]).catch(() => undefined)
    await writer.write([callRowOf()])
    expect(await calls()).to.have.length(1)
  })

  it('counts a call once that is written twice, since the reply to its commit was lost', async () => {
    const [first, second] = [callRowOf({ at: NOON, number: 1 }), callRowOf({ at: NOON, number: 2 })]
    await writer.write([first])
    await writer.write([first, second])
    expect(await calls()).to.have.length(2)
    expect((await totals()).map(({ requests }) => requests)).to.deep.equal([2, 2])
  })

  describe('for a tag with another value in each call', () => {
    const tagged = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) =>
        callRowOf({ at: NOON, number: from + index, tags: { job: `job ${from + index}` } }),
      )
    const totalsOfTag = (span: 'hour' | 'day') =>
      store.read(
        store.db
          .selectFrom('usage')
          .select(['name', 'requests'])
          .where('dimension', '=', 'tag:job')
          .where('scope', '=', '')
          .where('span', '=', span),
      )

    it('keeps the totals of 500 values a day, and counts the others together', async () => {
      for (let from = 0; from < 1600; from += 400) await writer.write(tagged(from, 400))
      for (const span of ['hour', 'day'] as const) {
        const rows = await totalsOfTag(span)
        expect(rows).to.have.length(501)
        expect(rows.find(({ name }) => name === 'other')?.requests).to.equal(1100)
      }
      expect((await calls()).at(-1)?.tags).to.equal('{"job":"job 1599"}')
    })

    it('keeps those of other accounts', async () => {
      await writer.write(tagged(0, 600))
      await writer.write([{ ...callRowOf({ at: NOON, number: 600, tags: { job: 'ours' } }), account_id: 'acc_others' }])
      expect((await totalsOfTag('day')).find(({ name }) => name === 'ours')?.requests).to.equal(1)
    })

    it('keeps those of 2,000 values of all accounts together', async () => {
      for (let account = 0; account < 5; account++)
        await writer.write(tagged(500 * account, 500).map((row) => ({ ...row, account_id: `acc_${account}` })))
      const rows = await totalsOfTag('day')
      expect(rows).to.have.length(2001)
      expect(rows.find(({ name }) => name === 'other')?.requests).to.equal(500)
    })

    it('does so across a restart', async () => {
      await writer.write(tagged(0, 500))
      await createCallWriter(store).write(tagged(499, 3))
      const rows = await totalsOfTag('day')
      expect(rows).to.have.length(501)
      expect(rows.find(({ name }) => name === 'job 499')?.requests).to.equal(1)
      expect(rows.find(({ name }) => name === 'other')?.requests).to.equal(2)
    })
  })

  it('keeps the totals of 500 models of an account a day: clients may make up their names', async () => {
    await writer.write(
      Array.from({ length: 600 }, (_, number) => ({ ...callRowOf({ at: NOON, number }), model: `vendor/made-up-${number}` })),
    )
    const rows = await store.read(
      store.db
        .selectFrom('usage')
        .select(['name', 'requests'])
        .where('dimension', '=', 'model')
        .where('scope', '=', '')
        .where('span', '=', 'day'),
    )
    expect(rows).to.have.length(501)
    expect(rows.find(({ name }) => name === 'other')?.requests).to.equal(100)
  })

  describe('of costs', () => {
    const cost = (nanoUsd: number) => ({ outcome: { cost: { nanoUsd, price: 'test' } } })
    const sums = async () => (await totals()).map(({ cost, requests, priced }) => ({ cost, requests, priced }))[0]

    it('adds them up, and counts the calls whose cost is unknown', async () => {
      await writer.write([callRowOf({ number: 1, ...cost(7) }), callRowOf({ number: 2, ...cost(0) }), callRowOf({ number: 3 })])
      await writer.write([
        callRowOf({ number: 4, ...cost(1_000_000_001) }),
        callRowOf({ number: 5, outcome: { usage: undefined } }),
      ])
      expect(await sums()).to.deep.equal({ cost: 1_000_000_008, requests: 5, priced: 4 })
    })

    it('keeps a sum readable that is too large to be exact', async () => {
      const most = Number.MAX_SAFE_INTEGER
      await writer.write([callRowOf({ number: 1, ...cost(most) }), callRowOf({ number: 2, ...cost(most) })])
      await writer.write([callRowOf({ number: 3, ...cost(most) })])
      expect((await sums())?.cost).to.equal(most)
    })

    it('leaves those of calls unknown that a gateway of the version before has written', async () => {
      const { cost: _, currency, price, ...call } = callRowOf({ at: NOON, number: 1 })
      await store.db
        .insertInto('calls')
        .values(call as CallsTable)
        .execute()
      const columns = { errors: 0, input_tokens: 10, output_tokens: 5, cached_tokens: 0, reasoning_tokens: 0 }
      const row = {
        span: 'day',
        at: Date.UTC(2026, 4, 17),
        dimension: 'all',
        scope: '',
        name: '',
        requests: 1,
        ...columns,
      } as const
      await store.db
        .insertInto('usage')
        .values(row as never)
        .execute()
      await writer.write([callRowOf({ at: NOON, number: 2, ...cost(5) })])
      expect((await calls()).map((each) => each.cost)).to.deep.equal([null, 5])
      const days = (await totals()).filter(({ span }) => span === 'day')
      expect(days.map(({ requests, priced, cost: sum }) => [requests, priced, sum])).to.deep.equal([[2, 1, 5]])
    })
  })

  it('does not make gateways reload their keys', async () => {
    await store.changed()
    await writer.write([callRowOf()])
    expect(await store.changed()).to.equal(false)
  })

  it('writes any values of clients, upstreams and plugins', async () => {
    let written = 0
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { minLength: 1 }), async (rows) => {
        await writer.write(rows)
        written += rows.length
      }),
      { numRuns: 20 },
    )
    expect(await calls()).to.have.length(written)
  })

  it('removes rows older than the horizon, in several steps, and no others', async () => {
    const old = Array.from({ length: 700 }, (_, number) => callRowOf({ at: NOON, number, key: `key_${number}` }))
    const young = callRowOf({ at: NOON + 3 * DAY_MS })
    for (const rows of [old.slice(0, 350), old.slice(350), [young]]) await writer.write(rows)
    const horizon = { calls: NOON + DAY_MS, days: NOON - DAY_MS }
    let steps = 0
    while (await writer.remove(horizon)) steps += 1
    expect(steps).to.be.greaterThan(1)
    expect((await calls()).map(({ id }) => id)).to.deep.equal([young.id])
    expect((await totals()).map(({ span }) => span)).to.deep.equal(['day', 'day', 'hour'])
    while (await writer.remove({ calls: NOON + DAY_MS, days: NOON + DAY_MS }));
    expect((await totals()).filter(({ span }) => span === 'day')).to.have.length(1)
  })
})
