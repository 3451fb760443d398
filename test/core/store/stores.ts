import { expect } from 'chai'
import { openStore, type Store } from '../../../core/store/database.ts'
import type { KeysTable } from '../../../core/store/schema.ts'
import { StoreError } from '../../../core/store/unavailable.ts'

/** One database for each test; its stores are closed after the test. To be called inside `onEachDatabase`. */
export function storesIn(database: () => Promise<string>): { url(): string; open(): Promise<Store> } {
  let url = ''
  let stores: Store[] = []
  beforeEach(async () => {
    url = await database()
  })
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()))
    stores = []
  })
  const open = async () => {
    const store = await openStore(url)
    stores.push(store)
    return store
  }
  return { url: () => url, open }
}

/** Resolves to the StoreError with which opening a store fails. */
export async function refusal(opening: Promise<unknown>): Promise<Error> {
  const outcome = await opening.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(outcome).to.be.instanceOf(StoreError)
  return outcome as Error
}

/** A row of the table `keys`. */
export const KEY: KeysTable = {
  id: 'key_1',
  account_id: 'default',
  name: 'one',
  kind: 'live',
  digest: 'd1',
  prefix_shown: 'sk-live-0000',
  last_four: '0000',
  models: '["*"]',
  rate_class: null,
  budgets: '[]',
  tags: '{}',
  created_at: 1,
  created_by: null,
  created_by_name: null,
  expires_at: null,
  revoked_at: null,
  disabled_at: null,
  last_used_at: null,
  replaces: null,
  replaced_by: null,
}
