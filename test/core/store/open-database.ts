// Prints `ready`; on a line of input it opens the database of the URL in its arguments and prints its accounts.
import { once } from 'node:events'
import { openStore } from '../../../core/store/database.ts'

process.stdout.write('ready\n')
await once(process.stdin, 'data')
const store = await openStore(process.argv[2]!)
const accounts = await store.db.selectFrom('accounts').select('id').execute()
process.stdout.write(accounts.map((account) => account.id).join())
await store.close()
process.stdin.destroy()
