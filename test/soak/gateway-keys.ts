import { editAccount } from '../../core/accounts/accounts.ts'
import { GATEWAY } from '../../core/accounts/audit.ts'
import { createKey } from '../../core/keys/keys.ts'
import { openStore } from '../../core/store/database.ts'

/** A key of each rate class, a test key and an admin key. */
export interface GatewayKeys {
  readonly many: string
  readonly few: string
  readonly test: string
  readonly admin: string
}

/** Creates keys in a database, and lets the default account have any number of further ones. */
export async function createGatewayKeys(database: string): Promise<GatewayKeys> {
  const store = await openStore(database)
  try {
    await editAccount(store, { id: 'default', maxKeys: 1_000_000 }, GATEWAY)
    const keyOf = async (rateClass: string) => (await createKey(store, { name: rateClass, kind: 'live', rateClass })).secret
    return {
      many: await keyOf('many'),
      few: await keyOf('few'),
      test: (await createKey(store, { name: 'test', kind: 'test' })).secret,
      admin: (await createKey(store, { name: 'admin', kind: 'admin' })).secret,
    }
  } finally {
    await store.close()
  }
}
