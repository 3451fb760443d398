import { expect } from 'chai'
import type { UsageTable } from '../../../core/store/schema.ts'
import { rollUp } from '../../../core/usage/rollup.ts'
import { type CallFields, callRowOf } from './outcome.ts'

const NOON = Date.UTC(2026, 4, 17, 12, 30)
const HOUR_MS = 3_600_000

/** Few names: each counts as itself. */
const ownName = (_scope: string, _call: object, _dimension: string, name: string): string => name

const rolledUp = (...calls: CallFields[]): UsageTable[] =>
  rollUp(
    calls.map((call, number) => callRowOf({ at: NOON, number, ...call })),
    ownName,
  )

/** The requests of the one row with these columns; undefined if absent. */
function requests(rows: readonly UsageTable[], columns: Partial<UsageTable>): number | undefined {
  const found = rows.filter((row) =>
    Object.entries(columns).every(([column, value]) => row[column as keyof UsageTable] === value),
  )
  expect(found.length).to.be.at.most(1)
  return found[0]?.requests
}

describe('the totals of calls', () => {
  it('count each call in total, for its model and for its tags, in all accounts and in its own; and for its key', () => {
    const rows = rolledUp({ tags: { team: 'search', env: 'test' } })
    const keys = rows.filter(({ span }) => span === 'day').map(({ dimension, scope, name }) => [dimension, scope, name])
    expect(keys).to.have.deep.members([
      ...['', 'default'].flatMap((scope) => [
        ['all', scope, ''],
        ['model', scope, 'openai/gpt-5.5'],
        ['tag:team', scope, 'search'],
        ['tag:env', scope, 'test'],
      ]),
      ['key', 'default', 'key_one'],
    ])
  })

  it('count a call without an account once', () => {
    const refused = callRowOf({ error: 'invalid_api_key' })
    const rows = rollUp([{ ...refused, account_id: null, key_id: null, model: null }], ownName)
    const keys = rows.filter(({ span }) => span === 'day').map(({ dimension, scope, name }) => [dimension, scope, name])
    expect(keys).to.have.deep.members([
      ['all', '', ''],
      ['model', '', ''],
      ['key', '', ''],
    ])
  })

  it('are by the hour and by the day, in UTC', () => {
    const rows = rolledUp({ at: NOON }, { at: NOON + HOUR_MS }, { at: NOON + 12 * HOUR_MS })
    const all = { dimension: 'all', scope: '' }
    expect(requests(rows, { ...all, span: 'hour', at: Date.UTC(2026, 4, 17, 12) })).to.equal(1)
    expect(requests(rows, { ...all, span: 'hour', at: Date.UTC(2026, 4, 17, 13) })).to.equal(1)
    expect(requests(rows, { ...all, span: 'day', at: Date.UTC(2026, 4, 17) })).to.equal(2)
    expect(requests(rows, { ...all, span: 'day', at: Date.UTC(2026, 4, 18) })).to.equal(1)
  })

  it('are for all accounts and for each account', () => {
    const rows = rolledUp({ account: 'acc_a' }, { account: 'acc_a' }, { account: 'acc_b' })
    const models = { span: 'day', dimension: 'model' } as const
    expect(requests(rows, { ...models, scope: '' })).to.equal(3)
    expect(requests(rows, { ...models, scope: 'acc_a' })).to.equal(2)
    expect(requests(rows, { ...models, scope: 'acc_b' })).to.equal(1)
  })

  it('include tokens of every type', () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 30 },
      completion_tokens_details: { reasoning_tokens: 20 },
    }
    const [row] = rolledUp({ outcome: { usage } }, { outcome: { usage } }, { outcome: { usage: undefined } })
    expect(row).to.include({ requests: 3, input_tokens: 200, output_tokens: 100, cached_tokens: 60, reasoning_tokens: 40 })
  })

  it('count failed calls as errors, not those that their client left', () => {
    const left = { outcome: { kind: 'client_closed', status: 499 } } as const
    const [row] = rolledUp({}, { error: 'upstream_timeout' }, { error: 'rate_limit_requests' }, left)
    expect(row).to.include({ requests: 4, errors: 2 })
  })

  it('leave out lists of models', () => {
    expect(rolledUp({ outcome: { endpoint: 'models' } })).to.deep.equal([])
  })

  it('have no row for a model that does not exist: the client wrote its name', () => {
    const rows = rolledUp({ error: 'model_not_found', model: 'openai/made-up' })
    expect(requests(rows, { span: 'day', dimension: 'model', scope: '', name: '' })).to.equal(1)
    expect(JSON.stringify(rows)).not.to.include('made-up')
  })

  it('are sorted, in any order of the calls', () => {
    const calls = [{ account: 'b' }, { account: 'a' }, { model: 'x/y' }, { key: 'key_0' }]
    expect(rolledUp(...calls.toReversed())).to.deep.equal(rolledUp(...calls))
  })
})
