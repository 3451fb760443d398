import { once } from 'node:events'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { ask, hello } from './openai-wire.ts'
import { strangers } from './stranger-files.ts'

const AUTH = { plugin: 'auth' }
const GATE = { plugin: './gate.ts' }
const LIMITS = { plugin: 'rate-tagging', config: { classes: { one: { concurrent: 1 } }, default: 'one' } }

describe('A client that disconnects while a link waits', () => {
  let upstream: ScriptedUpstream

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on(hello)
  })

  after(() => upstream?.close())

  for (const [where, chain] of [
    ['outside rate-tagging', [AUTH, GATE, LIMITS]],
    ['inside rate-tagging', [AUTH, LIMITS, GATE]],
  ] as const) {
    describe(where, () => {
      let gateway: TestGateway
      let gate: typeof import('./strangers/gate.ts').gate

      before(async () => {
        gateway = await startTestGateway({
          routes: { chain, namespaces: { up: { provider: 'openai-compatible', config: { baseUrl: `${upstream.origin}/v1` } } } },
          files: strangers('gate.ts'),
        })
        // The very module that the gateway runs.
        gate = (await import(join(gateway.folder, 'gate.ts'))).gate
      })

      after(() => gateway?.stop())

      /** Comes, waits at the gate, leaves, and has been settled. Resolves to the id of its request. */
      async function comeAndGo(wait = 'yes', stream = false): Promise<string> {
        const client = new AbortController()
        const arrived = once(gate, 'arrived')
        const headers = { 'x-wait': wait }
        const reply = gateway.fetch('/v1/chat/completions', { json: ask({ stream }), headers, signal: client.signal })
        const [id] = (await arrived) as [string]
        client.abort()
        await reply.catch(() => undefined)
        expect(await gateway.logged((line) => line.id === id)).to.include({ outcome: 'client_closed', status: 499 })
        return id
      }

      it('causes no upstream request when the link continues', async () => {
        const asked = upstream.requests.length
        const id = await comeAndGo()
        gate.emit('go')
        await gateway.logged(({ msg, call }) => msg === 'heard late' && call === id)
        expect(upstream.requests).to.have.length(asked)
      })

      it('is visible to a link that reads the signal later', async () => {
        const id = await comeAndGo()
        gate.emit('go')
        const line = await gateway.logged(({ msg, call }) => msg === 'heard late' && call === id)
        expect(line).to.include({ kind: 'client_closed', gone: true })
      })

      it('is not answered by a link, though a settled hook of its call still runs', async () => {
        let reads = 0
        gate.on('read', () => {
          reads += 1
        })
        await comeAndGo('answer', true)
        gate.emit('go')
        await turn()
        gate.emit('settle')
        expect(reads).to.equal(0)
      })

      it('frees its concurrency for the next call', async () => {
        const id = await comeAndGo()
        gate.emit('go')
        await gateway.logged(({ msg, call }) => msg === 'heard late' && call === id)
        expect(await gateway.fetch('/v1/chat/completions', { json: ask() })).to.have.property('status', 200)
      })
    })
  }
})
