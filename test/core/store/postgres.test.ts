import { setImmediate, setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { sql } from 'kysely'
import { openStore, type Store } from '../../../core/store/database.ts'
import { isUnavailable } from '../../../core/store/unavailable.ts'
import { closedOrigin } from '../../support/closed-port.ts'
import { onPostgres } from '../../support/databases.ts'
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts'
import { refusal } from './refusal.ts'
import { KEY } from './row.ts'
import { storesIn } from './stores.ts'

onPostgres('a database server', (database) => {
  const { url, open } = storesIn(database)

  const elsewhere = (change: (url: URL) => void): string => {
    const changed = new URL(url())
    changed.password = 'hunter2'
    change(changed)
    return changed.href
  }

  it('that is away at the start is named, with what to do, and without the password', async () => {
    const { port } = new URL(await closedOrigin())
    const { message } = await refusal(openStore(elsewhere((url) => (url.port = port))))
    expect(message).to.include(`127.0.0.1:${port}`).and.include('Start its server').and.not.include('hunter2')
  })

  it('without the database says how to make it', async () => {
    const { message } = await refusal(openStore(elsewhere((url) => (url.pathname = '/umg_missing'))))
    expect(message).to.include('createdb umg_missing').and.not.include('hunter2')
  })

  it('of a URL that is none is refused, without the password', async () => {
    const { message } = await refusal(openStore('postgres://umg:hunter2@[db/umg'))
    expect(message).to.include('%XX').and.not.include('hunter2')
  })

  it('gives whole numbers as numbers', async () => {
    const store = await open()
    const { count } = await store.db.selectFrom('accounts').select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow()
    expect(count).to.equal(1)
  })

  it('is not told of each use of a key', async () => {
    const [ours, theirs] = [await open(), await open()]
    await theirs.db.insertInto('keys').values(KEY).execute()
    while (!ours.changed()) await setImmediate()
    await theirs.db.updateTable('keys').set({ last_used_at: 5 }).execute()
    // What is told later is heard later: were there a notification of the use, it would be the first.
    await sql`listen umg_keys`.execute(theirs.db)
    await theirs.db.updateTable('keys').set({ name: 'two' }).execute()
    while (!ours.changed()) await setImmediate()
    expect(ours.changed()).to.equal(false)
  })

  describe('whose connections break', () => {
    let proxy: TcpProxy
    let store: Store
    beforeEach(async () => {
      proxy = await startTcpProxy(url())
      store = await openStore(proxy.url)
    })
    afterEach(async () => {
      await store.close()
      await proxy.disconnect()
    })

    const ask = () => store.db.selectFrom('accounts').select('id').execute()

    it('is an outage, not a wrong question, and is over when the server is back', async () => {
      await ask()
      await proxy.disconnect()
      const failure = await ask().catch((error: unknown) => error)
      expect(isUnavailable(failure)).to.equal(true)
      const wrong = await sql`select nonsense`.execute((await open()).db).catch((error: unknown) => error)
      expect(isUnavailable(wrong)).to.equal(false)
      await proxy.reconnect()
      expect(await ask()).to.have.length(1)
    })

    it('cannot tell of changes meanwhile, and tells of what may have been missed', async () => {
      expect(store.changed()).to.equal(false)
      await proxy.disconnect()
      const lost = () => {
        try {
          return store.changed()
        } catch {
          return 'lost'
        }
      }
      while (lost() !== 'lost') await setImmediate()
      await (await open()).db.insertInto('keys').values(KEY).execute()
      await proxy.reconnect()
      let told = lost()
      for (; told === 'lost'; told = lost()) await setTimeout(10)
      expect([told, store.changed()]).to.deep.equal([true, false])
    })

    it('breaks no transaction in two', async () => {
      const outcome = await store.db
        .transaction()
        .execute(async (transaction) => {
          await transaction.insertInto('keys').values(KEY).execute()
          await proxy.disconnect()
        })
        .catch((error: unknown) => error)
      expect(isUnavailable(outcome)).to.equal(true)
      expect(await (await open()).db.selectFrom('keys').select('id').execute()).to.deep.equal([])
    })
  })
})
