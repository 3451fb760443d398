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
import { FIRST_VERSION } from './first-version.ts'
import { makeOldDatabase } from './old-database.ts'
import { refusal } from './refusal.ts'
import { KEY } from './row.ts'
import { storesIn } from './stores.ts'

/** What SQLite counts neither as a change of a line nor as a removal: of the line with the same id, and in the same place. */
const REPLACEMENTS = ['id, rowid', "'aud_other', rowid", 'id, null'].map(
  (line) => `replace into audit (id, rowid, at, action, object_type, object_name, changes)
    select ${line}, at, action, object_type, object_name, changes from audit`,
)

onEachDatabase('the database', (database, kind) => {
  const { url, open } = storesIn(database)

  /** Resolves once the store tells of a change. */
  async function untilChanged(store: Store): Promise<void> {
    while (!store.changed()) await setImmediate()
  }

  it('holds the account "default", which may call everything', async () => {
    const store = await open()
    const accounts = await store.db.selectFrom('accounts').select(['id', 'name', 'models', 'rate_class']).execute()
    expect(accounts.map((row) => ({ ...row }))).to.deep.equal([
      { id: 'default', name: 'default', models: '["*"]', rate_class: null },
    ])
  })

  it('keeps what was written when it is opened again', async () => {
    const first = await open()
    await first.db.insertInto('keys').values(KEY).execute()
    const second = await open()
    expect(await second.db.selectFrom('keys').select(['id', 'created_at']).execute()).to.deep.include.members([
      { id: 'key_1', created_at: 1 },
    ])
  })

  it('can be opened by many processes that start at once', async () => {
    const script = new URL('open-database.ts', import.meta.url)
    const openers = Array.from({ length: 6 }, () => child(script, url()))
    await Promise.all(openers.map((opener) => once(opener.stdout, 'data')))
    for (const opener of openers) opener.stdin.write('open\n')
    const outputs = await Promise.all(openers.map((opener) => text(opener.stdout)))
    expect(outputs).to.deep.equal(Array(6).fill('default'))
  })

  it('is refused when a newer version of the gateway has used it', async () => {
    const store = await open()
    await sql`insert into kysely_migration values ('9999-later', '2999-01-01T00:00:00.000Z')`.execute(store.db)
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

  it('tells of what others changed, once', async () => {
    const ours = await open()
    const theirs = await open()
    expect(ours.changed()).to.equal(false)
    await theirs.db.insertInto('keys').values(KEY).execute()
    await untilChanged(ours)
    expect(ours.changed()).to.equal(false)
    await theirs.db.updateTable('keys').set({ revoked_at: 2 }).execute()
    await untilChanged(ours)
    await theirs.db.updateTable('accounts').set({ models: '["acme/*"]' }).execute()
    await untilChanged(ours)
    expect(ours.changed()).to.equal(false)
  })

  it('rolls a failed transaction back whole', async () => {
    const store = await open()
    const failing = store.db.transaction().execute(async (transaction) => {
      await transaction.insertInto('keys').values(KEY).execute()
      throw new Error('change of mind')
    })
    expect(await failing.catch((error: Error) => error.message)).to.equal('change of mind')
    expect(await store.db.selectFrom('keys').select('id').execute()).to.deep.equal([])
  })

  it('lets decisions that must be alone come one after the other', async () => {
    const store = await open()
    // Of one process on SQLite there is one connection: its lock would wait for itself.
    const stores = kind === 'SQLite' ? [store, store, store] : [store, await open(), await open()]
    const decisions = stores.map((store) =>
      exclusively(store, async (db) => {
        const { length } = await db.selectFrom('keys').select('id').execute()
        if (length === 0) await db.insertInto('keys').values(KEY).execute()
        return length
      }),
    )
    expect((await Promise.all(decisions)).sort()).to.deep.equal([0, 1, 1])
  })

  it('reads what was just written by way of its reader too', async () => {
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

  it('says what its reader could not read', async () => {
    const store = await open()
    const outcome = await store.read(store.db.selectFrom('nowhere' as 'keys').selectAll()).catch((error: Error) => error.message)
    expect(outcome).to.include('nowhere')
  })

  it('never changes or forgets a line of the audit trail', async () => {
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

  it('of the first version gets what is new, and keeps what it held', async () => {
    await makeOldDatabase(url(), FIRST_VERSION)
    const store = await open()
    const key = await store.db.selectFrom('keys').selectAll().executeTakeFirstOrThrow()
    expect({ ...key }).to.deep.equal(KEY)
    expect(await store.db.selectFrom('users').selectAll().execute()).to.deep.equal([])
  })
})

describe('the database URL', () => {
  it('is a file in the data folder unless given', () => {
    expect(databaseUrl({ data: 'data' })).to.equal(`sqlite:${join('data', 'gateway.db')}`)
    expect(databaseUrl({ data: 'data', database: 'sqlite:/srv/keys.db' })).to.equal('sqlite:/srv/keys.db')
  })

  it('may name a database in memory', async () => {
    const store = await openStore('sqlite::memory:')
    expect(await store.read(store.db.selectFrom('accounts').select('id'))).to.have.length(1)
    await store.close()
  })

  for (const url of ['mysql://root:hunter2@db/keys', 'data/gateway.db', 'sqlite:', 'sqlite:///srv/keys.db', 'postgres://', '']) {
    it(`"${url}" is refused with what is accepted, and without a password`, async () => {
      const { message } = await refusal(openStore(url))
      expect(message).to.include('sqlite:<path').and.include('postgres://<user>').and.not.include('hunter2')
    })
  }
})
