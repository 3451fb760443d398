import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { sql } from 'kysely'
import { openStore } from '../../../core/store/database.ts'
import { onSqlite } from '../../support/databases.ts'
import { KEY, refusal, storesIn } from './stores.ts'

onSqlite('a database file', (database) => {
  const { url, open } = storesIn(database)
  const path = () => url().slice('sqlite:'.length)
  /** Another file of the same folder. */
  const at = (name: string) => join(dirname(path()), name)

  it('is created on first use, with its folder, for the owner alone', async () => {
    const path = at('new/deeper/gateway.db')
    const store = await openStore(`sqlite:${path}`)
    await store.db.insertInto('keys').values(KEY).execute()
    const mode = (name: string) => statSync(name).mode & 0o777
    expect([mode(at('new')), mode(at('new/deeper')), mode(path), mode(`${path}-wal`)]).to.deep.equal([0o700, 0o700, 0o600, 0o600])
    await store.close()
  })

  it('is opened once another process releases it', async () => {
    await (await open()).close()
    const holder = new DatabaseSync(path())
    holder.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    const opening = open()
    await setImmediate()
    holder.close()
    expect(await (await opening).changed()).to.equal(false)
  })

  it('is opened at once while another process writes to it', async () => {
    await (await open()).close()
    const writer = new DatabaseSync(path())
    writer.exec('BEGIN IMMEDIATE')
    expect(await (await open()).changed()).to.equal(false)
    writer.close()
  })

  it('is reported as locked if another process never releases it', async () => {
    await (await open()).close()
    const holder = new DatabaseSync(path())
    holder.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    expect((await refusal(open())).message).to.include('locked by another process')
    holder.close()
  })

  it('is not queried for changes of keys while nobody has written to it', async () => {
    const [ours, theirs] = [await open(), await open()]
    const rest = () => utimesSync(`${path()}-wal`, 1, 1)
    /** Resolves before any thread can have answered. */
    async function soon(): Promise<'asked a thread'> {
      for (let microtasks = 0; microtasks < 20; microtasks++) await undefined
      return 'asked a thread'
    }
    const changedAtOnce = () => Promise.race([ours.changed(), soon()])
    await ours.changed()
    rest()
    expect(await ours.changed()).to.equal(false)
    expect(await changedAtOnce()).to.equal(false)
    await theirs.db.insertInto('keys').values(KEY).execute()
    expect(await ours.changed()).to.equal(true)
    expect(await changedAtOnce()).to.equal('asked a thread')
    rest()
    expect(await ours.changed()).to.equal(false)
    expect(await changedAtOnce()).to.equal(false)
  })

  it('is queried for changes of keys once a minute although the time of its log does not change', async () => {
    const [ours, theirs] = [await open(), await open()]
    const rest = () => utimesSync(`${path()}-wal`, 1, 1)
    await theirs.db.insertInto('keys').values(KEY).execute()
    rest()
    await ours.changed()
    // The next write begins the log again, whose size stays the same.
    await sql`pragma wal_checkpoint(restart)`.execute(theirs.db)
    await theirs.db.updateTable('keys').set({ name: 'two' }).execute()
    rest()
    expect(await ours.changed()).to.equal(false)
    const now = performance.now()
    const clock = mock.method(performance, 'now', () => now + 60_000)
    try {
      expect(await ours.changed()).to.equal(true)
    } finally {
      clock.mock.restore()
    }
  })

  it('is refused if it is damaged, and not changed', async () => {
    const store = await open()
    await store.db
      .insertInto('keys')
      .values(Array.from({ length: 500 }, (_, i) => ({ ...KEY, id: `key_${i}`, digest: `d${i}` })))
      .execute()
    await store.close()
    const bytes = readFileSync(path())
    bytes.fill(0xa5, 4096 * 4, 4096 * 12)
    writeFileSync(path(), bytes)
    const error = await refusal(open())
    expect(error.message).to.include(`${path()} is damaged`).and.include('Restore a backup')
    expect(readFileSync(path()).equals(bytes)).to.equal(true)
  })

  it('is refused if it is not a database, and not changed', async () => {
    const letter = 'Dear database, you are a text file.\n'.repeat(100)
    writeFileSync(path(), letter)
    expect((await refusal(open())).message).to.include('is damaged')
    expect(readFileSync(path(), 'utf8')).to.equal(letter)
  })

  it('is named by its path if it cannot be created', async () => {
    writeFileSync(at('occupied'), '')
    const path = at('occupied/gateway.db')
    expect((await refusal(openStore(`sqlite:${path}`))).message).to.include(`${path} cannot be opened`)
  })

  it('lets no other writer write between the reads and the writes of a transaction', async () => {
    const ours = await open()
    const theirs = await open()
    // Their thread has started.
    await theirs.db.deleteFrom('keys').execute()
    const order: string[] = []
    let writing: Promise<unknown> | undefined
    await ours.db.transaction().execute(async (transaction) => {
      const { length } = await transaction.selectFrom('keys').select('id').execute()
      writing = theirs.db
        .insertInto('keys')
        .values({ ...KEY, id: 'key_2', digest: 'd2' })
        .execute()
        .then(() => order.push('theirs'))
      await theirs.db.selectFrom('keys').select('id').execute()
      await transaction
        .insertInto('keys')
        .values({ ...KEY, name: `key number ${length + 1}` })
        .execute()
      order.push('ours')
    })
    await writing
    expect(order).to.deep.equal(['ours', 'theirs'])
    expect((await theirs.db.selectFrom('keys').select('name').execute())[0]?.name).to.equal('key number 1')
  })
})
