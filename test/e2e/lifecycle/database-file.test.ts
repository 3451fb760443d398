import { open, stat } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { sql } from 'kysely'
import { onSqlite } from '../../support/databases.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { ApiClient } from '../management/api-client.ts'

const ROUTES = { chain: [{ plugin: 'auth' }], namespaces: { box: { provider: 'sandbox' } } }

const CALLS = 20

onSqlite('a gateway whose database file', (create) => {
  let path: string
  let gateway: TestGateway
  let program: ApiClient

  beforeEach(async () => {
    const database = await create()
    path = database.slice('sqlite:'.length)
    gateway = await startTestGateway({ routes: ROUTES, database })
    program = new ApiClient(gateway.url, await gateway.key({ kind: 'admin' }))
    await call()
  })

  afterEach(() => gateway?.stop())

  async function call(key = gateway.liveKey): Promise<void> {
    const json = { model: 'box/any', messages: [{ role: 'user', content: 'Hello!' }] }
    const reply = await gateway.fetch('/v1/chat/completions', { json, key })
    await reply.text()
    expect(reply.status).to.equal(200)
  }

  const createKey = () => program.post('/keys', { name: 'new', kind: 'live' })

  /** Resolves to the log line of a failed write of usage rows. */
  const warning = () => gateway.logged(({ msg }) => msg === 'cannot write usage rows, retrying')

  const failures = (error: string) => gateway.metric('umg_usage_write_failures_total', { error })

  describe('is locked by another process', () => {
    let other: DatabaseSync
    beforeEach(() => {
      other = new DatabaseSync(path)
    })
    afterEach(() => other?.close())

    it('lets the creation of a key wait, and delays no call, no first use of a key and no page of the console', async () => {
      const unused = await gateway.key()
      other.exec('begin immediate')
      let isAnswered = false
      const creating = createKey().finally(() => {
        isAnswered = true
      })
      for (let i = 0; i < CALLS; i++) await call()
      await call(unused)
      for (const page of ['/keys', '/requests', '/session']) expect((await program.get(page)).status, page).to.equal(200)
      expect(isAnswered).to.equal(false)
      other.exec('rollback')
      expect((await creating).status).to.equal(201)
    })

    it('replies 503 to the creation of a key if the lock lasts, and says so in the log and the metrics', async () => {
      other.exec('begin immediate')
      await call()
      const { status, body } = await createKey()
      expect([status, body.code]).to.deep.equal([503, 'storage_unavailable'])
      expect(body.message).to.include('another process')
      const line = await warning()
      expect(line.err).to.equal('SQLITE_BUSY')
      expect(line.detail).to.include('another process')
      expect(await failures('storage_busy')).to.be.above(0)
      other.exec('rollback')
      await gateway.logged(({ msg }) => msg === 'usage rows written again')
      expect((await createKey()).status).to.equal(201)
    })
  })

  it('has no space left serves calls, replies 503 to the creation of a key, and says so in the log and the metrics', async () => {
    const limitPages = (pages: number) => sql.raw(`pragma max_page_count = ${pages}`).execute(gateway.store.db)
    // It can be no smaller than the file is.
    await limitPages(1)
    await Promise.all(Array.from({ length: 200 }, () => call()))
    const line = await warning()
    expect(line.err).to.equal('SQLITE_FULL')
    expect(line.detail).to.include('disk of the database is full')
    expect(await failures('storage_full')).to.be.above(0)
    let created = await createKey()
    while (created.status === 201) created = await createKey()
    expect([created.status, created.body.code]).to.deep.equal([503, 'storage_unavailable'])
    expect(created.body.message).to.include('disk of the database is full')
    await call()
    await limitPages(1_000_000)
    await gateway.logged(({ msg }) => msg === 'usage rows written again')
    expect((await createKey()).status).to.equal(201)
    expect(await gateway.metric('umg_usage_rows_dropped_total')).to.equal(0)
  })

  it('is damaged serves keys in use, replies 503 to the creation of a key, and says what to do', async () => {
    await damage(path)
    const { status, body } = await createKey()
    expect([status, body.code]).to.deep.equal([503, 'storage_unavailable'])
    expect(body.message).to.include('damaged').and.include('restore a backup')
    expect(await gateway.logged(({ msg }) => msg === 'request failed')).to.include({ err: 'SQLITE_CORRUPT' })
    await call()
    const line = await warning()
    expect(line.err).to.equal('SQLITE_CORRUPT')
    expect(line.detail).to.include('restore a backup')
    expect(await failures('storage_damaged')).to.be.above(0)
  })
})

/** Overwrites all pages but the first. */
async function damage(path: string): Promise<void> {
  const other = new DatabaseSync(path)
  other.exec('pragma wal_checkpoint(truncate)')
  other.close()
  await using file = await open(path, 'r+')
  await file.write(Buffer.alloc((await stat(path)).size - 4096, 0xa5), { position: 4096 })
}
