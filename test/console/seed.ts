import type { ConsoleFixture } from './fixture.ts'
import type { Management } from './management.ts'
import { writePastCalls } from './past-calls.ts'

const DAY_MS = 86_400_000
const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString()

/** Keys of each kind and state. */
const KEYS = [
  {
    name: 'search service',
    kind: 'live',
    models: ['openai/*', 'acme/smart', 'claude/*'],
    tags: { team: 'search' },
    expires_at: inDays(82),
  },
  { name: 'support desk', kind: 'live', tags: { team: 'support' }, expires_at: inDays(30) },
  {
    name: 'research notebooks',
    kind: 'live',
    models: ['acme/*'],
    tags: { team: 'research' },
    rate_class: 'batch',
    expires_at: null,
  },
  { name: 'continuous integration', kind: 'test', expires_at: null },
  { name: 'terraform', kind: 'admin', expires_at: inDays(300) },
  { name: 'old shop', kind: 'live', expires_at: inDays(1) },
  { name: 'demo in May', kind: 'live', expires_at: inDays(1) },
]

/** Fills a gateway with accounts, users, keys, and the calls of a month. */
export async function seed({ gateway: { store } }: ConsoleFixture, admin: Management): Promise<void> {
  // One of the keys that every test gateway has.
  await store.db.deleteFrom('keys').where('name', '=', 'test').execute()
  await admin.patch('/accounts/default', { name: 'Acme' })
  const account = await admin.post<{ id: string }>('/accounts', { name: 'Field team', models: ['acme/*', 'sandbox/*'] })
  await admin.post('/accounts', { name: 'Northwind', models: ['openai/*'], rate_class: 'batch' })
  for (const email of ['lin@example.com', 'kim@northwind.example'])
    await admin.post('/invitations', { email, role: 'member', account_id: account.id })
  const ids: string[] = []
  for (const key of KEYS) ids.push((await admin.post<{ id: string }>('/keys', key)).id)
  await admin.post(`/keys/${ids[5]}/revoke`)
  await store.db
    .updateTable('keys')
    .set({ expires_at: Date.now() - DAY_MS })
    .where('id', '=', ids[6]!)
    .execute()
  await store.db
    .updateTable('keys')
    .set({ last_used_at: Date.now() - 130_000 })
    .where('id', 'in', ids.slice(0, 3))
    .execute()
  await writePastCalls(store, ids.slice(0, 3))
}
