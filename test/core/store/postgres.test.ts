import { mock } from 'node:test'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { sql } from 'kysely'
import { Client } from 'pg'
import { openStore, type Store } from '../../../core/store/database.ts'
import { storageError } from '../../../core/store/unavailable.ts'
import { closedOrigin } from '../../support/closed-port.ts'
import { onPostgres } from '../../support/databases.ts'
import { until } from '../../support/poll.ts'
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts'
import { KEY, refusal, storesIn } from './stores.ts'

onPostgres('a database server', (database) => {
  const { url, open } = storesIn(database)

  const elsewhere = (change: (url: URL) => void): string => {
    const changed = new URL(url())
    changed.password = 'hunter2'
    change(changed)
    return changed.href
  }

  it('that is unavailable at the start is named, with what to do, and without the password', async () => {
    const { port } = new URL(await closedOrigin())
    const { message } = await refusal(openStore(elsewhere((url) => (url.port = port))))
    expect(message).to.include(`127.0.0.1:${port}`).and.include('Start its server').and.not.include('hunter2')
  })

  it('without the database is reported with the command that creates it', async () => {
    const { message } = await refusal(openStore(elsewhere((url) => (url.pathname = '/umg_missing'))))
    expect(message).to.include('createdb umg_missing').and.not.include('hunter2')
  })

  it('with an invalid URL is refused, without the password', async () => {
    const { message } = await refusal(openStore('postgres://umg:hunter2@[db/umg'))
    expect(message).to.include('%XX').and.not.include('hunter2')
  })

  it('returns bigints as numbers', async () => {
    const store = await open()
    const { count } = await store.db.selectFrom('accounts').select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow()
    expect(count).to.equal(1)
  })

  it('sends no notification for a use of a key', async () => {
    const [ours, theirs] = [await open(), await open()]
    await theirs.db.insertInto('keys').values(KEY).execute()
    while (!(await ours.changed())) await setImmediate()
    await theirs.db.updateTable('keys').set({ last_used_at: 5 }).execute()
    // Notifications arrive in order: a notification of the use would arrive first.
    await sql`listen umg_keys`.execute(theirs.db)
    await theirs.db.updateTable('keys').set({ name: 'two' }).execute()
    while (!(await ours.changed())) await setImmediate()
    expect(await ours.changed()).to.equal(false)
  })

  it('sends no notification of changes while it tries whether notifications arrive', async () => {
    const [ours, theirs] = [await open(), await open()]
    const older = new Client({ connectionString: url() })
    const changes: unknown[] = []
    older.on('notification', ({ payload }) => changes.push(payload))
    await older.connect()
    try {
      await older.query('listen umg_keys')
      while (ours.seenUntil() === Number.NEGATIVE_INFINITY) {
        await ours.changed()
        await setImmediate()
      }
      await theirs.db.insertInto('keys').values(KEY).execute()
      await until(() => changes.length > 0)
      expect(changes).to.deep.equal([''])
    } finally {
      await older.end()
    }
  })

  describe('with broken connections', () => {
    let proxy: TcpProxy
    let store: Store
    beforeEach(async () => {
      proxy = await startTcpProxy(url())
      store = await openStore(proxy.url)
    })
    afterEach(async () => {
      await store?.close()
      await proxy?.close()
    })

    const query = () => store.db.selectFrom('accounts').select('id').execute()

    it('is unavailable until the server is back; a wrong query is another error', async () => {
      await query()
      proxy.disconnect()
      const failure = await query().catch((error: unknown) => error)
      expect(storageError(failure)?.row).to.equal('storage_unavailable')
      const wrong = await sql`select nonsense`.execute((await open()).db).catch((error: unknown) => error)
      expect(storageError(wrong)).to.equal(undefined)
      proxy.reconnect()
      expect(await query()).to.have.length(1)
    })

    it('reports no changes until it is reconnected, and then a change that may have been missed', async () => {
      expect(await store.changed()).to.equal(false)
      proxy.disconnect()
      const lost = () => store.changed().catch(() => 'lost')
      while ((await lost()) !== 'lost') await setImmediate()
      await (await open()).db.insertInto('keys').values(KEY).execute()
      proxy.reconnect()
      let changed = await lost()
      for (; changed === 'lost'; changed = await lost()) await setTimeout(10)
      expect([changed, await store.changed()]).to.deep.equal([true, false])
    })

    it('that is silent is made again, if notifications have arrived on it before', async () => {
      while (store.seenUntil() === Number.NEGATIVE_INFINITY) {
        await store.changed()
        await setImmediate()
      }
      proxy.freeze()
      const start = performance.now()
      let probes = 0
      const clock = mock.method(performance, 'now', () => start + probes * 3_001)
      try {
        for (; probes < 12; probes++) expect(await store.changed()).to.equal(false)
      } finally {
        clock.mock.restore()
      }
      const changedOrLost = () => store.changed().catch(({ code }) => code)
      await until(async () => (await changedOrLost()) === 'DATABASE_CONNECTION_LOST')
    })

    it('may be opened before the server can be reached: then it has its tables when the server is back', async () => {
      const late = await startTcpProxy(await database())
      late.disconnect()
      const opened = await openStore(late.url, { later: true })
      try {
        const accounts = () => opened.db.selectFrom('accounts').select('id').execute()
        const failure = await accounts().catch((error: unknown) => error)
        expect(storageError(failure)?.row).to.equal('storage_unavailable')
        expect(await opened.changed().catch(storageError)).to.include({ row: 'storage_unavailable' })
        late.reconnect()
        await until(async () => (await accounts().catch(() => [])).length === 1)
        expect([await opened.changed(), await opened.changed()]).to.deep.equal([true, false])
      } finally {
        await opened.close()
        await late.close()
      }
    })

    it('is closed though the server does not answer', async () => {
      await query()
      proxy.freeze()
      await store.close()
    })

    it('commits no part of a transaction', async () => {
      const outcome = await store.db
        .transaction()
        .execute(async (transaction) => {
          await transaction.insertInto('keys').values(KEY).execute()
          proxy.disconnect()
        })
        .catch((error: unknown) => error)
      expect(storageError(outcome)?.row).to.equal('storage_unavailable')
      expect(await (await open()).db.selectFrom('keys').select('id').execute()).to.deep.equal([])
    })
  })
})
