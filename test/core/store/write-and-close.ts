// Writes into the table of the SQLite file on the command line, and closes at once: the thread that writes has yet to start.
import { createSqliteWriter } from '../../../core/store/sqlite-writer.ts'

const writer = createSqliteWriter(process.argv[2]!)
const writing = writer.run([{ sql: 'insert into notes values (?)', rows: [['one'], ['two']] }])
await writer.close()
process.stdout.write(`closed, ${await writing} written`)
