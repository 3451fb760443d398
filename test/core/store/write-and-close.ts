// Writes to the SQLite file in its arguments, and closes it before the writing thread has started.
import { setImmediate } from 'node:timers/promises'
import { openStore } from '../../../core/store/database.ts'

const store = await openStore(`sqlite:${process.argv[2]!}`)
const settings = { models: '[]', rate_class: null, max_keys: 100, max_key_days: null, budgets: '[]', declared_at: null }
const accounts = ['one', 'two'].map((id) => ({ id, name: id, ...settings, created_at: 1 }))
const writing = Promise.all(accounts.map((account) => store.db.insertInto('accounts').values(account).execute()))
await setImmediate()
await store.close()
process.stdout.write(`closed, ${(await writing).length} written`)
