import { once } from 'node:events'
import { rename } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import { sql } from 'kysely'
import type { Store } from '../../../core/store/database.ts'
import { storageError } from '../../../core/store/unavailable.ts'
import { onSqlite } from '../../support/databases.ts'
import { loweredThreads } from '../../support/thread-priorities.ts'
import { child } from './child.ts'
import { KEY, storesIn } from './stores.ts'

/** Some hundred milliseconds of work for SQLite. */
const COUNTING = sql<{ n: number }>`
  with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 500000) select max(n) as n from numbers
`

onSqlite('the threads of a database file', (database) => {
  const { url, open } = storesIn(database)
  const path = () => url().slice('sqlite:'.length)
  let store: Store

  beforeEach(async () => {
    store = await open()
  })
  afterEach(() => mock.timers.reset())

  const insert = (db: Store['db'], number: number) =>
    db.insertInto('keys').values({ ...KEY, id: `key_${number}`, digest: `d${number}` })

  const ids = async () => (await store.db.selectFrom('keys').select('id').orderBy(sql`rowid`).execute()).map(({ id }) => id)

  const count = () => store.read({ compile: () => COUNTING.compile(store.db) })

  /** The next thread that starts. */
  const nextThread = async () => (await once(process, 'worker'))[0] as Worker

  /** The name of the error for clients of what a statement throws. */
  const failureOf = async (statement: Promise<unknown>) => storageError(await statement.catch((error: unknown) => error))?.row

  it('do not block the event loop', async () => {
    let turns = 0
    let over = false
    const reading = count().finally(() => {
      over = true
    })
    while (!over) {
      await setImmediate()
      turns += 1
    }
    expect(await reading).to.deep.equal([{ n: 500_000 }])
    expect(turns).to.be.above(100)
  })

  it('let a write wait for the lock of another process, while reads go on', async () => {
    const other = new DatabaseSync(path())
    other.exec('begin immediate')
    let isWritten = false
    const writing = insert(store.db, 1)
      .execute()
      .then(() => {
        isWritten = true
      })
    for (let i = 0; i < 20; i++) {
      expect(await ids()).to.deep.equal([])
      expect(await store.changed()).to.equal(false)
    }
    expect(await count()).to.have.length(1)
    expect(isWritten).to.equal(false)
    other.exec('rollback')
    await writing
    expect(await ids()).to.deep.equal(['key_1'])
    other.close()
  })

  it('let reads beside a transaction see what was committed before', async () => {
    await store.db.transaction().execute(async (transaction) => {
      await insert(transaction, 1).execute()
      expect(await ids()).to.deep.equal([])
    })
    expect(await ids()).to.deep.equal(['key_1'])
  })

  it('write in the order of the calls, each transaction as a whole', async () => {
    const failing = store.db.transaction().execute(async (transaction) => {
      await insert(transaction, 100).execute()
      await insert(transaction, 100).execute()
    })
    const numbers = Array.from({ length: 20 }, (_, number) => number)
    const outcomes = await Promise.allSettled([failing, ...numbers.map((number) => insert(store.db, number).execute())])
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', ...numbers.map(() => 'fulfilled')])
    expect(await ids()).to.deep.equal(numbers.map((number) => `key_${number}`))
  })

  it('write what was given to them before they started, then close, and their process ends', async () => {
    // In a process of its own: in this one other handles keep the event loop alive.
    const writer = child(new URL('write-and-close.ts', import.meta.url), path())
    const [output, ended] = await Promise.all([text(writer.stdout), once(writer, 'exit')])
    expect([output, ...ended]).to.deep.equal(['closed, 2 written', 0, null])
    expect(await store.db.selectFrom('accounts').select('id').execute()).to.have.length(3)
  })

  it('refuse statements once the database is closed', async () => {
    await store.close()
    for (const statement of [ids(), count(), insert(store.db, 1).execute()])
      expect(await failureOf(statement)).to.equal('storage_unavailable')
  })

  it('roll back the transaction of one that dies, and are replaced', async () => {
    const starting = nextThread()
    const writing = store.db.transaction().execute(async (transaction) => {
      await insert(transaction, 1).execute()
      await (await starting).terminate()
      await insert(transaction, 2).execute()
    })
    expect(await failureOf(writing)).to.equal('storage_unavailable')
    await insert(store.db, 3).execute()
    expect(await ids()).to.deep.equal(['key_3'])
  })

  it('fail the statement of one that dies, and are replaced', async () => {
    const starting = nextThread()
    const failing = failureOf(count())
    await (await starting).terminate()
    expect(await failing).to.equal('storage_unavailable')
    expect(await count()).to.have.length(1)
  })

  it('fail a long read after thirty seconds, and are replaced', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const starting = nextThread()
    const failing = failureOf(count())
    const exited = once(await starting, 'exit')
    mock.timers.tick(30_000)
    expect(await failing).to.equal('storage_unavailable')
    await exited
    expect(await count()).to.have.length(1)
  })

  it('fail a transaction whose statement takes longer than ten seconds at once, and are replaced', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    await ids()
    const starting = nextThread()
    const inserted = Promise.withResolvers<void>()
    const failing = failureOf(
      store.db.transaction().execute(async (transaction) => {
        await insert(transaction, 1).execute()
        inserted.resolve()
        await COUNTING.execute(transaction)
      }),
    )
    let isOver = false
    const exited = once(await starting, 'exit').then(() => {
      isOver = true
    })
    await inserted.promise
    // Answered by the thread of reads, which has started: the other one is counting by then.
    await ids()
    mock.timers.tick(10_000)
    expect(await failing).to.equal('storage_unavailable')
    expect(isOver).to.equal(false)
    await exited
    await insert(store.db, 2).execute()
    expect(await ids()).to.deep.equal(['key_2'])
  })

  it('leave the processor to calls while they write', async function () {
    if (process.platform !== 'linux') this.skip()
    const before = await loweredThreads()
    await ids()
    expect(await loweredThreads()).to.equal(before)
    await insert(store.db, 1).execute()
    expect(await loweredThreads()).to.equal(before + 1)
  })

  it('let at most two long reads run at a time', async () => {
    let started = 0
    const onStart = () => {
      started += 1
    }
    process.on('worker', onStart)
    expect((await Promise.all([count(), count(), count(), count()])).flat()).to.have.length(4)
    process.off('worker', onStart)
    expect(started).to.equal(2)
  })

  it('end after a minute without a statement, and start again', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const starting = nextThread()
    await insert(store.db, 1).execute()
    const exited = once(await starting, 'exit')
    mock.timers.tick(60_000)
    await exited
    await insert(store.db, 2).execute()
    expect(await ids()).to.deep.equal(['key_1', 'key_2'])
  })

  it('fail a write on a full disk, undo its transaction, and write again when there is space', async () => {
    const limitPages = (pages: number) => sql.raw(`pragma max_page_count = ${pages}`).execute(store.db)
    // It can be no smaller than the file is.
    await limitPages(1)
    const writeMany = () =>
      store.db.transaction().execute(async (transaction) => {
        for (let number = 0; number < 1000; number++) await insert(transaction, number).execute()
      })
    expect(await failureOf(writeMany())).to.equal('storage_full')
    expect(await ids()).to.deep.equal([])
    await limitPages(1_000_000)
    await writeMany()
    expect(await ids()).to.have.length(1000)
  })

  it('do not create a file anew that was removed', async () => {
    await rename(path(), `${path()}-away`)
    expect(await failureOf(insert(store.db, 1).execute())).to.equal('storage_unavailable')
    await rename(`${path()}-away`, path())
    await insert(store.db, 1).execute()
  })
})
