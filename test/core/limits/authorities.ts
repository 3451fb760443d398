import { type CounterStorage, type Ledger, MemoryStorage, StoredAuthority } from '../../../core/limits/authority.ts'
import { DatabaseStorage } from '../../../core/limits/database-storage.ts'
import { RedisStorage } from '../../../core/limits/redis-storage.ts'
import { openStore } from '../../../core/store/database.ts'
import { RedisConnection } from '../../../core/store/redis-connection.ts'
import { newId } from '../../../core/text/ids.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { NO_LISTENER, startRedis } from '../../support/redis.ts'
import { describeWith } from '../../support/requirements.ts'

/** What tests of an authority get: as many gateways as they want, which share its truth. */
export interface SharedStorage {
  /** The authority of one more gateway. Closed by the fixture. */
  gateway(ledger?: Ledger): StoredAuthority
  close(): Promise<void>
}

/** Defines the same tests for each kind of authority. */
export function onEachAuthority(define: (open: () => Promise<SharedStorage>) => void): void {
  describe('an authority in memory', () => define(async () => shared(new MemoryStorage())))
  onEachDatabase('an authority in the database', (create) => define(() => inDatabase(create)))
  describeWith('redis', 'an authority in Redis', () => define(inRedis))
}

/** One storage, which several authorities use: their changes meet in it. */
function shared(storage: CounterStorage, close: () => Promise<void> = async () => undefined): SharedStorage {
  return { gateway: (ledger) => new StoredAuthority(storage, ledger), close }
}

async function inDatabase(create: () => Promise<string>): Promise<SharedStorage> {
  const url = await create()
  const stores: Awaited<ReturnType<typeof openStore>>[] = []
  const open = async () => {
    const store = await openStore(url)
    stores.push(store)
    return store
  }
  const storages = [new DatabaseStorage(await open()), new DatabaseStorage(await open())]
  let opened = 0
  return {
    // In turn on two connections, as two gateways have them.
    gateway: (ledger) => new StoredAuthority(storages[opened++ % storages.length]!, ledger),
    async close() {
      await Promise.all(storages.map((storage) => storage.close()))
      await Promise.all(stores.map((store) => store.close()))
    },
  }
}

async function inRedis(): Promise<SharedStorage> {
  const redis = await startRedis()
  const storages: RedisStorage[] = []
  return {
    gateway(ledger) {
      const storage = new RedisStorage(new RedisConnection(redis.url, NO_LISTENER))
      storages.push(storage)
      return new StoredAuthority(storage, ledger)
    },
    async close() {
      await Promise.all(storages.map((storage) => storage.close()))
      await redis.stop()
    },
  }
}

/** The id of a counter that no other test uses. */
export const uniqueId = (): string => newId('key')
