import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { Client, escapeIdentifier } from 'pg'
import type { CallView } from '../../../core/usage/calls.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { type ApiClient, adminClient, until } from './api-client.ts'

/** Takes a database away. Resolves to what brings it back. */
type Outage = (url: string) => Promise<() => Promise<void>>

/** Another process writes, and does not come to an end. */
const lock: Outage = async (url) => {
  const other = new DatabaseSync(url.slice('sqlite:'.length))
  other.exec('begin immediate')
  return async () => {
    other.exec('rollback')
    other.close()
  }
}

/** Nobody is let in any more, and who is in is thrown out. */
const closeDown: Outage = async (url) => {
  const name = new URL(url).pathname.slice(1)
  const server = new Client(process.env.UMG_TEST_POSTGRES)
  await server.connect()
  await server.query(`alter database ${escapeIdentifier(name)} allow_connections false`)
  await server.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
  return async () => {
    await server.query(`alter database ${escapeIdentifier(name)} allow_connections true`)
    await server.end()
  }
}

const OUTAGES: Readonly<Record<string, Outage>> = { SQLite: lock, PostgreSQL: closeDown }

const CALLS = 30

onEachDatabase('a database that is away', (create, kind) => {
  let url: string
  let gateway: TestGateway
  let client: ApiClient

  beforeEach(async () => {
    url = await create()
    gateway = await startTestGateway({
      routes: { chain: [{ plugin: 'auth' }], namespaces: { box: { provider: 'sandbox' } } },
      database: url,
    })
    client = await adminClient(gateway)
    await call()
  })

  afterEach(() => gateway.stop())

  /** Resolves to the request id. */
  async function call(): Promise<string> {
    const body = { model: 'box/any', messages: [{ role: 'user', content: 'Hello!' }] }
    const reply = await gateway.fetch('/v1/chat/completions', { json: body })
    await reply.text()
    expect(reply.status).to.equal(200)
    return reply.headers.get('x-request-id')!
  }

  it('fails no call, and has every row when it is back', async () => {
    const bringBack = await OUTAGES[kind]!(url)
    const ids = await Promise.all(Array.from({ length: CALLS }, call))
    await gateway.logged(({ msg }) => String(msg).startsWith('calls cannot be written down'))
    await bringBack()
    const list = async () => {
      const { status, json } = await client.get('/requests?limit=200')
      return status === 200 ? (json as { data: CallView[] }).data.map(({ id }) => id) : []
    }
    const written = await until(list, (found) => found.length > CALLS)
    expect(written).to.include.members(ids)
    expect(await gateway.metric('umg_usage_rows_dropped_total')).to.equal(0)
    const usage = await client.get('/usage?group=model')
    expect((usage.json as { totals: { requests: number } }).totals.requests).to.equal(CALLS + 1)
  })
})
