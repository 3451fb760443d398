import { openStore, type Store } from '../../../core/store/database.ts'

/** One database for each test, and stores that are open on it until it is over. To be called inside `onEachDatabase`. */
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
