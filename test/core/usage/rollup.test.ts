import { expect } from 'chai'
import type { UsageTable } from '../../../core/store/schema.ts'
import { rollUp } from '../../../core/usage/rollup.ts'
import { rowOf, type Told } from './outcome.ts'

const NOON = Date.UTC(2026, 4, 17, 12, 30)
const HOUR_MS = 3_600_000

const tallied = (...calls: Told[]): UsageTable[] => rollUp(calls.map((told, number) => rowOf({ at: NOON, number, ...told })))

/** How many requests stand in a place. */
function requests(rows: readonly UsageTable[], place: Partial<UsageTable>): number | undefined {
  const found = rows.filter((row) => Object.entries(place).every(([column, value]) => row[column as keyof UsageTable] === value))
  expect(found.length).to.be.at.most(1)
  return found[0]?.requests
}

describe('the sums of calls', () => {
  it('count each call for itself, its model and its tags, for all accounts and for its own; and for its key', () => {
    const rows = tallied({ tags: { team: 'search', stage: 'test' } })
    const places = rows.filter(({ span }) => span === 'day').map(({ dimension, scope, name }) => [dimension, scope, name])
    expect(places).to.have.deep.members([
      ...['', 'default'].flatMap((scope) => [
        ['all', scope, ''],
        ['model', scope, 'openai/gpt-5.5'],
        ['tag:team', scope, 'search'],
        ['tag:stage', scope, 'test'],
      ]),
      ['key', 'default', 'key_one'],
    ])
  })

  it('count a call of nobody once', () => {
    const nobody = rowOf({ error: 'invalid_api_key' })
    const rows = rollUp([{ ...nobody, account_id: null, key_id: null, model: null }])
    const places = rows.filter(({ span }) => span === 'day').map(({ dimension, scope, name }) => [dimension, scope, name])
    expect(places).to.have.deep.members([
      ['all', '', ''],
      ['model', '', ''],
      ['key', '', ''],
    ])
  })

  it('add up by the hour and by the day, in UTC', () => {
    const rows = tallied({ at: NOON }, { at: NOON + HOUR_MS }, { at: NOON + 12 * HOUR_MS })
    const all = { dimension: 'all', scope: '' }
    expect(requests(rows, { ...all, span: 'hour', at: Date.UTC(2026, 4, 17, 12) })).to.equal(1)
    expect(requests(rows, { ...all, span: 'hour', at: Date.UTC(2026, 4, 17, 13) })).to.equal(1)
    expect(requests(rows, { ...all, span: 'day', at: Date.UTC(2026, 4, 17) })).to.equal(2)
    expect(requests(rows, { ...all, span: 'day', at: Date.UTC(2026, 4, 18) })).to.equal(1)
  })

  it('stand once for all accounts and once for each', () => {
    const rows = tallied({ account: 'acc_a' }, { account: 'acc_a' }, { account: 'acc_b' })
    const models = { span: 'day', dimension: 'model' } as const
    expect(requests(rows, { ...models, scope: '' })).to.equal(3)
    expect(requests(rows, { ...models, scope: 'acc_a' })).to.equal(2)
    expect(requests(rows, { ...models, scope: 'acc_b' })).to.equal(1)
  })

  it('add tokens of every class', () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 30 },
      completion_tokens_details: { reasoning_tokens: 20 },
    }
    const [row] = tallied({ outcome: { usage } }, { outcome: { usage } }, { outcome: { usage: undefined } })
    expect(row).to.include({ requests: 3, input_tokens: 200, output_tokens: 100, cached_tokens: 60, reasoning_tokens: 40 })
  })

  it('count as errors what failed, not whom nobody waited for', () => {
    const left = { outcome: { kind: 'client_closed', status: 499 } } as const
    const [row] = tallied({}, { error: 'upstream_timeout' }, { error: 'rate_limit_requests' }, left)
    expect(row).to.include({ requests: 4, errors: 2 })
  })

  it('leave out lists of models', () => {
    expect(tallied({ outcome: { endpoint: 'models' } })).to.deep.equal([])
  })

  it('give no place to a model that does not exist: it is whatever the client wrote', () => {
    const rows = tallied({ error: 'model_not_found', model: 'openai/made-up' })
    expect(requests(rows, { span: 'day', dimension: 'model', scope: '', name: '' })).to.equal(1)
    expect(JSON.stringify(rows)).not.to.include('made-up')
  })

  it('come in one order, whatever the order of the calls', () => {
    const calls = [{ account: 'b' }, { account: 'a' }, { model: 'x/y' }, { key: 'key_0' }]
    expect(tallied(...calls.toReversed())).to.deep.equal(tallied(...calls))
  })
})
