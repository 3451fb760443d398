import { join } from 'node:path'
import { expect } from 'chai'
import OpenAI from 'openai'
import { openStore, type Store } from '../../../core/store/database.ts'
import { createCallWriter } from '../../../core/usage/call-writer.ts'
import type { CallView } from '../../../core/usage/calls.ts'
import { rowOf, type Told } from '../../core/usage/outcome.ts'
import { type Ended, Home, type Umg } from '../lifecycle/umg.ts'
import { until } from './api-client.ts'

const ROUTES = 'version: 1\nchain: [{ plugin: auth }]\nnamespaces: { box: { provider: sandbox } }\n'
const DAY_MS = 86_400_000

describe('the command line beside a running gateway', () => {
  let home: Home
  let running: Umg | undefined

  beforeEach(async () => {
    home = await Home.create({ 'routes.yaml': ROUTES })
  })

  afterEach(() => home.remove())

  const umg = (...args: string[]): Promise<Ended> => home.run(args).ended

  /** Starts a gateway, and calls it once. Resolves to the request id. */
  async function callOnce(): Promise<string> {
    const { umg, url } = await home.start()
    running = umg
    const [apiKey] = await umg.prints(/sk-test-\w+/)
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey })
    const messages = [{ role: 'user' as const, content: 'Hello!' }]
    const { request_id } = await client.chat.completions.create({ model: 'box/any', messages }).withResponse()
    return request_id!
  }

  /** Runs queries on the gateway's database. A command for each query would be slow. */
  async function withStore<Result>(use: (store: Store) => Promise<Result>): Promise<Result> {
    const store = await openStore(`sqlite:${join(home.path, 'data', 'gateway.db')}`)
    return use(store).finally(() => store.close())
  }

  /** Resolves when the gateway has written a request. */
  const untilWritten = (id: string) =>
    withStore(({ read, db }) =>
      until(
        () => read(db.selectFrom('calls').select('id').where('id', '=', id)),
        (rows) => rows.length === 1,
      ),
    )

  /** Writes calls into the database that the next gateway finds. */
  async function write(calls: readonly Told[]): Promise<void> {
    await withStore(async (store) => {
      const writer = createCallWriter(store)
      await writer.write(calls.map((told, number) => rowOf({ number, ...told })))
      await writer.close()
    })
  }

  it('shows a request, by its id and by how that begins', async () => {
    const id = await callOnce()
    await untilWritten(id)
    const shown = await umg('requests', 'show', id, '--json')
    expect(JSON.parse(shown.stdout) as CallView).to.include({ id, model: 'box/any', status: 200 })
    const { stdout, code } = await umg('requests', 'show', id.slice(0, 20))
    expect(code).to.equal(0)
    expect(stdout)
      .to.include(id)
      .and.to.match(/^attempt 1 +box\/any: ok, \S+ ms$/m)
  })

  it('keeps every request that was written when the gateway is killed, and the database whole', async () => {
    const id = await callOnce()
    await untilWritten(id)
    running!.signal('SIGKILL')
    await running!.ended
    const { umg: again } = await home.start()
    expect(again.stderr).not.to.match(/damaged/)
    expect((await umg('requests', 'show', id)).code).to.equal(0)
  })

  it('writes the last request down when the gateway is told to end', async () => {
    const id = await callOnce()
    running!.signal('SIGINT')
    expect((await running!.ended).code).to.equal(0)
    expect((await umg('requests', 'show', id)).code).to.equal(0)
  })

  it('removes what need not be kept', async () => {
    const now = Date.now()
    await write([
      { at: now - 3 * DAY_MS, key: 'key_old' },
      { at: now - 400 * DAY_MS, key: 'key_older' },
      { at: now, key: 'key_new' },
    ])
    await home.start('--keep-requests', '24h', '--keep-usage', '7d')
    await withStore(({ read, db }) =>
      until(
        () => read(db.selectFrom('usage').select('name').where('name', '=', 'key_older')),
        (rows) => rows.length === 0,
      ),
    )
    const from = new Date(now - 399 * DAY_MS).toISOString()
    const { stdout } = await umg('usage', '--group', 'key', '--format', 'csv', '--from', from)
    expect(stdout).to.include('key_old,').and.to.include('key_new,')
    expect((await umg('requests', 'list', '--format', 'jsonl')).stdout).to.match(/^\{.*"key_new".*\}\n$/)
  })

  it('says what is wrong with what it is asked', async () => {
    const group = await umg('usage', '--group', 'prompt')
    expect(group.code).to.equal(2)
    expect(group.stderr).to.include('Give model, key, account or tag:NAME.')
    const start = await umg('start', '--keep-requests', '0')
    expect(start.code).to.equal(2)
    expect(start.stderr).to.include('Give hours or days: 12h, 30d.')
  })
})
