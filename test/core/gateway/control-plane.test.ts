import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { ControlPlane } from '../../../core/gateway/planes.ts'
import { Proxies } from '../../../core/gateway/proxies.ts'
import { RemoteControl } from '../../../core/gateway/remote-control.ts'
import { StoredValues } from '../../../core/kept/stored-values.ts'
import type { KeyHolder } from '../../../core/keys/principal.ts'
import type { KeyWatcher } from '../../../core/keys/source.ts'
import { MemoryStorage, StoredAuthority } from '../../../core/limits/authority.ts'
import type { LeaseRequest } from '../../../core/limits/counter.ts'
import { createLog } from '../../../core/observe/log.ts'
import { TotalMetrics } from '../../../core/observe/total-metrics.ts'
import type { CallRecord } from '../../../core/usage/call-record.ts'
import { ValuesInMemory } from '../kept/values-in-memory.ts'

const HOLDER: KeyHolder = {
  key: { keyId: 'key_1', name: 'ci', kind: 'live', account: 'acme', models: [['*']], tags: { team: 'search' }, budgets: [] },
  account: { id: 'acme', models: ['*'], budgets: [{ nanoUsd: 500_000_000_000, per: 'month' }] },
  expiresAt: 5_000_000_000_000,
}

/** A control plane in memory, with what was done to it. */
class MemoryControl implements ControlPlane {
  readonly recorded: CallRecord[] = []
  readonly used: string[] = []
  readonly authority = new StoredAuthority(new MemoryStorage())
  readonly recorder = {
    record: (record: CallRecord) => void this.recorded.push(record),
    written: async () => undefined,
  }
  readonly values = new StoredValues(new ValuesInMemory())
  readonly #watchers = new Set<KeyWatcher>()
  /** Whether its database fails. */
  fails = false
  readonly keys = {
    find: async (digest: string) => {
      if (this.fails || digest === 'broken') throw new Error('no database')
      return digest === 'known' ? HOLDER : undefined
    },
    findAccount: async (id: string) => {
      if (this.fails) throw new Error('no database')
      return id === 'acme' ? HOLDER.account : undefined
    },
    used: (keyId: string) => void this.used.push(keyId),
    watch: (watcher: KeyWatcher) => {
      this.#watchers.add(watcher)
      return () => this.#watchers.delete(watcher)
    },
    seenUntil: () => Number.NEGATIVE_INFINITY,
  }

  renewLeases(requests: readonly LeaseRequest[]) {
    return this.authority.renew('one process', requests)
  }

  change(id?: string): void {
    for (const { changed } of this.#watchers) changed(id)
  }

  lose(): void {
    for (const { lost } of this.#watchers) lost()
  }
}

/** What a proxy uses, and the control plane behind it. */
interface Transport {
  readonly near: ControlPlane
  readonly far: MemoryControl
  /** Ends the process that uses `near`. */
  close(): Promise<void>
}

/** A record that only its id tells from others. */
const record = (id: string): CallRecord => ({ line: { level: 'info', fields: { id } } })

async function direct(): Promise<Transport> {
  const far = new MemoryControl()
  return { near: far, far, close: async () => undefined }
}

async function byMessages(): Promise<Transport & { dropped(): number }> {
  let dropped = 0
  const folder = await mkdtemp(join(tmpdir(), 'umg-control-'))
  const far = new MemoryControl()
  const metrics = new TotalMetrics(join(folder, 'metrics.json'))
  const joined = Promise.withResolvers<void>()
  const proxies = new Proxies({ control: far, metrics, log: createLog({ level: 'silent' }) }, async (proxy) => {
    const { process } = await proxy.channel.call('hello')
    proxies.add(proxy, process)
    joined.resolve()
  })
  const server: Server = createServer((socket) => proxies.accept(socket)).listen(join(folder, 'control.sock'))
  await once(server, 'listening')
  const near = new RemoteControl({
    socket: join(folder, 'control.sock'),
    messages: {
      hello: () => ({ process: 'proxy-1', files: null }),
      prepare: async () => [],
      activate: () => undefined,
      discard: () => undefined,
      metrics: async () => ({ declared: [], process: [] }),
      targets: () => [],
    },
    onDropped: (calls) => {
      dropped += calls
    },
  })
  await joined.promise
  return {
    near,
    far,
    dropped: () => dropped,
    async close() {
      await near.close()
      await proxies.gone()
      proxies.close()
      server.close()
      await rm(folder, { recursive: true })
    },
  }
}

for (const [name, open] of [
  ['in one process', direct],
  ['by messages', byMessages],
] as const) {
  describe(`the control plane ${name}`, () => {
    let transport: Transport | undefined
    let near: ControlPlane
    let far: MemoryControl

    beforeEach(async () => {
      transport = await open()
      near = transport.near
      far = transport.far
    })
    afterEach(() => close())

    async function close(): Promise<void> {
      await transport?.close()
      transport = undefined
    }

    it('finds the holder of a key', async () => {
      expect(await near.keys.find('known')).to.deep.equal(HOLDER)
      expect(await near.keys.find('unknown')).to.equal(undefined)
    })

    it('finds an account', async () => {
      expect(await near.keys.findAccount('acme')).to.deep.equal(HOLDER.account)
      expect(await near.keys.findAccount('other')).to.equal(undefined)
    })

    it('rejects a look-up that the store fails', async () => {
      const failure = await near.keys.find('broken').catch((error: unknown) => error)
      expect(failure).to.be.instanceOf(Error).with.property('message', 'no database')
    })

    it('reports which keys changed', async () => {
      const reported: (string | undefined)[] = []
      const both = Promise.withResolvers<void>()
      const changed = (id: string | undefined): void => {
        reported.push(id)
        if (reported.length === 2) both.resolve()
      }
      near.keys.watch({ changed, lost: () => undefined })
      far.change('key_1')
      far.change()
      await both.promise
      expect(reported).to.deep.equal(['key_1', undefined])
    })

    it('grants leases of limits that all processes share', async () => {
      const counter = { id: 'key_1/requests', limit: 5, window: { kind: 'fixed', ms: 60_000 } } as const
      const request = { counter, windowEnd: 0, spent: 0, keep: 0, need: 3, want: 3 }
      const [first] = await near.renewLeases([request])
      expect(first).to.include({ granted: true, held: 3, remaining: 2 })
      const [other] = await far.authority.renew('another process', [request])
      expect(other).to.include({ granted: false, held: 0, remaining: 2 })
      const [next] = await near.renewLeases([{ ...request, windowEnd: first!.windowEnd, spent: 1, keep: 2, need: 2 }])
      expect(next).to.include({ granted: true, spent: 1, held: 4, remaining: 0 })
    })

    it('keeps values for all processes', async () => {
      const place = { space: 'call-states', account: 'acme' } as const
      expect(
        await near.values.put(place, [
          ['a', '1'],
          ['b', '\n€'],
        ]),
      ).to.equal('kept')
      expect(await near.values.get(place, ['a', 'b', 'c'])).to.have.deep.members([
        ['a', '1'],
        ['b', '\n€'],
      ])
      await near.values.delete(place, ['a'])
      expect(await far.values.get(place, ['a', 'b'])).to.deep.equal([['b', '\n€']])
    })

    it('writes down every call and the keys that were used', async () => {
      const records = Array.from({ length: 1200 }, (_, index) => record(`req_${index}`))
      near.keys.used('key_1')
      for (const each of records) near.recorder.record(each)
      await close()
      expect(far.recorded).to.deep.equal(records)
      expect(far.used).to.deep.equal(['key_1'])
    })
  })
}

describe('the control plane by messages', () => {
  it('loses a record that is not JSON, and no other', async () => {
    const { near, far, dropped, close } = await byMessages()
    for (const id of ['a', 1n, 'b']) near.recorder.record(record(id as string))
    await close()
    expect([far.recorded, dropped()]).to.deep.equal([[record('a'), record('b')], 1])
  })

  it('gives back the places of a proxy that has ended', async () => {
    const { near, far, close } = await byMessages()
    const counter = { id: 'key_1/concurrent', limit: 2, window: undefined }
    const request = { counter, windowEnd: 0, spent: 0, keep: 0, need: 2, want: 2 }
    await near.renewLeases([request])
    expect((await far.authority.renew('another process', [request]))[0]).to.include({ granted: false, remaining: 0 })
    await close()
    expect((await far.authority.renew('another process', [request]))[0]).to.include({ granted: true, held: 2 })
  })

  it('finds a key without the database as long as every change is seen', async () => {
    const { near, far, close } = await byMessages()
    let asked = 0
    let seenUntil = Number.NEGATIVE_INFINITY
    far.keys.seenUntil = () => seenUntil
    const { find } = far.keys
    far.keys.find = (digest) => {
      asked += 1
      return find(digest)
    }
    for (let i = 0; i < 2; i++) expect(await near.keys.find('known')).to.deep.equal(HOLDER)
    expect(asked).to.equal(2)
    seenUntil = Number.POSITIVE_INFINITY
    for (let i = 0; i < 2; i++) expect(await near.keys.find('known')).to.deep.equal(HOLDER)
    expect(asked).to.equal(2)
    far.change()
    expect(await near.keys.find('known')).to.deep.equal(HOLDER)
    expect(asked).to.equal(3)
    await close()
  })

  describe('while the database fails', () => {
    let transport: Transport | undefined
    const isFound = () => transport!.near.keys.find('known').then(Boolean, () => false)

    beforeEach(async () => {
      transport = await byMessages()
      await transport.near.keys.find('known')
      await transport.near.keys.findAccount('acme')
      transport.far.fails = true
    })
    afterEach(() => transport?.close())

    it('finds the keys and accounts that a process has found before, for every process', async () => {
      expect(await transport!.near.keys.find('known')).to.deep.equal(HOLDER)
      expect(await transport!.near.keys.findAccount('acme')).to.deep.equal(HOLDER.account)
      expect(await transport!.near.keys.find('unknown').catch(({ message }) => message)).to.equal('no database')
    })

    for (const [what, id] of [
      ['a key', 'key_1'],
      ['an account', 'acme'],
    ] as const)
      it(`does not find what has changed: ${what}`, async () => {
        transport!.far.change()
        expect(await isFound()).to.equal(true)
        transport!.far.change(id)
        expect(await isFound()).to.equal(false)
      })

    it('finds nothing once changes could not be seen for too long', async () => {
      transport!.far.lose()
      expect(await isFound()).to.equal(false)
    })
  })
})
