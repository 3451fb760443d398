import { once } from 'node:events'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { createSqliteWriter } from '../../../core/store/sqlite-threads.ts'
import { onSqlite } from '../../support/databases.ts'
import { child } from './child.ts'

const INSERT = 'insert into notes values (?)'

onSqlite('the thread that writes to a database file', (database) => {
  let path = ''
  let notes: DatabaseSync
  const texts = () =>
    notes
      .prepare('select text from notes')
      .all()
      .map(({ text }) => text)

  beforeEach(async () => {
    path = (await database()).slice('sqlite:'.length)
    notes = new DatabaseSync(path)
    notes.exec('create table notes (text)')
  })
  afterEach(() => notes?.close())

  it('writes what it was given before it started, then closes, and its process ends', async () => {
    // In a process of its own: in this one other handles keep the event loop alive.
    const writer = child(new URL('write-and-close.ts', import.meta.url), path)
    const [output, ended] = await Promise.all([text(writer.stdout), once(writer, 'exit')])
    expect([output, ...ended]).to.deep.equal(['closed, 2 written', 0, null])
    expect(texts()).to.deep.equal(['one', 'two'])
  })

  it('writes in the order of its calls, each in a transaction of its own', async () => {
    const writer = createSqliteWriter(path)
    const numbers = Array.from({ length: 20 }, (_, number) => String(number))
    const failing = writer.run([
      { sql: INSERT, rows: [['lost']] },
      { sql: 'insert into nowhere values (1)', rows: [[]] },
    ])
    const outcomes = Promise.allSettled([failing, ...numbers.map((number) => writer.run([{ sql: INSERT, rows: [[number]] }]))])
    await writer.close()
    expect((await outcomes).map(({ status }) => status)).to.deep.equal(['rejected', ...numbers.map(() => 'fulfilled')])
    expect(texts()).to.deep.equal(numbers)
  })

  it('closes if it cannot open the file, and rejects what it was given', async () => {
    const writer = createSqliteWriter(dirname(path))
    const writing = writer.run([{ sql: 'select 1', rows: [[]] }]).catch((error: Error) => error.message)
    await writer.close()
    expect(await writing).to.equal('unable to open database file')
  })
})
