import { expect } from 'chai'
import { sql } from 'kysely'
import { createAccount } from '../../../core/accounts/accounts.ts'
import { openStore, type Store } from '../../../core/store/database.ts'
import { type CallWriter, createCallWriter } from '../../../core/usage/call-writer.ts'
import type { UsageQuery } from '../../../core/usage/usage-report.ts'
import { reportUsage, type UsageReport } from '../../../core/usage/usage-report.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { rowOf, type Told } from './outcome.ts'

const MIDNIGHT = Date.UTC(2026, 4, 17)
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Two days. */
const DAYS = { from: MIDNIGHT, to: MIDNIGHT + 2 * DAY_MS, step: 'day' } as const

const at = (day: number): number => MIDNIGHT + day * DAY_MS

onEachDatabase('usage', (create) => {
  let store: Store
  let writer: CallWriter
  let write: (calls: readonly Told[]) => Promise<void>

  beforeEach(async () => {
    store = await openStore(await create())
    writer = createCallWriter(store)
    write = (calls) => writer.write(calls.map((told, number) => rowOf({ at: at(0), number, ...told })))
  })

  afterEach(async () => {
    await writer?.close()
    await store?.close()
  })

  const report = (query: Partial<UsageQuery>): Promise<UsageReport> => reportUsage(store, { ...DAYS, group: 'model', ...query })

  /** The requests of each group, day by day. */
  const requests = ({ groups, series }: UsageReport): Record<string, number[]> =>
    Object.fromEntries(groups.map(({ label }, place) => [label, series.map(({ values }) => values[place]!.requests)]))

  it('adds calls up by model, the largest first, with zeros where there were none', async () => {
    await write([{ model: 'a/small' }, { model: 'a/large' }, { model: 'a/large', at: at(1) }, { model: 'a/large', at: at(1) }])
    const answer = await report({})
    expect(Object.entries(requests(answer))).to.deep.equal([
      ['a/large', [1, 2]],
      ['a/small', [1, 0]],
    ])
    expect(answer.series.map(({ t }) => t)).to.deep.equal(['2026-05-17T00:00:00.000Z', '2026-05-18T00:00:00.000Z'])
    expect(answer.totals).to.include({ requests: 4, errors: 0, input_tokens: 40, output_tokens: 20 })
  })

  it('calls keys and accounts by their names', async () => {
    const account = await createAccount(store, { name: 'Research', models: ['*'], rateClass: null }, { id: 'test', name: 'test' })
    await write([
      { account: account.id, key: 'routes:nightly' },
      { account: account.id, key: 'key_gone' },
      { account: 'default' },
    ])
    expect(requests(await report({ group: 'account' }))).to.deep.equal({ Research: [2, 0], default: [1, 0] })
    expect(requests(await report({ group: 'key' }))).to.deep.equal({ nightly: [1, 0], key_gone: [1, 0], key_one: [1, 0] })
  })

  it('tells of one account alone', async () => {
    await write([{ account: 'acc_a' }, { account: 'acc_b', model: 'secret/model' }])
    const answer = await report({ account: 'acc_a' })
    expect(answer.totals.requests).to.equal(1)
    expect(JSON.stringify(answer)).not.to.include('secret')
  })

  it('puts calls without a tag into a group of their own', async () => {
    await write([{ tags: { team: 'search' } }, {}, { tags: { stage: 'test' } }])
    expect(requests(await report({ group: 'tag:team' }))).to.deep.equal({ search: [1, 0], none: [2, 0] })
    expect(requests(await report({ group: 'tag:unheard-of' }))).to.deep.equal({ none: [3, 0] })
  })

  it('puts all after the first twenty into one group', async () => {
    const calls = Array.from({ length: 25 }, (_, number) => ({ key: `key_${number}` }))
    await write([...calls, ...calls.slice(0, 20)])
    const answer = await report({ group: 'key' })
    expect(answer.groups).to.have.length(21)
    expect(answer.groups.at(-1)).to.deep.equal({ name: '*', label: 'all others' })
    expect(requests(answer)['all others']).to.deep.equal([5, 0])
    expect(answer.totals.requests).to.equal(45)
  })

  it('finds the first twenty of very many, most of whom make a call now and then', async () => {
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

  it('tells hours, the first and the last of them whole', async () => {
    await write([{ at: at(0) + 10 }, { at: at(0) + HOUR_MS + 10 }, { at: at(0) + 2 * HOUR_MS }])
    const answer = await report({ from: at(0) + 1000, to: at(0) + HOUR_MS + 1, step: 'hour' })
    expect(requests(answer)).to.deep.equal({ 'openai/gpt-5.5': [1, 1] })
  })

  it('tells of nothing where there is nothing', async () => {
    const answer = await report({})
    expect(answer).to.deep.include({
      groups: [],
      totals: { requests: 0, errors: 0, input_tokens: 0, output_tokens: 0, cached_tokens: 0, reasoning_tokens: 0 },
    })
    expect(answer.series.map(({ values }) => values)).to.deep.equal([[], []])
  })

  it('is no way into the database', async () => {
    await write([{}])
    expect(requests(await report({ group: "tag:x' or '1'='1" }))).to.deep.equal({ none: [1, 0] })
  })
})
