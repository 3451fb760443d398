import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { until } from '../../support/poll.ts'
import { replaceFile } from '../reload/reloading.ts'
import { CARELESS, clusterOfSuite, clusterPerTest, withNamespace } from './cluster.ts'

const LIMITED = `version: 1
chain:
  - plugin: auth
  - plugin: rate-tagging
    config: { classes: { few: { requests: 5/min } }, default: few }
namespaces:
  sandbox: { provider: sandbox }
`

/** A link that takes its process out of service by a call. There it cannot be created again: it fails, or is never ready. */
const LEAVING = `import { AsyncResource } from 'node:async_hooks'
import { defineChain, Type } from 'unified-model-gateway/plugin'
const outside = AsyncResource.bind(() => setTimeout(() => { throw new Error('lost') }))
let isLeaving = false
export default defineChain({
  kind: 'chain', apiVersion: 1, name: 'leaving', schema: Type.Object({ again: Type.String() }),
  async create({ again }) {
    if (isLeaving && again === 'fails') throw new Error('not in this process')
    if (isLeaving) await new Promise(() => undefined)
    return {
      handle(ctx, next) {
        if (ctx.get('x-leave')) {
          isLeaving = true
          outside()
        }
        return next()
      },
    }
  },
})
`

/** A routes.yaml with that link. */
const withLeaving = (again: string): string => `version: 1
chain: [{ plugin: auth }, { plugin: ./leaving.ts, config: { again: ${again} } }]
namespaces:
  sandbox: { provider: sandbox }
`

describe('a gateway of several processes', () => {
  const start = clusterPerTest()

  describe('with the sandbox', () => {
    const cluster = clusterOfSuite()

    it('adds up the metrics of all processes, and no counter goes back when a process is replaced', async () => {
      const gateway = cluster()
      const calls = 'umg_requests_total{namespace="sandbox",model="other",code="200",outcome="ok"}'
      await gateway.statuses(10)
      expect(await gateway.metric(calls)).to.equal(10)
      await gateway.crash('proxy-1')
      await gateway.crash('control')
      await until(async () => (await fetch(`${gateway.url}/metrics`)).status === 200)
      await until(async () => (await gateway.metric(calls)) === 10)
      await gateway.statuses(4)
      // The new control process adds a proxy when it has connected.
      await until(async () => (await gateway.metric(calls)) === 14)
    })

    it('serves keys in use while control is replaced, and the console afterwards', async () => {
      const gateway = cluster()
      await gateway.statuses(4)
      process.kill(gateway.pids.get('control')!, 'SIGKILL')
      expect(await gateway.statuses(8)).to.deep.equal([200, 200, 200, 200, 200, 200, 200, 200])
      await until(async () => (await fetch(`${gateway.url}/console/`)).status === 200)
    })

    it('serves a key that no process has seen as soon as control is replaced', async () => {
      const gateway = cluster()
      const created = await gateway.home.run(['keys', 'create', '--name', 'new', '--test', '--json']).ended
      const { secret } = JSON.parse(created.stdout) as { readonly secret: string }
      process.kill(gateway.pids.get('control')!, 'SIGKILL')
      const reply = await gateway.call('Hello!', { headers: { authorization: `Bearer ${secret}` } })
      expect(reply.status, await reply.text()).to.equal(200)
    })

    // The last one: the others use the key.
    it('refuses a revoked key in all processes', async () => {
      const gateway = cluster()
      expect(new Set(await gateway.statuses(6))).to.deep.equal(new Set([200]))
      const listed = await gateway.home.run(['keys', 'list', '--json']).ended
      const keys = JSON.parse(listed.stdout) as readonly { readonly id: string; readonly name: string }[]
      const { id } = keys.find(({ name }) => name === 'first start')!
      await gateway.home.run(['keys', 'revoke', id]).ended
      const revoked = performance.now()
      await until(async () => (await gateway.statuses(1))[0] === 401)
      await until(async () => (await gateway.statuses(6)).every((status) => status === 401))
      // Within a second, and a busy machine's delays: one that is told nothing looks the key up again after ten.
      expect(performance.now() - revoked).to.be.below(5_000)
    })
  })

  describe('with a link that loses errors, and a routes.yaml that changes', () => {
    const cluster = clusterOfSuite({ 'routes.yaml': withNamespace('first'), 'careless.ts': CARELESS })

    const accepted = () => cluster().metric('umg_config_last_reload_successful')

    it('keeps all its processes when a link loses an error of a call, and fails the call', async () => {
      const gateway = cluster()
      const reply = await gateway.call('Hello!', { model: 'first/m', headers: { 'x-lose-call': 'yes' } })
      expect(reply.status).to.equal(500)
      await gateway.umg.prints(/"cause":"careless: Error at /)
      expect(await gateway.statuses(6, 'first/m')).to.deep.equal([200, 200, 200, 200, 200, 200])
      expect(gateway.umg.stdout).to.not.contain('uncaught exception')
    })

    it('loses one proxy only when a plugin loses an error outside of calls', async () => {
      const gateway = cluster()
      const before = gateway.pids
      const lost = gateway.call('Hello!', { model: 'first/m', headers: { 'x-lose': 'yes' } })
      expect((await lost).status).to.equal(200)
      await gateway.umg.prints(/uncaught exception, ending this process/)
      await gateway.umg.prints(/"process started"/)
      expect(await gateway.statuses(6, 'first/m')).to.deep.equal([200, 200, 200, 200, 200, 200])
      const replaced = [...gateway.pids].filter(([place, pid]) => before.get(place) !== pid)
      expect(replaced).to.have.length(1)
    })

    it('changes routes.yaml in all processes or in none', async () => {
      const gateway = cluster()
      await gateway.home.write('routes.yaml', 'version: 1\nnamespaces: [')
      await gateway.umg.prints(/routing table not reloaded/)
      expect(new Set(await gateway.statuses(6, 'first/m'))).to.deep.equal(new Set([200]))
      await gateway.home.write('routes.yaml', withNamespace('second'))
      await until(async () => (await gateway.statuses(1, 'second/m'))[0] === 200)
      expect(new Set(await gateway.statuses(6, 'second/m'))).to.deep.equal(new Set([200]))
      expect(new Set(await gateway.statuses(6, 'first/m'))).to.deep.equal(new Set([404]))
    })

    it('has in its metrics that a routing table was refused, until one is accepted', async () => {
      const gateway = cluster()
      expect(await accepted()).to.equal(1)
      await gateway.home.write('routes.yaml', 'namespaces: [')
      await until(async () => (await accepted()) === 0)
      await gateway.home.write('routes.yaml', withNamespace('first'))
      await until(async () => (await accepted()) === 1)
    })

    it('starts successors by the routes.yaml in use while the file is not valid', async () => {
      const gateway = cluster()
      await gateway.home.write('routes.yaml', 'version: 1\nnamespaces: [')
      await until(async () => (await accepted()) === 0)
      await gateway.crash('control')
      await gateway.crash('proxy-2')
      await gateway.whole()
      await until(async () => (await gateway.statuses(4, 'first/m')).every((status) => status === 200))
    })
  })

  it('replaces a proxy that crashes, and breaks only its calls', async () => {
    const gateway = await start()
    const streams = await Promise.all(
      Array.from({ length: 4 }, () => gateway.call('Count\nsandbox: chunks=100 interval=50ms', { stream: true, close: true })),
    )
    const ends = streams.map((reply) =>
      reply
        .text()
        .then((text) => text.includes('[DONE]'))
        .catch(() => false),
    )
    await gateway.crash('proxy-1')
    expect(await gateway.statuses(6)).to.deep.equal([200, 200, 200, 200, 200, 200])
    expect((await Promise.all(ends)).filter(Boolean)).to.have.length(2)
    expect(await gateway.metric('umg_process_restarts_total{role="proxy"}')).to.equal(1)
  })

  it('lets the calls of a proxy end that has lost an error, however long they take', async () => {
    const files = { 'routes.yaml': withNamespace('first'), 'careless.ts': CARELESS }
    const gateway = await start(files, { UMG_GRACE: '0' })
    const streams = await Promise.all(
      Array.from({ length: 2 }, () =>
        gateway.call('Count\nsandbox: chunks=50 interval=100ms', { model: 'first/m', stream: true, close: true }),
      ),
    )
    await gateway.call('Hello!', { model: 'first/m', close: true, headers: { 'x-lose': 'yes' } })
    const ends = await Promise.all(streams.map((reply) => reply.text()))
    for (const end of ends) expect(end).to.contain('[DONE]')
    await gateway.umg.prints(/"code":1,.*"a process of the gateway has ended"/)
  })

  it('reloads routes.yaml while a proxy serves its last calls, whatever it answers', async () => {
    const gateway = await start({ 'routes.yaml': withLeaving('serves'), 'leaving.ts': LEAVING })
    const calls = { stream: true, close: true, headers: { 'x-leave': 'yes' } }
    const last = await gateway.call('Count\nsandbox: chunks=600 interval=100ms', calls)
    await gateway.umg.prints(/"msg":"process started"/)
    await gateway.whole()
    const reloads = (): readonly string[] => gateway.umg.stdout.match(/.*routing table (?:not )?reloaded.*(?=\n)/g) ?? []
    for (const [before, again] of ['fails', 'waits'].entries()) {
      await replaceFile(join(gateway.home.path, 'routes.yaml'), withLeaving(again))
      while (reloads().length === before) await gateway.umg.printsMore()
    }
    for (const line of reloads()) expect(line.includes('"msg":"routing table reloaded"'), line).to.equal(true)
    await last.body!.cancel()
  })

  it('shares the limits of a key among all processes', async () => {
    const gateway = await start({ 'routes.yaml': LIMITED })
    const all = await gateway.statuses(14)
    expect(all.filter((status) => status === 200)).to.have.length(5)
    expect(all.filter((status) => status === 429)).to.have.length(9)
  })

  it('ends all processes at a signal, when open streams have ended', async () => {
    const gateway = await start()
    const stream = await gateway.call('Count\nsandbox: chunks=20 interval=50ms', { stream: true })
    gateway.umg.signal('SIGTERM')
    expect(await stream.text()).to.contain('[DONE]')
    expect(await gateway.umg.ended).to.include({ code: 0, stderr: gateway.umg.stderr })
    for (const pid of gateway.pids.values()) expect(existsSync(`/proc/${pid}`), `process ${pid}`).to.equal(false)
    const rows = await gateway.home.run(['requests', 'list', '--format', 'jsonl']).ended
    expect(rows.stdout.trim().split('\n')).to.have.length(1)
  })

  it('ends at a second signal, and the streams that it ends have their rows', async () => {
    const gateway = await start()
    const streams = await Promise.all(
      Array.from({ length: 4 }, () => gateway.call('Count\nsandbox: chunks=1000 interval=100ms', { stream: true, close: true })),
    )
    const ends = streams.map((reply) => reply.text().catch(() => 'cut'))
    gateway.umg.signal('SIGTERM')
    // Signals within a second count as one, so that several may be needed.
    const again = setInterval(() => gateway.umg.signal('SIGTERM'), 200)
    await gateway.umg.ended
    clearInterval(again)
    expect(await Promise.all(ends)).to.deep.equal(['cut', 'cut', 'cut', 'cut'])
    const rows = await gateway.home.run(['requests', 'list', '--format', 'jsonl']).ended
    expect(rows.stdout.trim().split('\n')).to.have.length(4)
  })

  it('ends with its supervisor', async () => {
    const gateway = await start()
    const pids = [...gateway.pids.values()]
    gateway.umg.signal('SIGKILL')
    await until(async () => pids.every((pid) => !existsSync(`/proc/${pid}`)))
  })
})
