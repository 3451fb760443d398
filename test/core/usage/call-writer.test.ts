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
