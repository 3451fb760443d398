import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { expect } from 'chai'
import type { CompiledQuery } from 'kysely'
import { Client } from 'pg'
import { openStore, type Store, sqliteFileOf } from '../../../core/store/database.ts'
import { type CallWriter, createCallWriter } from '../../../core/usage/call-writer.ts'
import { allCalls, type CallFilter, findCall, findCalls } from '../../../core/usage/calls.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { type CallFields, callRowOf } from './outcome.ts'

const NOON = Date.UTC(2026, 4, 17, 12)
const MINUTE_MS = 60_000

/** One call a minute; tests refer to calls by index. */
const CALLS: readonly CallFields[] = [
  { model: 'openai/gpt-5.5' },
  { model: 'openai/gpt-5.5', key: 'key_two' },
  { model: 'openai/gpt-5.5', account: 'acc_other', key: 'key_three' },
  { model: 'openai/%', error: 'model_not_found', outcome: { kind: 'client_error' } },
  { error: 'upstream_timeout' },
  { error: 'rate_limit_tokens' },
  // Ended early, after the head.
  { error: 'upstream_disconnected', outcome: { status: 200 } },
  { outcome: { kind: 'client_closed', status: 499 } },
]

const at = (minute: number): number => NOON + minute * MINUTE_MS
const idOf = (number: number): string => callRowOf({ at: at(number), number }).id

const FILTERS: readonly (readonly [name: string, filter: CallFilter, found: readonly number[]])[] = [
  ['all', {}, [7, 6, 5, 4, 3, 2, 1, 0]],
  ['those of an account', { account: 'acc_other' }, [2]],
  ['those of a key', { key: 'key_two' }, [1]],
  ['those of a model', { model: 'openai/gpt-5.5' }, [7, 6, 5, 4, 2, 1, 0]],
  ['a model whose name is a wildcard', { model: 'openai/%' }, [3]],
  ['those of a status', { status: 200 }, [6, 2, 1, 0]],
  ['those that failed with a status', { status: 504 }, [4]],
  ['those that their client left', { status: 499 }, [7]],
  ['those with a fault of the upstream', { fault: 'upstream' }, [6, 4]],
  ['those with a fault of the caller, who left one', { fault: 'caller' }, [7, 3]],
  ['those from a time on', { from: at(6) }, [7, 6]],
  ['those before a time', { to: at(2) }, [1, 0]],
  ['those of a time range', { from: at(2), to: at(4) }, [3, 2]],
  ['those from a time before 1970 on', { from: Date.UTC(1900), to: at(1) }, [0]],
  ['those with a prefix of the id', { q: idOf(5).slice(0, 16) }, [5]],
  ['the one with the id', { q: idOf(5) }, [5]],
  ['the one with the id, without its `req_`', { q: idOf(5).slice(4) }, [5]],
  ['the failed one whose id ends in eight characters', { q: idOf(4).slice(-8) }, [4]],
  ['the good one whose id ends in eight characters', { q: idOf(1).slice(-8) }, [1]],
  ['one by the end of its id, as the console shows it', { q: `req_…${idOf(4).slice(-8)}` }, [4]],
  ['all whose ids end in four characters', { q: '0002' }, [2]],
  ['none of another account by the end of its id', { account: 'acc_other', q: idOf(4).slice(-8) }, []],
  [
    'those of all filters together',
    { account: 'default', model: 'openai/gpt-5.5', fault: 'upstream', status: 504, from: at(0), to: at(9) },
    [4],
  ],
  ['none, for the wildcard % of SQL', { q: '%' }, []],
  ['none, for the wildcard _ of SQL', { q: `${idOf(5).slice(0, -1)}_` }, []],
  ['none, for SQL', { q: "' or '1'='1" }, []],
  ['none, for SQL in a model', { model: "x' or '1'='1' --" }, []],
]

onEachDatabase('calls', (create) => {
  let url: string
  let store: Store
  let writer: CallWriter
  const write = (calls: readonly CallFields[]) => writer.write(calls.map(callRowOf))

  before(async () => {
    url = await create()
    store = await openStore(url)
    writer = createCallWriter(store)
    await write(CALLS.map((call, number) => ({ at: at(number), number, ...call })))
  })

  after(async () => {
    await store?.close()
  })

  for (const [name, filter, found] of FILTERS) {
    it(`are found: ${name}`, async () => {
      const calls = await findCalls(store, filter, { limit: 100 })
      expect(calls.map(({ id }) => id)).to.deep.equal(found.map(idOf))
    })
  }

  it('are found by their complete id, and by no other', async () => {
    expect(await findCall(store, idOf(3))).to.include({ id: idOf(3), model: 'openai/%' })
    for (const id of [idOf(3).slice(0, -1), '', '%', "' or 1=1 --"]) expect(await findCall(store, id), id).to.equal(undefined)
  })

  it('are read page by page, each once, though others are added between the pages', async () => {
    const seen: string[] = []
    let before: string | undefined
    for (;;) {
      const page = await findCalls(store, { to: at(100) }, { limit: 3, ...(before !== undefined && { before }) })
      if (page.length === 0) break
      seen.push(...page.map(({ id }) => id))
      before = page.at(-1)!.id
      // A new call, and a long one: it began before all others and is written only now.
      await write([
        { at: at(200), number: seen.length },
        { at: at(-1), number: 100 + seen.length },
      ])
    }
    const known = CALLS.map((_, number) => idOf(number)).toReversed()
    expect(seen.slice(0, known.length)).to.deep.equal(known)
    expect(new Set(seen)).to.have.length(seen.length)
  })

  it('are all read, in several pages', async () => {
    const account = 'acc_many'
    await write(Array.from({ length: 500 }, (_, number) => ({ at: at(300), number, account })))
    await write([{ at: at(301), account }])
    const pages = await Array.fromAsync(allCalls(store, { account }))
    expect(pages.map(({ length }) => length)).to.deep.equal([500, 1])
  })

  it('that failed are found by the end of their id by an index, and so at once among all others', async () => {
    const failed = Array.from({ length: 2000 }, (_, number) => ({ at: at(400), number, error: 'upstream_timeout' as const }))
    await write(failed)
    const queries: CompiledQuery[] = []
    const read: Store['read'] = (query) => {
      queries.push(query.compile())
      return store.read(query)
    }
    const calls = await findCalls({ ...store, read }, { q: callRowOf(failed[1234]).id.slice(-8) }, { limit: 2 })
    expect(calls.map(({ id }) => id)).to.deep.equal([callRowOf(failed[1234]).id])
    const plans = await Promise.all(queries.map((query) => planOf(url, query)))
    expect(plans).to.have.length(3)
    expect(plans[1]).to.match(/failed_calls_by_end/)
    for (const plan of plans) expect(plan).to.not.match(/seq scan|scan calls/i)
  })

  it('are found at once by their whole id: no query looks for its end', async () => {
    const written = Array.from({ length: 2000 }, (_, number) => ({ at: at(400), number }))
    await write(written)
    const { id } = callRowOf(written[1234])
    const queries: CompiledQuery[] = []
    const read: Store['read'] = (query) => {
      queries.push(query.compile())
      return store.read(query)
    }
    expect(await findCalls({ ...store, read }, { q: id }, { limit: 2 })).to.have.length(1)
    expect(queries).to.have.length(1)
  })
})

/** How the database carries out a query, as it says itself. */
async function planOf(url: string, { sql, parameters }: CompiledQuery): Promise<string> {
  const file = sqliteFileOf(url)
  if (file !== undefined) {
    const database = new DatabaseSync(file)
    const plan = database.prepare(`explain query plan ${sql}`).all(...(parameters as SQLInputValue[]))
    database.close()
    return JSON.stringify(plan)
  }
  const client = new Client(url)
  await client.connect()
  await client.query('analyze calls')
  const { rows } = await client.query(`explain ${sql}`, [...parameters])
  await client.end()
  return JSON.stringify(rows)
}
