import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { Client, escapeIdentifier } from 'pg'
import type { CallView } from '../../../core/usage/calls.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { poll } from '../../support/poll.ts'
import { find } from '../../support/requirements.ts'
import { type ApiClient, adminClient } from './api-client.ts'

/** Makes a database unavailable. Resolves to a function that makes it available again. */
type Block = (url: string) => Promise<() => Promise<void>>

/** Another connection holds the write lock. */
const lock: Block = async (url) => {
  const other = new DatabaseSync(url.slice('sqlite:'.length))
  other.exec('begin immediate')
  return async () => {
    other.exec('rollback')
    other.close()
  }
}

/** The server refuses new connections, and ends the open ones. */
const disconnect: Block = async (url) => {
  const name = new URL(url).pathname.slice(1)
  const server = new Client(find('postgres'))
  await server.connect()
  await server.query(`alter database ${escapeIdentifier(name)} allow_connections false`)
  await server.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
  return async () => {
    await server.query(`alter database ${escapeIdentifier(name)} allow_connections true`)
    await server.end()
  }
}

const BLOCKS: Readonly<Record<string, Block>> = { SQLite: lock, PostgreSQL: disconnect }

const CALLS = 30

onEachDatabase('an unavailable database', (create, kind) => {
  let url: string
  let gateway: TestGateway
  let api: ApiClient

  beforeEach(async () => {
    url = await create()
    gateway = await startTestGateway({
      routes: { chain: [{ plugin: 'auth' }], namespaces: { box: { provider: 'sandbox' } } },
      database: url,
    })
    api = await adminClient(gateway)
    await call()
  })

  afterEach(() => gateway?.stop())

  /** Resolves to the request id. */
  async function call(): Promise<string> {
    const body = { model: 'box/any', messages: [{ role: 'user', content: 'Hello!' }] }
    const reply = await gateway.fetch('/v1/chat/completions', { json: body })
    await reply.text()
    expect(reply.status).to.equal(200)
    return reply.headers.get('x-request-id')!
  }

  it('fails no call, and gets every row when it is available again', async () => {
    const unblock = await BLOCKS[kind]!(url)
    const ids = await Promise.all(Array.from({ length: CALLS }, call))
    await gateway.logged(({ msg }) => msg === 'cannot write usage rows, retrying')
    await unblock()
    const list = async () => {
      const { status, json } = await api.get('/requests?limit=200')
      return status === 200 ? (json as { data: CallView[] }).data.map(({ id }) => id) : []
    }
    const written = await poll(list, (found) => found.length > CALLS)
    expect(written).to.include.members(ids)
    expect(await gateway.metric('umg_usage_rows_dropped_total')).to.equal(0)
    const usage = await api.get('/usage?group=model')
    expect((usage.json as { totals: { requests: number } }).totals.requests).to.equal(CALLS + 1)
  })

  it('fails no call of a key in use, though this gateway made another key just before', async () => {
    await gateway.key()
    const unblock = await BLOCKS[kind]!(url)
    await call().finally(unblock)
  })
})
