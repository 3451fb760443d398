import { existsSync } from 'node:fs'
import { expect } from 'chai'
import { Cluster } from './cluster.ts'

/** A link whose header makes it lose an error outside of any call. */
const CARELESS = `import { defineChain } from 'unified-model-gateway/plugin'
export default defineChain({
  kind: 'chain', apiVersion: 1, name: 'careless', schema: {},
  create: () => ({
    handle(ctx, next) {
      if (ctx.get('x-lose')) setTimeout(() => { throw new Error('lost') })
      return next()
    },
  }),
})
`

const LIMITED = `version: 1
chain:
  - plugin: auth
  - plugin: rate-tagging
    config: { classes: { few: { requests: 5/min } }, default: few }
namespaces:
  sandbox: { provider: sandbox }
`

const withNamespace = (name: string): string => `version: 1
chain: [{ plugin: auth }, { plugin: ./careless.ts }]
namespaces:
  ${name}: { provider: sandbox }
`

describe('a gateway of several processes', () => {
  let cluster: Cluster | undefined

  afterEach(async () => {
    await cluster?.stop()
    cluster = undefined
  })

  const start = async (files?: Readonly<Record<string, string>>): Promise<Cluster> => {
    cluster = await Cluster.start(files)
    return cluster
  }

  /** Resolves when `holds` does. */
  async function until(holds: () => Promise<boolean>): Promise<void> {
    while (!(await holds()));
  }

  /** The statuses of calls, each on a connection of its own: they reach all proxies in turn. */
  const statuses = (count: number, gateway: Cluster, model?: string): Promise<number[]> =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const reply = await gateway.call('Hello!', { ...(model && { model }), close: true })
        await reply.text()
        return reply.status
      }),
    )

  it('adds up the metrics of all processes, and no counter goes back when a process is replaced', async () => {
    const gateway = await start()
    const calls = 'umg_requests_total{namespace="sandbox",model="other",code="200",outcome="ok"}'
    await statuses(10, gateway)
    expect(await gateway.metric(calls)).to.equal(10)
    await gateway.crash('proxy-1')
    await gateway.crash('control')
    await until(async () => (await fetch(`${gateway.url}/metrics`)).status === 200)
    await until(async () => (await gateway.metric(calls)) === 10)
    await statuses(4, gateway)
    // The new control process adds a proxy when it has connected.
    await until(async () => (await gateway.metric(calls)) === 14)
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
    expect(await statuses(6, gateway)).to.deep.equal([200, 200, 200, 200, 200, 200])
    expect((await Promise.all(ends)).filter(Boolean)).to.have.length(2)
    expect(await gateway.metric('umg_process_restarts_total{role="proxy"}')).to.equal(1)
  })

  it('serves keys in use while control is replaced, and the console afterwards', async () => {
    const gateway = await start()
    await statuses(4, gateway)
    process.kill(gateway.pids.get('control')!, 'SIGKILL')
    expect(await statuses(8, gateway)).to.deep.equal([200, 200, 200, 200, 200, 200, 200, 200])
    await until(async () => (await fetch(`${gateway.url}/console/`)).status === 200)
  })

  it('loses one proxy only when a plugin loses an error', async () => {
    const gateway = await start({ 'routes.yaml': withNamespace('sandbox'), 'careless.ts': CARELESS })
    const before = gateway.pids
    const lost = gateway.call('Hello!', { headers: { 'x-lose': 'yes' } })
    expect((await lost).status).to.equal(200)
    await gateway.umg.prints(/uncaught exception, ending this process/)
    await gateway.umg.prints(/"process started"/)
    expect(await statuses(6, gateway)).to.deep.equal([200, 200, 200, 200, 200, 200])
    const replaced = [...gateway.pids].filter(([place, pid]) => before.get(place) !== pid)
    expect(replaced).to.have.length(1)
  })

  it('changes routes.yaml in all processes or in none', async () => {
    const gateway = await start({ 'routes.yaml': withNamespace('first'), 'careless.ts': CARELESS })
    await gateway.home.write('routes.yaml', 'version: 1\nnamespaces: [')
    await gateway.umg.prints(/routing table not reloaded/)
    expect(new Set(await statuses(6, gateway, 'first/m'))).to.deep.equal(new Set([200]))
    await gateway.home.write('routes.yaml', withNamespace('second'))
    await until(async () => (await statuses(1, gateway, 'second/m'))[0] === 200)
    expect(new Set(await statuses(6, gateway, 'second/m'))).to.deep.equal(new Set([200]))
    expect(new Set(await statuses(6, gateway, 'first/m'))).to.deep.equal(new Set([404]))
  })

  it('starts successors by the routes.yaml in use while the file is not valid', async () => {
    const gateway = await start({ 'routes.yaml': withNamespace('first'), 'careless.ts': CARELESS })
    await gateway.home.write('routes.yaml', 'version: 1\nnamespaces: [')
    await gateway.umg.prints(/routing table not reloaded/)
    await gateway.crash('control')
    await gateway.crash('proxy-2')
    await until(async () => (await statuses(4, gateway, 'first/m')).every((status) => status === 200))
  })

  it('refuses a revoked key in all processes', async () => {
    const gateway = await start()
    expect(new Set(await statuses(6, gateway))).to.deep.equal(new Set([200]))
    const listed = await gateway.home.run(['keys', 'list', '--json']).ended
    const [{ id }] = JSON.parse(listed.stdout) as [{ readonly id: string }]
    await gateway.home.run(['keys', 'revoke', id]).ended
    await until(async () => (await statuses(1, gateway))[0] === 401)
    await until(async () => (await statuses(6, gateway)).every((status) => status === 401))
  })

  it('shares the limits of a key among all processes', async () => {
    const gateway = await start({ 'routes.yaml': LIMITED })
    const all = await statuses(14, gateway)
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

  it('ends with its supervisor', async () => {
    const gateway = await start()
    const pids = [...gateway.pids.values()]
    gateway.umg.signal('SIGKILL')
    await until(async () => pids.every((pid) => !existsSync(`/proc/${pid}`)))
  })
})
