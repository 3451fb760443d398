// Creates keys in the database whose URL is on the command line, without end, and prints each secret once it is stored.
import { writeSync } from 'node:fs'
import { editAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { createKey } from '../../../core/keys/keys.ts'
import { openStore } from '../../../core/store/database.ts'

const store = await openStore(process.argv[2]!)
await editAccount(store, { id: 'default', maxKeys: 1_000_000 }, GATEWAY)
for (;;) {
  const { secret } = await createKey(store, { name: 'in haste', kind: 'live' })
  writeSync(1, `${secret}\n`)
}
