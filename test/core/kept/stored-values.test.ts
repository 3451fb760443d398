import { expect } from 'chai'
import { DatabaseValues } from '../../../core/kept/database-values.ts'
import { RedisValues } from '../../../core/kept/redis-values.ts'
import { StoredValues } from '../../../core/kept/stored-values.ts'
import { type Place, SPACES, type Space, type ValueStorage } from '../../../core/kept/value-store.ts'
import { openStore, type Store } from '../../../core/store/database.ts'
import { RedisConnection } from '../../../core/store/redis-connection.ts'
import { onEachDatabase, onSqlite } from '../../support/databases.ts'
import { NO_LISTENER, startRedis, startRedisCluster } from '../../support/redis.ts'
import { describeWith } from '../../support/requirements.ts'
import { ValuesInMemory } from './values-in-memory.ts'

const ACME: Place = { space: 'call-states', account: 'acme' }
const OTHER: Place = { space: 'call-states', account: 'other' }

const space = (changes: Partial<Space>) => ({ spaces: { 'call-states': { ...SPACES['call-states'], ...changes } } })

/** A backend: each storage is that of one more gateway. */
interface Backend {
  open(): Promise<ValueStorage>
  close(): Promise<void>
}

async function inDatabase(create: () => Promise<string>): Promise<Backend> {
  const url = await create()
  const stores: Store[] = []
  return {
    async open() {
      const store = await openStore(url)
      stores.push(store)
      return new DatabaseValues(store)
    },
    close: async () => void (await Promise.all(stores.map((store) => store.close()))),
  }
}

async function inRedis(server: { readonly url: string; stop(): Promise<void> }): Promise<Backend> {
  const connections: RedisConnection[] = []
  return {
    async open() {
      const ready = Promise.withResolvers<void>()
      const connection = new RedisConnection(server.url, { ...NO_LISTENER, onReady: ready.resolve })
      connections.push(connection)
      await ready.promise
      return new RedisValues(connection)
    },
    async close() {
      for (const connection of connections) connection.destroy()
      await server.stop()
    },
  }
}

function onEachBackend(define: (start: () => Promise<Backend>) => void): void {
  describe('a store in memory', () => define(() => inDatabase(async () => 'sqlite::memory:').then((backend) => onlyOne(backend))))
  onEachDatabase('a store in the database', (create) => define(() => inDatabase(create)))
  describeWith('redis', 'a store in Redis', () => define(async () => inRedis(await startRedis())))
  describeWith('redis', 'a store in a cluster of Redis', () => define(async () => inRedis(await startRedisCluster())))
}

/** Each opening of a database in memory would be another one. */
function onlyOne({ open, close }: Backend): Backend {
  let opened: Promise<ValueStorage> | undefined
  return { open: () => (opened ??= open()), close }
}

onEachBackend((start) => {
  let backend: Backend
  let stores: StoredValues[]

  beforeEach(async () => {
    backend = await start()
    stores = []
  })
  afterEach(async () => {
    await Promise.all((stores ?? []).map((store) => store?.close()))
    await backend?.close()
  })

  async function open(options?: ConstructorParameters<typeof StoredValues>[1]): Promise<StoredValues> {
    const store = new StoredValues(await backend.open(), options)
    stores.push(store)
    return store
  }

  it('gives all gateways what one has put, until it is replaced or deleted', async () => {
    const [first, second] = [await open(), await open()]
    expect(
      await first.put(ACME, [
        ['a', 'one'],
        ['b', "two''\n€"],
      ]),
    ).to.equal('kept')
    expect(Object.fromEntries(await second.get(ACME, ['a', 'b', 'c']))).to.deep.equal({ a: 'one', b: "two''\n€" })
    await second.put(ACME, [['a', 'three']])
    await second.delete(ACME, ['b', 'c'])
    expect(await first.get(ACME, ['a', 'b'])).to.deep.equal([['a', 'three']])
  })

  it('lets one of all gateways add a value, after what was put before', async () => {
    const stores = [await open(), await open(), await open()] as const
    const results = await Promise.all(stores.map((store, index) => store.add(ACME, ['end', `${index}`])))
    expect(results.toSorted()).to.deep.equal(['kept', 'taken', 'taken'])
    expect(await stores[0].get(ACME, ['end'])).to.deep.equal([['end', `${results.indexOf('kept')}`]])
    const put = stores[1].put(ACME, [['a', 'one']])
    expect(await stores[1].add(ACME, ['a', 'two'])).to.equal('taken')
    await put
    expect(await stores[1].add(OTHER, ['a', 'two'])).to.equal('kept')
  })

  it('gives no account what is of another', async () => {
    const store = await open()
    await store.put(ACME, [['a', 'one']])
    expect(await store.get(OTHER, ['a'])).to.deep.equal([])
    await store.delete(OTHER, ['a'])
    expect(await store.get(ACME, ['a'])).to.have.length(1)
  })

  it('gives nothing that has expired, and sweeps it', async () => {
    const store = await open(space({ ttlMs: 1 }))
    await store.put(ACME, [['a', 'one']])
    const started = Date.now()
    while (Date.now() <= started + 2) await new Promise(setImmediate)
    expect(await store.get(ACME, ['a'])).to.deep.equal([])
    const storage = await backend.open()
    expect((await storage.sweep()).get('call-states')).to.equal(undefined)
  })

  it('keeps no more of an account than its bounds, the newest, and all of another', async () => {
    const store = await open(space({ account: { entries: 10, bytes: 1 << 20 } }))
    await store.put(OTHER, [['mine', 'one']])
    for (let count = 0; count < 30; count++) {
      await store.put(ACME, [[`key-${count}`, 'value']])
      const started = Date.now()
      while (Date.now() === started) await new Promise(setImmediate)
    }
    const keys = Array.from({ length: 30 }, (_, count) => `key-${count}`)
    const left = (await store.get(ACME, keys)).map(([key]) => key)
    expect(left.length).to.be.within(8, 10)
    expect(left).to.have.members(keys.slice(-left.length))
    expect(await store.get(OTHER, ['mine'])).to.have.length(1)
  })

  it('keeps no more bytes of an account than its bounds', async () => {
    const storage = await backend.open()
    const store = new StoredValues(storage, space({ account: { entries: 1000, bytes: 20_000 } }))
    for (let count = 0; count < 40; count++) await store.put(ACME, [[`key-${count}`, 'v'.repeat(1000)]])
    const { bytes } = (await storage.sweep()).get('call-states')!
    expect(bytes).to.be.at.most(20_000)
    expect(await store.get(ACME, ['key-39'])).to.have.length(1)
  })

  it('keeps nothing beyond the bounds of all accounts together, and says so', async () => {
    const store = await open(space({ total: { entries: 2, bytes: 1 << 20 } }))
    expect(await store.put(ACME, [['a', '1']])).to.equal('kept')
    expect(
      await store.put(OTHER, [
        ['a', '1'],
        ['b', '2'],
      ]),
    ).to.equal('full')
    expect(await store.put(OTHER, [['a', '1']])).to.equal('kept')
    const another = await open(space({ total: { entries: 2, bytes: 1 << 20 } }))
    expect(await another.put(OTHER, [['c', '1']])).to.equal('full')
  })

  it('keeps no value that is too large', async () => {
    const store = await open(space({ value: 1000 }))
    expect(await store.put(ACME, [['a', 'v'.repeat(1000)]])).to.equal('too_large')
    expect(await store.get(ACME, ['a'])).to.deep.equal([])
  })

  it('takes many values at a time', async () => {
    const store = await open()
    const entries = Array.from({ length: 1200 }, (_, count) => [`key-${count}`, `${count}`] as const)
    await store.put(ACME, entries)
    const found = await store.get(
      ACME,
      entries.map(([key]) => key),
    )
    expect(new Map(found)).to.deep.equal(new Map(entries))
  })
})

describe('a store of values', () => {
  it('gives what is not written yet, and forgets it when it is deleted', async () => {
    const storage = new ValuesInMemory()
    const store = new StoredValues(storage)
    const gate = Promise.withResolvers<void>()
    await store.put(ACME, [['before', '0']])
    storage.gate = gate.promise
    const first = store.put(ACME, [['a', '1']])
    const second = store.put(ACME, [['b', '2']])
    await new Promise(setImmediate)
    expect(Object.fromEntries(await store.get(ACME, ['a', 'b']))).to.deep.equal({ a: '1', b: '2' })
    const deleted = store.delete(ACME, ['a', 'b'])
    gate.resolve()
    await Promise.all([first, second, deleted])
    expect(await store.get(ACME, ['a', 'b', 'before'])).to.deep.equal([['before', '0']])
    await store.close()
  })

  it('gives what waits for the first count, and forgets it when it is deleted', async () => {
    const storage = new ValuesInMemory()
    const store = new StoredValues(storage)
    const gate = Promise.withResolvers<void>()
    storage.countGate = gate.promise
    const puts = [store.put(ACME, [['a', 'old']]), store.put(ACME, [['a', '1']]), store.put(OTHER, [['a', '2']])]
    puts.push(store.put(ACME, [['b', '3']]))
    expect(await store.get(ACME, ['a', 'b'])).to.deep.equal([
      ['a', '1'],
      ['b', '3'],
    ])
    const deleted = store.delete(ACME, ['b'])
    gate.resolve()
    expect(new Set(await Promise.all(puts))).to.deep.equal(new Set(['kept']))
    await deleted
    expect(await store.get(ACME, ['a', 'b'])).to.deep.equal([['a', '1']])
    await store.close()
  })

  it('takes no more than a bound while nothing can be written', async () => {
    const storage = new ValuesInMemory()
    const store = new StoredValues(storage)
    const gate = Promise.withResolvers<void>()
    storage.gate = gate.promise
    const puts = Array.from({ length: 40 }, (_, count) => store.put(ACME, [[`${count}`, 'v'.repeat(1_000_000)]]))
    gate.resolve()
    const outcomes = await Promise.all(puts)
    expect(outcomes.filter((outcome) => outcome === 'kept')).to.have.length(33)
    expect(new Set(outcomes)).to.deep.equal(new Set(['kept', 'full']))
    await store.close()
  })

  it('rejects while its storage fails, and works again when that does', async () => {
    const storage = new ValuesInMemory()
    const store = new StoredValues(storage)
    storage.fails = true
    const failure = await store.put(ACME, [['a', '1']]).catch(({ message }) => message)
    expect(failure).to.equal('no storage')
    storage.fails = false
    expect(await store.put(ACME, [['a', '2']])).to.equal('kept')
    expect(await store.get(ACME, ['a'])).to.deep.equal([['a', '2']])
    await store.close()
  })
})

describeWith('redis', 'a store in a Redis server that ends', () => {
  it('rejects, and has lost everything when the server is back', async () => {
    const redis = await startRedis()
    let ready = Promise.withResolvers<void>()
    const connection = new RedisConnection(redis.url, { ...NO_LISTENER, onReady: () => ready.resolve() })
    try {
      const store = new StoredValues(new RedisValues(connection))
      await ready.promise
      await store.put(ACME, [['a', '1']])
      await redis.kill()
      expect(await store.get(ACME, ['a']).catch(() => 'rejected')).to.equal('rejected')
      expect(await store.put(ACME, [['b', '1']]).catch(() => 'rejected')).to.equal('rejected')
      ready = Promise.withResolvers()
      await redis.restart()
      await ready.promise
      expect(await store.get(ACME, ['a'])).to.deep.equal([])
      expect(await store.put(ACME, [['a', '2']])).to.equal('kept')
      expect(await store.get(ACME, ['a'])).to.deep.equal([['a', '2']])
      await store.close()
    } finally {
      connection.destroy()
      await redis.stop()
    }
  })
})

onSqlite('a store in a database that was closed', (create) => {
  it('rejects', async () => {
    const database = await openStore(await create())
    const store = new StoredValues(new DatabaseValues(database))
    await store.put(ACME, [['a', '1']])
    await database.close()
    expect(await store.get(ACME, ['a']).catch(() => 'rejected')).to.equal('rejected')
    await store.close()
  })
})
