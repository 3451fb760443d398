import { once } from 'node:events'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { createSqliteWriter } from '../../../core/store/sqlite-writer.ts'
import { onSqlite } from '../../support/databases.ts'
import { child } from './child.ts'

onSqlite('the thread that writes to a database file', (database) => {
  let path = ''
  let notes: DatabaseSync
  beforeEach(async () => {
    path = (await database()).slice('sqlite:'.length)
    notes = new DatabaseSync(path)
    notes.exec('create table notes (text)')
  })
  afterEach(() => notes?.close())

  it('writes what it was given while it was starting, before it closes and its process ends', async () => {
    // In a process of its own: in this one something else would keep the event loop alive.
    const writer = child(new URL('write-and-close.ts', import.meta.url), path)
    const [said, ended] = await Promise.all([text(writer.stdout), once(writer, 'exit')])
    expect([said, ...ended]).to.deep.equal(['closed, 2 written', 0, null])
    expect(notes.prepare('select text from notes').all()).to.deep.equal([{ text: 'one' }, { text: 'two' }])
  })

  it('closes where it cannot start, and says of what it was given that it is lost', async () => {
    const writer = createSqliteWriter(dirname(path))
    const writing = writer.run([{ sql: 'select 1', rows: [[]] }]).catch((error: Error) => error.message)
    await writer.close()
    expect(await writing).to.equal('unable to open database file')
  })
})
