import { expect } from 'chai'
import { sql } from 'kysely'
import { createAccount } from '../../../core/accounts/accounts.ts'
import { openStore, type Store } from '../../../core/store/database.ts'
import { type CallWriter, createCallWriter } from '../../../core/usage/call-writer.ts'
import type { UsageQuery } from '../../../core/usage/usage-report.ts'
import { reportUsage, type UsageReport } from '../../../core/usage/usage-report.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { type CallFields, callRowOf } from './outcome.ts'

const MIDNIGHT = Date.UTC(2026, 4, 17)
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Two days. */
const DAYS = { from: MIDNIGHT, to: MIDNIGHT + 2 * DAY_MS, step: 'day' } as const

const at = (day: number): number => MIDNIGHT + day * DAY_MS

onEachDatabase('usage', (create) => {
  let store: Store
  let writer: CallWriter
  let write: (calls: readonly CallFields[]) => Promise<number>

  beforeEach(async () => {
    store = await openStore(await create())
    writer = createCallWriter(store)
    write = (calls) => writer.write(calls.map((call, number) => callRowOf({ at: at(0), number, ...call })))
  })

  afterEach(async () => {
    await store?.close()
  })

  const report = (query: Partial<UsageQuery>): Promise<UsageReport> => reportUsage(store, { ...DAYS, group: 'model', ...query })

  /** The requests of each group, day by day. */
  const requests = ({ groups, series }: UsageReport): Record<string, number[]> =>
    Object.fromEntries(groups.map(({ label }, place) => [label, series.map(({ values }) => values[place]!.requests)]))

  it('is grouped by model, the largest first, with zeros for steps without calls', async () => {
    await write([{ model: 'a/small' }, { model: 'a/large' }, { model: 'a/large', at: at(1) }, { model: 'a/large', at: at(1) }])
    const answer = await report({})
    expect(Object.entries(requests(answer))).to.deep.equal([
      ['a/large', [1, 2]],
      ['a/small', [1, 0]],
    ])
    expect(answer.series.map(({ t }) => t)).to.deep.equal(['2026-05-17T00:00:00.000Z', '2026-05-18T00:00:00.000Z'])
    expect(answer.totals).to.include({ requests: 4, errors: 0, input_tokens: 40, output_tokens: 20 })
  })

  it('has the names of keys and accounts as labels', async () => {
    const account = await createAccount(store, { name: 'Research', models: ['*'], rateClass: null }, { id: 'test', name: 'test' })
    await write([
      { account: account.id, key: 'routes:nightly' },
      { account: account.id, key: 'key_gone' },
      { account: 'default' },
    ])
    expect(requests(await report({ group: 'account' }))).to.deep.equal({ Research: [2, 0], default: [1, 0] })
    expect(requests(await report({ group: 'key' }))).to.deep.equal({ nightly: [1, 0], key_gone: [1, 0], key_one: [1, 0] })
  })

  it('is limited to one account', async () => {
    await write([{ account: 'acc_a' }, { account: 'acc_b', model: 'secret/model' }])
    const answer = await report({ account: 'acc_a' })
    expect(answer.totals.requests).to.equal(1)
    expect(JSON.stringify(answer)).not.to.include('secret')
  })

  it('has a group of calls without the tag', async () => {
    await write([{ tags: { team: 'search' } }, {}, { tags: { env: 'test' } }])
    expect(requests(await report({ group: 'tag:team' }))).to.deep.equal({ search: [1, 0], none: [2, 0] })
    expect(requests(await report({ group: 'tag:unknown' }))).to.deep.equal({ none: [3, 0] })
  })

  it('has one group for all after the first twenty', async () => {
    const calls = Array.from({ length: 25 }, (_, number) => ({ key: `key_${number}` }))
    await write([...calls, ...calls.slice(0, 20)])
    const answer = await report({ group: 'key' })
    expect(answer.groups).to.have.length(21)
    expect(answer.groups.at(-1)).to.deep.equal({ name: '*', label: 'all others' })
    expect(requests(answer)['all others']).to.deep.equal([5, 0])
    expect(answer.totals.requests).to.equal(45)
  })

  it('finds the first twenty of very many groups, most with one request a day', async () => {
    const day = sql.lit(MIDNIGHT)
    const numbers = sql`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 100001)`
    await sql`
      insert into usage (span, at, dimension, scope, name, requests, errors, input_tokens, output_tokens, cached_tokens, reasoning_tokens)
      ${numbers} select 'day', ${day}, 'key', '', 'key_' || n, 1, 0, 0, 0, 0, 0 from numbers
    `.execute(store.db)
    expect((await report({ group: 'key' })).groups).to.have.length(20)
    await write(Array.from({ length: 50 }, (_, number) => ({ key: `key_busy_${number % 25}` })))
    await write([{ number: 100, key: 'key_busy_24' }])
    const { groups } = await report({ group: 'key' })
    expect(groups[0]!.name).to.equal('key_busy_24')
    expect(groups.slice(0, 20).every(({ name }) => name.startsWith('key_busy_'))).to.equal(true)
  })

  it('has whole hours as its first and last step', async () => {
    await write([{ at: at(0) + 10 }, { at: at(0) + HOUR_MS + 10 }, { at: at(0) + 2 * HOUR_MS }])
    const answer = await report({ from: at(0) + 1000, to: at(0) + HOUR_MS + 1, step: 'hour' })
    expect(requests(answer)).to.deep.equal({ 'openai/gpt-5.5': [1, 1] })
  })

  it('has the days of a time zone as sums of hours', async () => {
    // Two hours before midnight of UTC it is the next day in Berlin.
    await write([{ at: at(0) + 21 * HOUR_MS }, { at: at(0) + 22 * HOUR_MS }, { at: at(0) + 23 * HOUR_MS }])
    const answer = await report({ from: at(0), to: at(1), timeZone: 'Europe/Berlin' })
    expect(requests(answer)).to.deep.equal({ 'openai/gpt-5.5': [1, 2] })
    expect(answer.series.map(({ t }) => t)).to.deep.equal(['2026-05-16T22:00:00.000Z', '2026-05-17T22:00:00.000Z'])
  })

  it('is empty without calls', async () => {
    const answer = await report({})
    expect(answer).to.deep.include({
      groups: [],
      totals: {
        requests: 0,
        errors: 0,
        input_tokens: 0,
        output_tokens: 0,
        cached_tokens: 0,
        reasoning_tokens: 0,
        cost: 0,
        saved: 0,
        priced: 0,
      },
    })
    expect(answer.series.map(({ values }) => values)).to.deep.equal([[], []])
  })

  it('is safe against SQL in the name of a tag', async () => {
    await write([{}])
    expect(requests(await report({ group: "tag:x' or '1'='1" }))).to.deep.equal({ none: [1, 0] })
  })
})
