import { once } from 'node:events'
import { cp, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { until } from '../../support/poll.ts'
import { filesOf, gatewayCertificate, trust } from '../tls/fixture.ts'
import { Cluster } from './cluster.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** A copy of the gateway, whose version can be changed. */
async function install(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'umg-test-'))
  for (const name of ['core', 'plugins', 'deploy', 'docs', 'package.json'])
    await cp(join(ROOT, name), join(folder, name), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

describe('A gateway whose package is upgraded while it runs', function () {
  // Seven processes start, one after the other.
  this.timeout(180_000)

  const certificate = gatewayCertificate()
  trust(certificate)

  let folder: string
  let cluster: Cluster | undefined

  beforeEach(async () => {
    folder = await install()
  })

  afterEach(async () => {
    await cluster?.stop()
    cluster = undefined
    await rm(folder, { recursive: true })
  })

  async function start(env: Readonly<Record<string, string>> = {}, command = join(folder, 'core/umg.mjs')): Promise<Cluster> {
    cluster = await Cluster.start(filesOf(certificate), env, command)
    return cluster
  }

  async function upgrade(): Promise<void> {
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    await writeFile(join(folder, 'package.json'), JSON.stringify({ ...manifest, version: '99.0.0' }))
  }

  /** Resolves when each place has a process of the new version. */
  async function upgraded(gateway: Cluster, before: ReadonlyMap<string, number>): Promise<void> {
    while (Array.from(before).some(([place, pid]) => gateway.pids.get(place) === pid)) await gateway.umg.printsMore()
    await gateway.whole()
    await until(async () => (await gateway.metric(`umg_build_info{version="99.0.0",node="${process.versions.node}"}`)) === 1)
  }

  /** Calls again and again until `over`, several clients at a time. Resolves to what each call came to. */
  async function load(over: AbortSignal, call: () => Promise<string>): Promise<readonly string[]> {
    const results: string[] = []
    const client = async () => {
      while (!over.aborted) results.push(await call().catch(({ cause = 'cut' }) => String(cause)))
    }
    await Promise.all([client(), client()])
    return results
  }

  const whole = async (gateway: Cluster, close: boolean): Promise<string> => {
    const reply = await gateway.call('Hello!', { close })
    const text = await reply.text()
    return reply.status === 200 && text.includes('"choices"') ? 'whole' : text
  }

  const streamed = async (gateway: Cluster, chunks: number): Promise<string> => {
    const reply = await gateway.call(`Count\nsandbox: chunks=${chunks} interval=100ms`, { stream: true, close: true })
    const events = await reply.text()
    return events.endsWith('data: [DONE]\n\n') && events.match(/"content":/g)!.length >= chunks ? 'whole' : events.slice(-200)
  }

  /** The body is sent when the gateway has asked for it: what read the head reads it. */
  const inTwoParts = async ({ url, secret }: Cluster): Promise<string> => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json', expect: '100-continue' }
    const call = request(`${url}/v1/chat/completions`, { method: 'POST', headers, agent: false, ca: certificate.cert })
    const reply = once(call, 'response')
    call.flushHeaders()
    await Promise.race([once(call, 'continue'), reply])
    call.end(JSON.stringify({ model: 'sandbox/hello', messages: [{ role: 'user', content: 'Hello!' }] }))
    const body = await text((await reply)[0] as IncomingMessage)
    return body.includes('"choices"') ? 'whole' : body
  }

  const ready = async ({ url }: Cluster): Promise<string> => (await fetch(`${url}/readyz`)).text()

  /** The lines of the log with a message. */
  function said(gateway: Cluster, message: string | RegExp): readonly Record<string, unknown>[] {
    const lines = gateway.umg.stdout.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'))
    return lines.map((line) => JSON.parse(line)).filter(({ msg }) => (msg as string).match(message)?.[0] === msg)
  }

  it('replaces all processes on SIGHUP, one after the other: no call fails meanwhile, and no stream breaks', async () => {
    const gateway = await start({ UMG_TLS_CERT: 'gateway.crt', UMG_TLS_KEY: 'gateway.key', UMG_GRACE: '1' })
    const before = gateway.pids
    // A proxy has to ask control for a key that it has not seen.
    await gateway.statuses(4)
    const over = new AbortController()
    const calls = [
      () => whole(gateway, true),
      () => whole(gateway, false),
      // Longer than the grace time of a gateway that ends.
      () => streamed(gateway, 60),
      () => inTwoParts(gateway),
    ].map((call) => load(over.signal, call))
    const probes = load(over.signal, () => ready(gateway))
    await upgrade()
    gateway.umg.signal('SIGHUP')
    await upgraded(gateway, before)
    over.abort()
    for (const results of await Promise.all(calls)) expect(new Set(results)).to.deep.equal(new Set(['whole']))
    // Also on connections that stay open: a balancer would take the whole gateway out.
    expect(new Set(await probes)).to.deep.equal(new Set(['ready\n']))
    expect(said(gateway, 'another version was installed, replacing all processes')).to.have.length(1)
    expect(said(gateway, 'a process of the gateway has ended')).to.have.length(0)
    // The next one leaves when this one serves.
    const steps = said(gateway, /^process (?:started|serves)$/).map(({ process, msg }) => `${process} ${msg}`)
    const places = ['control', 'proxy-1', 'proxy-2'].map((place, index) => `${place}.${index + 4}`)
    expect(steps).to.deep.equal(places.flatMap((place) => [`${place} process started`, `${place} process serves`]))
    // Control is the first: it says that the proxies are of the version before.
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
    const mixed = said(gateway, 'a proxy of another version has connected')
    expect(mixed.map(({ process, version, own }) => ({ process, version, own }))).to.have.deep.members([
      { process: 'proxy-1.2', version, own: '99.0.0' },
      { process: 'proxy-2.3', version, own: '99.0.0' },
    ])
  })

  it('replaces the others too when a process that has ended was replaced by the new version', async () => {
    const gateway = await start()
    const before = gateway.pids
    await upgrade()
    process.kill(before.get('proxy-1')!, 'SIGKILL')
    await upgraded(gateway, before)
    expect(await gateway.statuses(4)).to.deep.equal([200, 200, 200, 200])
  })

  it('follows a link that leads to another installation, once', async () => {
    const link = join(tmpdir(), `umg-test-link-${process.pid}`)
    const other = folder
    try {
      await symlink(ROOT, link)
      const gateway = await start({}, join(link, 'core/umg.mjs'))
      const before = gateway.pids
      await upgrade()
      await symlink(other, `${link}.new`)
      await rename(`${link}.new`, link)
      gateway.umg.signal('SIGHUP')
      await upgraded(gateway, before)
      const after = gateway.pids
      const reloads = said(gateway, 'routing table reloaded').length
      gateway.umg.signal('SIGHUP')
      while (said(gateway, 'routing table reloaded').length === reloads) await gateway.umg.printsMore()
      expect(said(gateway, 'another version was installed, replacing all processes')).to.have.length(1)
      expect(gateway.pids).to.deep.equal(after)
    } finally {
      await rm(link, { force: true })
    }
  })
})
