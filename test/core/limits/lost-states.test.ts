import { createClient } from '@redis/client'
import { expect } from 'chai'
import { StoredAuthority } from '../../../core/limits/authority.ts'
import type { Counter, Lease } from '../../../core/limits/counter.ts'
import { DatabaseStorage } from '../../../core/limits/database-storage.ts'
import { RedisStorage } from '../../../core/limits/redis-storage.ts'
import { openStore } from '../../../core/store/database.ts'
import { RedisConnection } from '../../../core/store/redis-connection.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { NO_LISTENER, startRedis, startRedisCluster } from '../../support/redis.ts'
import { describeWith } from '../../support/requirements.ts'
import { uniqueId } from './authorities.ts'

const DAY = { kind: 'fixed', ms: 86_400_000 } as const
const MONTH = { kind: 'calendar', unit: 'month', timeZone: 'UTC' } as const

/** A storage whose states a test can spoil. */
interface Spoiled {
  /** The authority of one more gateway. */
  gateway(onFault?: (counter: string, error: unknown) => void): StoredAuthority
  read(id: string): Promise<string>
  write(id: string, state: string): Promise<void>
  remove(id: string): Promise<void>
  close(): Promise<void>
}

const LEDGER = 300

async function inDatabase(create: () => Promise<string>): Promise<Spoiled> {
  const store = await openStore(await create())
  const storage = new DatabaseStorage(store)
  const table = store.db
  return {
    gateway: (onFault) => new StoredAuthority(storage, async () => LEDGER, onFault),
    read: async (id) =>
      (await table.selectFrom('quota_counters').select('state').where('id', '=', id).executeTakeFirstOrThrow()).state,
    async write(id, state) {
      await table.updateTable('quota_counters').set({ state }).where('id', '=', id).execute()
    },
    async remove(id) {
      await table.deleteFrom('quota_counters').where('id', '=', id).execute()
    },
    async close() {
      await storage.close()
      await store.close()
    },
  }
}

async function inRedis(): Promise<Spoiled> {
  const redis = await startRedis()
  const client = createClient({ url: redis.url })
  await client.connect()
  const storages: RedisStorage[] = []
  const key = (id: string): string => `umg:quota:${id}`
  return {
    gateway(onFault) {
      const storage = new RedisStorage(new RedisConnection(redis.url, NO_LISTENER))
      storages.push(storage)
      return new StoredAuthority(storage, async () => LEDGER, onFault)
    },
    read: async (id) => String(await client.get(key(id))),
    async write(id, state) {
      await client.set(key(id), state)
    },
    async remove(id) {
      await client.del(key(id))
    },
    async close() {
      client.destroy()
      for (const storage of storages) await storage.close()
      await redis.stop()
    },
  }
}

const counterOf = (limit: number, window: Counter['window'] = DAY): Counter => ({ id: uniqueId(), limit, window })

/** Asks as a holder that has nothing, until it is answered: a connection may not be open yet. */
async function ask(authority: StoredAuthority, holder: string, counter: Counter, need: number): Promise<Lease | null> {
  for (;;) {
    try {
      const request = { counter, windowEnd: 0, spent: 0, keep: 0, need, want: need }
      return (await authority.renew(holder, [request]))[0]!
    } catch {
      await new Promise(setImmediate)
    }
  }
}

function describeLost(open: () => Promise<Spoiled>): void {
  let spoiled: Spoiled

  before(async () => {
    spoiled = await open()
  })

  after(() => spoiled?.close())

  for (const [name, junk] of Object.entries({
    'is no JSON': '{"windowEnd":',
    'is null': 'null',
    'is a number': '7',
    'is an empty object': '{}',
    'has a lease without amounts': '{"windowEnd":1,"used":0,"leases":{"one":{}}}',
    'has a text for an amount': '{"windowEnd":1,"used":"0","leases":{}}',
  })) {
    it(`a state that ${name} costs no other counter, and is what the gateway knew of it`, async () => {
      const [bad, good] = [counterOf(10), counterOf(10)]
      const authority = spoiled.gateway()
      await ask(authority, 'one', bad, 8)
      await spoiled.write(bad.id, junk)
      const request = { windowEnd: 0, spent: 0, keep: 0, need: 3, want: 3 }
      const leases = await authority.renew('two', [
        { counter: bad, ...request },
        { counter: good, ...request },
      ])
      expect(leases.map((lease) => [lease?.granted, lease?.remaining])).to.deep.equal([
        [false, 2],
        [true, 7],
      ])
    })
  }

  it('a state that is lost is what the gateway knew of it', async () => {
    const counter = counterOf(10)
    const authority = spoiled.gateway()
    await ask(authority, 'one', counter, 8)
    await spoiled.remove(counter.id)
    expect(await ask(authority, 'two', counter, 3)).to.include({ granted: false, remaining: 2 })
  })

  it('a state that was set back to an old copy is what the gateway knew of it', async () => {
    const counter = counterOf(10)
    const [authority, other] = [spoiled.gateway(), spoiled.gateway()]
    await ask(authority, 'one', counter, 2)
    const copy = await spoiled.read(counter.id)
    await ask(authority, 'two', counter, 2)
    await ask(other, 'three', counter, 4)
    await spoiled.write(counter.id, copy)
    expect(await ask(other, 'four', counter, 3)).to.include({ granted: false, remaining: 2 })
    expect(await ask(authority, 'five', counter, 3)).to.include({ granted: false, remaining: 2 })
  })

  it('the epoch of the authority is another one after the storage has lost something, and only then', async () => {
    const counter = counterOf(10)
    const [authority, other] = [spoiled.gateway(), spoiled.gateway()]
    const epochOf = async (gateway: StoredAuthority) => (await ask(gateway, 'one', counter, 0))!.epoch
    const first = await epochOf(authority)
    const copy = await spoiled.read(`authority/${first}`)
    expect([await epochOf(authority), await epochOf(authority)]).to.deep.equal([first, first])
    const others = await epochOf(other)
    await spoiled.write(`authority/${first}`, copy)
    const second = await epochOf(authority)
    expect(second).to.not.equal(first)
    expect(await epochOf(authority)).to.equal(second)
    await spoiled.remove(`authority/${second}`)
    expect(await epochOf(authority)).to.not.equal(second)
    expect(await epochOf(other)).to.equal(others)
  })

  it('a counter that was set back begins another epoch too: it may be on a node of its own', async () => {
    const counter = counterOf(10)
    const authority = spoiled.gateway()
    const first = await ask(authority, 'one', counter, 2)
    const copy = await spoiled.read(counter.id)
    await ask(authority, 'two', counter, 2)
    await spoiled.write(counter.id, copy)
    expect((await ask(authority, 'two', counter, 2))!.epoch).to.not.equal(first!.epoch)
  })

  it('a state of a budget that another gateway finds unreadable begins with what the ledger says', async () => {
    const counter = counterOf(1000, MONTH)
    await ask(spoiled.gateway(), 'one', counter, 600)
    await spoiled.write(counter.id, 'junk')
    expect(await ask(spoiled.gateway(), 'two', counter, 701)).to.include({ granted: false, remaining: 700 })
  })
}

describe('states of counters that are lost', () => {
  onEachDatabase('in the database', (create) => describeLost(() => inDatabase(create)))
  describeWith('redis', 'in Redis', () => {
    describeLost(inRedis)

    it('a key of another type is a state that is lost', async () => {
      const redis = await startRedis()
      const storage = new RedisStorage(new RedisConnection(redis.url, NO_LISTENER))
      const client = createClient({ url: redis.url })
      try {
        await client.connect()
        const [bad, good] = [counterOf(10), counterOf(10)]
        const authority = new StoredAuthority(storage)
        await ask(authority, 'one', bad, 8)
        await client.del(`umg:quota:${bad.id}`)
        await client.lPush(`umg:quota:${bad.id}`, 'junk')
        expect(await ask(authority, 'two', bad, 3)).to.include({ granted: false, remaining: 2 })
        expect(await ask(authority, 'two', good, 3)).to.include({ granted: true })
      } finally {
        client.destroy()
        await storage.close()
        await redis.stop()
      }
    })

    it('a counter that Redis refuses costs itself, and Redis says why', async () => {
      const redis = await startRedis()
      const client = createClient({ url: redis.url })
      const bad = counterOf(10)
      await client.connect()
      await client.sendCommand(['ACL', 'SETUSER', 'gateway', 'on', '>secret', '+@all', '~umg:quota:key_*'])
      const storage = new RedisStorage(new RedisConnection(redis.url.replace('//', '//gateway:secret@'), NO_LISTENER))
      const faults: [string, unknown][] = []
      const authority = new StoredAuthority(storage, undefined, (counter, error) => faults.push([counter, error]))
      try {
        const refused = { ...bad, id: `other/${bad.id}` }
        expect(await ask(authority, 'one', bad, 3)).to.include({ granted: true })
        expect([await ask(authority, 'one', refused, 3), await ask(authority, 'one', refused, 3)]).to.deep.equal([null, null])
        expect(faults).to.have.length(1)
        expect(faults[0]).to.have.nested.property('[0]', refused.id)
        expect(faults[0]).to.have.nested.property('[1].code', 'REDIS_NOPERM')
        expect(faults[0]).to.have.nested.property('[1].message').that.includes('NOPERM')
      } finally {
        client.destroy()
        await storage.close()
        await redis.stop()
      }
    })

    it('nothing is granted that Redis did not store: it may read and not write', async () => {
      const redis = await startRedis()
      const client = createClient({ url: redis.url })
      await client.connect()
      await client.sendCommand(['ACL', 'SETUSER', 'gateway', 'on', '>secret', '+@all', '~*'])
      const storage = new RedisStorage(new RedisConnection(redis.url.replace('//', '//gateway:secret@'), NO_LISTENER))
      const codes: unknown[] = []
      const onFault = (_: string, error: unknown) => codes.push((error as { code?: unknown }).code)
      const authority = new StoredAuthority(storage, async () => 0, onFault)
      const [counter, budget] = [counterOf(10), counterOf(10, MONTH)]
      try {
        const first = await ask(authority, 'one', counter, 3)
        await client.sendCommand(['ACL', 'SETUSER', 'gateway', '-set'])
        expect(await ask(authority, 'one', counter, 3)).to.equal(null)
        expect(await ask(authority, 'one', budget, 3)).to.equal(null)
        expect(codes).to.deep.equal(['REDIS_ERR', 'REDIS_ERR'])
        await client.sendCommand(['ACL', 'SETUSER', 'gateway', '+set'])
        expect(await ask(authority, 'two', counter, 7)).to.include({ granted: true, remaining: 0, epoch: first!.epoch })
        expect(await ask(authority, 'two', budget, 10)).to.include({ granted: true, remaining: 0 })
      } finally {
        client.destroy()
        await storage.close()
        await redis.stop()
      }
    })

    it('a counter that Redis could not change in time is not changed later, over what was told since', async () => {
      const redis = await startRedis()
      const client = createClient({ url: redis.url })
      await client.connect()
      const storage = new RedisStorage(new RedisConnection(redis.url, NO_LISTENER))
      const state = { windowEnd: 0, used: 0, leases: {} }
      const change = (id: string) => storage.change(new Map([[id, { lifetime: 60_000, apply: () => state }]]))
      const isDone = (id: string) =>
        change(id).then(
          () => true,
          () => false,
        )
      try {
        while (!(await isDone('first'))) await new Promise(setImmediate)
        await client.sendCommand(['CLIENT', 'PAUSE', '900', 'ALL'])
        expect(await isDone('late')).to.equal(false)
        await client.get('any')
        expect(await isDone('next')).to.equal(true)
        expect(await client.exists(['umg:quota:late', 'umg:quota:next'])).to.equal(1)
      } finally {
        client.destroy()
        await storage.close()
        await redis.stop()
      }
    })

    it('a cluster of Redis has the counters on all of its nodes', async function () {
      this.timeout(60_000)
      const cluster = await startRedisCluster()
      const storages = [
        new RedisStorage(new RedisConnection(cluster.url, NO_LISTENER)),
        new RedisStorage(new RedisConnection(cluster.url, NO_LISTENER)),
      ]
      try {
        const [one, two] = storages.map((storage) => new StoredAuthority(storage))
        const counters = Array.from({ length: 30 }, () => counterOf(10))
        for (const counter of counters) {
          expect(await ask(one!, 'one', counter, 6)).to.include({ granted: true })
          expect(await ask(two!, 'two', counter, 5)).to.include({ granted: false, remaining: 4 })
        }
        expect(await cluster.keys()).to.satisfy((keys: readonly number[]) => keys.every((count) => count > 0))
        await cluster.killOne()
        const request = { windowEnd: 0, spent: 0, keep: 0, need: 1, want: 1 }
        const leases = await two!.renew(
          'two',
          counters.map((counter) => ({ counter, ...request })),
        )
        const answered = leases.filter((lease) => lease !== null)
        expect(answered.length).to.be.within(1, 29)
        expect(answered.every(({ granted }) => granted)).to.equal(true)
      } finally {
        for (const storage of storages) await storage.close()
        await cluster.stop()
      }
    })
  })
})
