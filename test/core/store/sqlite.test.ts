import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
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
    expect((await opening).changed()).to.equal(false)
  })

  it('is reported as locked if another process never releases it', async () => {
    await (await open()).close()
    const holder = new DatabaseSync(path())
    holder.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    expect((await refusal(open())).message).to.include('locked by another process')
    holder.close()
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
    await ours.db.transaction().execute(async (transaction) => {
      const { length } = await transaction.selectFrom('keys').select('id').execute()
      const refused = await theirs.db
        .insertInto('keys')
        .values(KEY)
        .execute()
        .catch((error: Error) => error.message)
      expect(refused).to.equal('database is locked')
      await transaction
        .insertInto('keys')
        .values({ ...KEY, name: `key number ${length + 1}` })
        .execute()
    })
    expect((await theirs.db.selectFrom('keys').select('name').execute())[0]?.name).to.equal('key number 1')
  })

  it('reports no change by its own connection', async () => {
    const store = await open()
    await store.db.insertInto('keys').values(KEY).execute()
    expect(store.changed()).to.equal(false)
  })

  it('is read in a thread, and does not block the event loop', async () => {
    const store = await open()
    let turns = 0
    let over = false
    // Some hundred milliseconds of work for SQLite.
    const counting = sql<{ n: number }>`
      with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 500000) select max(n) as n from numbers
    `
    const reading = store.read({ compile: () => counting.compile(store.db) }).finally(() => {
      over = true
    })
    while (!over) {
      await setImmediate()
      turns += 1
    }
    expect(await reading).to.deep.equal([{ n: 500_000 }])
    expect(turns).to.be.above(100)
  })
})
