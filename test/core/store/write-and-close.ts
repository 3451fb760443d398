// Writes to a table of the SQLite file in its arguments, and closes at once, before the writing thread has started.
import { createSqliteWriter } from '../../../core/store/sqlite-threads.ts'

const writer = createSqliteWriter(process.argv[2]!)
const writing = writer.run([{ sql: 'insert into notes values (?)', rows: [['one'], ['two']] }])
await writer.close()
process.stdout.write(`closed, ${await writing} written`)
