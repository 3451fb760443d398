import { expect } from 'chai'
import { listRequestsCommand, showRequestCommand, usageCommand } from '../../../core/cli/calls/calls.ts'
import { openStore } from '../../../core/store/database.ts'
import { createCallWriter } from '../../../core/usage/call-writer.ts'
import type { CallView } from '../../../core/usage/calls.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { runCommand } from '../../support/run-command.ts'
import { callRowOf } from './outcome.ts'

const NOON = Date.UTC(2026, 4, 17, 12)
const DAY = { from: NOON, to: NOON + 1 }

const CALLS = [
  callRowOf({ at: NOON, number: 1, model: 'a/one' }),
  callRowOf({ at: NOON, number: 2, model: 'a/two', error: 'upstream_timeout', tags: { team: 'search' } }),
  callRowOf({ at: NOON, number: 3, model: 'a/two' }),
]

onEachDatabase('umg requests and umg usage', (create) => {
  let database: string
  before(async () => {
    database = await create()
    const store = await openStore(database)
    const writer = createCallWriter(store)
    await writer.write(CALLS)
    await store.close()
  })

  const at = () => ({ data: 'unused', database })
  const show = (id: string, json = false) => runCommand((io) => showRequestCommand({ ...at(), id, json }, io))
  const list = (options: object = {}) => runCommand((io) => listRequestsCommand({ ...at(), limit: 50, ...options }, io))
  const usage = (options: object = {}) => runCommand((io) => usageCommand({ ...at(), ...DAY, group: 'model', ...options }, io))
  const columns = ({ stdout }: { readonly stdout: string }) =>
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/))

  it('show a request, a line for each field', async () => {
    const shown = await show(CALLS[1]!.id)
    expect(shown.code).to.equal(0)
    expect(columns(shown)).to.deep.include.members([
      ['id', CALLS[1]!.id],
      ['at', '2026-05-17T12:00:00.000Z'],
      ['served by', 'openai/gpt-5.5 (openai-compatible)'],
      ['status', '504, upstream_error'],
      ['fault', 'upstream'],
      ['link 1', 'auth: 0.05 ms'],
      ['link 2', 'audit: 2.5 ms'],
      ['attempt 1', 'openai/gpt-5.5: upstream_timeout, 90.5 ms'],
      ['tokens', '10 in (0 cached), 5 out (0 reasoning)'],
      ['tag team', 'search'],
    ])
  })

  it('show a request as the JSON of the management API', async () => {
    const { stdout } = await show(CALLS[0]!.id, true)
    expect(JSON.parse(stdout) as CallView).to.deep.include({
      id: CALLS[0]!.id,
      ms: { total: 100.25, first_byte: 20, overhead: 1.5 },
    })
  })

  it('show the only request with a prefix of its id, and refuse a prefix of several or none', async () => {
    expect((await show(CALLS[2]!.id.slice(4))).code).to.equal(0)
    expect((await show(CALLS[2]!.id.slice(-8))).code).to.equal(0)
    const several = await show('req_')
    expect(several.code).to.equal(1)
    expect(several.stderr).to.include('several requests have ids like this')
    const none = await show('req_nothing')
    expect(none.code).to.equal(1)
    expect(none.stderr).to.include('There is no request with this id. The command `list` shows them all.')
  })

  it('list requests, newest first', async () => {
    expect(columns(await list({ limit: 2 }))).to.deep.equal([
      ['ID', 'AT', 'KEY', 'MODEL', 'STATUS', 'OUTCOME', 'FAULT', 'MS', 'TOKENS'],
      [CALLS[2]!.id, '2026-05-17T12:00:00.000Z', 'key_one', 'a/two', '200', 'ok', '-', '100', '10+5'],
      [CALLS[1]!.id, '2026-05-17T12:00:00.000Z', 'key_one', 'a/two', '504', 'upstream_error', 'upstream', '100', '10+5'],
    ])
  })

  it('list requests by filter, also as CSV and JSON Lines', async () => {
    const failed = await list({ fault: 'upstream', format: 'csv' })
    expect(failed.stdout.trimEnd().split('\r\n')).to.have.length(2)
    const { stdout } = await list({ model: 'a/two', status: 200, format: 'jsonl' })
    expect(JSON.parse(stdout) as CallView).to.include({ id: CALLS[2]!.id })
    const none = await list({ key: 'key_of_nobody' })
    expect([none.code, none.stdout]).to.deep.equal([0, ''])
    expect(none.stderr).to.include('No requests match.')
  })

  it('report usage with its total', async () => {
    expect(columns(await usage())).to.deep.equal([
      [
        'MODEL',
        'REQUESTS',
        'ERRORS',
        'INPUT TOKENS',
        'OUTPUT TOKENS',
        'CACHED TOKENS',
        'REASONING TOKENS',
        'COST USD',
        'SAVED USD',
        'UNPRICED',
      ],
      ['a/two', '2', '1', '20', '10', '0', '0', 'unknown', 'unknown', '2'],
      ['a/one', '1', '0', '10', '5', '0', '0', 'unknown', 'unknown', '1'],
      ['TOTAL', '3', '1', '30', '15', '0', '0', 'unknown', 'unknown', '3'],
    ])
  })

  it('report usage by a tag and by the hour as JSON Lines', async () => {
    const { stdout } = await usage({ group: 'tag:team', step: 'hour', format: 'jsonl' })
    expect(JSON.parse(stdout)).to.include({ t: '2026-05-17T12:00:00.000Z', name: 'search', requests: 1 })
  })

  it('refuse a time range that ends before it begins', async () => {
    const { code, stderr } = await usage({ to: NOON - 86_400_000 })
    expect(code).to.equal(1)
    expect(stderr).to.include("Invalid value for 'to': it must be later than `from`.")
  })
})
