import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { sql } from 'kysely'
import { audit, COMMAND_LINE } from '../../../core/accounts/audit.ts'
import { databaseUrl, openStore, type Store } from '../../../core/store/database.ts'
import { exclusively } from '../../../core/store/transaction.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { child } from './child.ts'
import { FIRST_VERSION, makeOldDatabase } from './old-database.ts'
import { KEY, refusal, storesIn } from './stores.ts'

/** What SQLite counts neither as a change of a line nor as a removal: of the line with the same id, and in the same place. */
const REPLACEMENTS = ['id, rowid', "'aud_other', rowid", 'id, null'].map(
  (line) => `replace into audit (id, rowid, at, action, object_type, object_name, changes)
    select ${line}, at, action, object_type, object_name, changes from audit`,
)

onEachDatabase('the database', (database, kind) => {
  const { url, open } = storesIn(database)

  /** Resolves once the store reports a change. */
  async function untilChanged(store: Store): Promise<void> {
    while (!(await store.changed())) await setImmediate()
  }

  it('has the account "default", which may call every model', async () => {
    const store = await open()
    const accounts = await store.db.selectFrom('accounts').select(['id', 'name', 'models', 'rate_class']).execute()
    expect(accounts.map((row) => ({ ...row }))).to.deep.equal([
      { id: 'default', name: 'default', models: '["*"]', rate_class: null },
    ])
  })

  it('keeps its rows when it is opened again', async () => {
    const first = await open()
    await first.db.insertInto('keys').values(KEY).execute()
    const second = await open()
    expect(await second.db.selectFrom('keys').select(['id', 'created_at']).execute()).to.deep.include.members([
      { id: 'key_1', created_at: 1 },
    ])
  })

  it('is opened by many processes that start at the same time', async () => {
    const script = new URL('open-database.ts', import.meta.url)
    const openers = Array.from({ length: 6 }, () => child(script, url()))
    await Promise.all(openers.map((opener) => once(opener.stdout, 'data')))
    for (const opener of openers) opener.stdin.write('open\n')
    const outputs = await Promise.all(openers.map((opener) => text(opener.stdout)))
    expect(outputs).to.deep.equal(Array(6).fill('default'))
  })

  it('is used on after a newer version of the gateway has added to it', async () => {
    const store = await open()
    await sql`insert into kysely_migration values ('9999-later', '2999-01-01T00:00:00.000Z')`.execute(store.db)
    expect(await (await open()).db.selectFrom('accounts').select('id').execute()).to.have.length(1)
  })

  it('is refused if a newer version of the gateway has changed it so that this one cannot use it', async () => {
    const store = await open()
    await sql`insert into kysely_migration values ('9999-later-breaking', '2999-01-01T00:00:00.000Z')`.execute(store.db)
    expect((await refusal(openStore(url()))).message).to.include('newer version')
  })

  it('refuses a key of an account that does not exist', async () => {
    const store = await open()
    const outcome = await store.db
      .insertInto('keys')
      .values({ ...KEY, account_id: 'nobody' })
      .execute()
      .catch((error: Error) => error.message)
    expect(outcome).to.match(/foreign key/i)
  })

  it('reports a change by another connection once', async () => {
    const ours = await open()
    const theirs = await open()
    expect(await ours.changed()).to.equal(false)
    await theirs.db.insertInto('keys').values(KEY).execute()
    await untilChanged(ours)
    expect(await ours.changed()).to.equal(false)
    await theirs.db.updateTable('keys').set({ revoked_at: 2 }).execute()
    await untilChanged(ours)
    await theirs.db.updateTable('accounts').set({ models: '["acme/*"]' }).execute()
    await untilChanged(ours)
    expect(await ours.changed()).to.equal(false)
  })

  it('reports a change of its own', async () => {
    const store = await open()
    await store.db.insertInto('keys').values(KEY).execute()
    await untilChanged(store)
    expect(await store.changed()).to.equal(false)
  })

  it('tells until when it has reported all changes, also those of others', async () => {
    const [ours, theirs] = [await open(), await open()]
    await theirs.db.insertInto('keys').values(KEY).execute()
    const insertedAt = performance.now()
    let isReported = false
    while (ours.seenUntil() < insertedAt) {
      isReported = (await ours.changed()) || isReported
      await setImmediate()
    }
    expect(isReported || (await ours.changed())).to.equal(true)
  })

  it('rolls back a failed transaction completely', async () => {
    const store = await open()
    const failing = store.db.transaction().execute(async (transaction) => {
      await transaction.insertInto('keys').values(KEY).execute()
      throw new Error('abort')
    })
    expect(await failing.catch((error: Error) => error.message)).to.equal('abort')
    expect(await store.db.selectFrom('keys').select('id').execute()).to.deep.equal([])
  })

  it('runs exclusive transactions one after the other', async () => {
    const store = await open()
    const stores = [store, await open(), await open()]
    const transactions = stores.map((store) =>
      exclusively(store, async (db) => {
        const { length } = await db.selectFrom('keys').select('id').execute()
        if (length === 0) await db.insertInto('keys').values(KEY).execute()
        return length
      }),
    )
    expect((await Promise.all(transactions)).sort()).to.deep.equal([0, 1, 1])
  })

  it('reads through its reader what was just written', async () => {
    const store = await open()
    for (const count of [1, 2]) {
      await store.db
        .insertInto('keys')
        .values({ ...KEY, id: `key_${count}`, digest: `d${count}` })
        .execute()
      const keys = await store.read(store.db.selectFrom('keys').select(['id', 'created_at']).orderBy('id').limit(count))
      expect(keys.at(-1)).to.deep.equal({ id: `key_${count}`, created_at: 1 })
    }
  })

  it('reports an error of its reader', async () => {
    const store = await open()
    const outcome = await store.read(store.db.selectFrom('nowhere' as 'keys').selectAll()).catch((error: Error) => error.message)
    expect(outcome).to.include('nowhere')
  })

  it('never changes or deletes a line of the audit trail', async () => {
    const store = await open()
    await audit(store.db, COMMAND_LINE, { action: 'key.create', object: { type: 'key', id: 'key_1', name: 'one' } })
    const changes = [
      'update audit set actor_name = null',
      'delete from audit',
      ...(kind === 'SQLite' ? REPLACEMENTS : ['truncate audit']),
    ]
    const outcomes = await Promise.all(
      changes.map((change) =>
        sql
          .raw(change)
          .execute(store.db)
          .catch((error: Error) => error.message),
      ),
    )
    for (const outcome of outcomes) expect(outcome).to.include('append-only')
    const lines = await store.db.selectFrom('audit').select(['actor_name', 'object_id']).execute()
    expect(lines.map((line) => ({ ...line }))).to.deep.equal([{ actor_name: 'command line', object_id: 'key_1' }])
  })

  it('is migrated from the first version, and keeps its rows', async () => {
    await makeOldDatabase(url(), FIRST_VERSION)
    const store = await open()
    const key = await store.db.selectFrom('keys').selectAll().executeTakeFirstOrThrow()
    expect({ ...key }).to.deep.equal(KEY)
    expect(await store.db.selectFrom('users').selectAll().execute()).to.deep.equal([])
  })
})

describe('the database URL', () => {
  it('is a file in the data folder by default', () => {
    expect(databaseUrl({ data: 'data' })).to.equal(`sqlite:${join('data', 'gateway.db')}`)
    expect(databaseUrl({ data: 'data', database: 'sqlite:/srv/keys.db' })).to.equal('sqlite:/srv/keys.db')
  })

  it('may name a database in memory', async () => {
    const store = await openStore('sqlite::memory:')
    expect(await store.read(store.db.selectFrom('accounts').select('id'))).to.have.length(1)
    await store.close()
  })

  for (const url of ['mysql://root:hunter2@db/keys', 'data/gateway.db', 'sqlite:', 'sqlite:///srv/keys.db', 'postgres://', '']) {
    it(`"${url}" is refused with the accepted forms, and without the password`, async () => {
      const { message } = await refusal(openStore(url))
      expect(message).to.include('sqlite:<path').and.include('postgres://<user>').and.not.include('hunter2')
    })
  }
})
