import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { ControlPlane } from '../../../core/gateway/planes.ts'
import { Proxies } from '../../../core/gateway/proxies.ts'
import { RemoteControl } from '../../../core/gateway/remote-control.ts'
import type { KeyHolder } from '../../../core/keys/principal.ts'
import type { KeyWatcher } from '../../../core/keys/source.ts'
import { createLog } from '../../../core/observe/log.ts'
import { TotalMetrics } from '../../../core/observe/total-metrics.ts'
import { createMemoryLimits } from '../../../core/quota/memory.ts'
import type { CallRecord } from '../../../core/usage/call-record.ts'

const HOLDER: KeyHolder = {
  principal: { keyId: 'key_1', name: 'ci', kind: 'live', account: 'acme', models: [['*']], tags: { team: 'search' } },
  expiresAt: 5_000_000_000_000,
}
const FIVE = { requests: { amount: 5, windowMs: 60_000 } }
const TWO_AT_ONCE = { concurrent: 2 }

/** A control plane in memory, with what was done to it. */
class MemoryControl implements ControlPlane {
  readonly recorded: CallRecord[] = []
  readonly used: string[] = []
  readonly limits = createMemoryLimits()
  readonly recorder = { record: (record: CallRecord) => void this.recorded.push(record) }
  readonly #watchers = new Set<KeyWatcher>()
  readonly keys = {
    find: async (digest: string) => {
      if (digest === 'broken') throw new Error('no database')
      return digest === 'known' ? HOLDER : undefined
    },
    used: (keyId: string) => void this.used.push(keyId),
    watch: (watcher: KeyWatcher) => {
      this.#watchers.add(watcher)
      return () => this.#watchers.delete(watcher)
    },
  }

  change(id?: string): void {
    for (const { changed } of this.#watchers) changed(id)
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

async function byMessages(): Promise<Transport> {
  const folder = await mkdtemp(join(tmpdir(), 'umg-control-'))
  const far = new MemoryControl()
  const metrics = new TotalMetrics(join(folder, 'metrics.json'))
  const joined = Promise.withResolvers<void>()
  const proxies = new Proxies({ control: far, metrics, log: createLog({ level: 'silent' }) }, async (channel) => {
    const { process } = await channel.call('hello')
    proxies.add(channel, process)
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
    onDropped: () => undefined,
  })
  await joined.promise
  return {
    near,
    far,
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

    it('reserves from limits that all callers share', async () => {
      const refusedBy = async (from: ControlPlane) => (await from.limits.reserve('key_1', FIVE, 0)).refusedBy
      for (const from of [near, near, near, near, far]) expect(await refusedBy(from)).to.equal(undefined)
      const refused = await near.limits.reserve('key_1', FIVE, 0)
      expect(refused).to.include({ refusedBy: 'requests' })
      expect(refused.requests).to.include({ limit: 5, remaining: 0 })
      expect(refused.retryAfterMs).to.be.within(1, 60_000)
    })

    it('gives a place back when the call is settled', async () => {
      const first = await near.limits.reserve('key_1', TWO_AT_ONCE, 0)
      await near.limits.reserve('key_1', TWO_AT_ONCE, 0)
      expect((await near.limits.reserve('key_1', TWO_AT_ONCE, 0)).refusedBy).to.equal('concurrent')
      await first.settle(0)
      expect((await near.limits.reserve('key_1', TWO_AT_ONCE, 0)).refusedBy).to.equal(undefined)
    })

    it('gives back everything of a call that is cancelled', async () => {
      const first = await near.limits.reserve('key_1', { ...FIVE, ...TWO_AT_ONCE }, 0)
      await first.cancel()
      const next = await near.limits.reserve('key_1', { ...FIVE, ...TWO_AT_ONCE }, 0)
      expect(next.requests).to.include({ limit: 5, remaining: 4 })
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
  it('gives back the places of a proxy that has ended', async () => {
    const { near, far, close } = await byMessages()
    await near.limits.reserve('key_1', TWO_AT_ONCE, 0)
    await near.limits.reserve('key_1', TWO_AT_ONCE, 0)
    expect((await far.limits.reserve('key_1', TWO_AT_ONCE, 0)).refusedBy).to.equal('concurrent')
    await close()
    expect((await far.limits.reserve('key_1', TWO_AT_ONCE, 0)).refusedBy).to.equal(undefined)
  })
})
