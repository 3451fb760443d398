import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { until } from '../../support/poll.ts'
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

  let folder: string
  let cluster: Cluster

  beforeEach(async () => {
    folder = await install()
    cluster = await Cluster.start({}, {}, join(folder, 'core/umg.mjs'))
  })

  afterEach(async () => {
    await cluster?.stop()
    await rm(folder, { recursive: true })
  })

  async function upgrade(): Promise<void> {
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    await writeFile(join(folder, 'package.json'), JSON.stringify({ ...manifest, version: '99.0.0' }))
  }

  /** Resolves when each place has a process of the new version. */
  async function upgraded(before: ReadonlyMap<string, number>): Promise<void> {
    while (Array.from(before).some(([place, pid]) => cluster.pids.get(place) === pid)) await cluster.umg.printsMore()
    await cluster.whole()
    await until(async () => (await cluster.metric(`umg_build_info{version="99.0.0",node="${process.versions.node}"}`)) === 1)
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

  const whole = async (close: boolean): Promise<string> => {
    const reply = await cluster.call('Hello!', { close })
    const text = await reply.text()
    return reply.status === 200 && text.includes('"choices"') ? 'whole' : text
  }

  const streamed = async (): Promise<string> => {
    const reply = await cluster.call('Count\nsandbox: chunks=30 interval=100ms', { stream: true, close: true })
    const text = await reply.text()
    return text.endsWith('data: [DONE]\n\n') && text.match(/"content":/g)!.length >= 30 ? 'whole' : text.slice(-200)
  }

  /** The lines of the log with a message. */
  function said(message: string | RegExp): readonly Record<string, unknown>[] {
    const lines = cluster.umg.stdout.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'))
    return lines.map((line) => JSON.parse(line)).filter(({ msg }) => (msg as string).match(message)?.[0] === msg)
  }

  it('replaces all processes on SIGHUP, one after the other: no call fails meanwhile, and no stream breaks', async () => {
    const before = cluster.pids
    const over = new AbortController()
    const { signal } = over
    const loads = [load(signal, () => whole(true)), load(signal, () => whole(false)), load(signal, streamed)]
    await upgrade()
    cluster.umg.signal('SIGHUP')
    await upgraded(before)
    over.abort()
    for (const results of await Promise.all(loads)) expect(new Set(results)).to.deep.equal(new Set(['whole']))
    expect(said('another version was installed, replacing all processes')).to.have.length(1)
    expect(said('a process of the gateway has ended')).to.have.length(0)
    // The next one leaves when this one serves.
    const steps = said(/^process (?:started|serves)$/).map(({ process, msg }) => `${process} ${msg}`)
    const places = ['control', 'proxy-1', 'proxy-2'].map((place, index) => `${place}.${index + 4}`)
    expect(steps).to.deep.equal(places.flatMap((place) => [`${place} process started`, `${place} process serves`]))
    // Control is the first: it says that the proxies are of the version before.
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
    const mixed = said('a proxy of another version has connected')
    expect(mixed.map(({ process, version, own }) => ({ process, version, own }))).to.have.deep.members([
      { process: 'proxy-1.2', version, own: '99.0.0' },
      { process: 'proxy-2.3', version, own: '99.0.0' },
    ])
  })

  it('replaces the others too when a process that has ended was replaced by the new version', async () => {
    const before = cluster.pids
    await upgrade()
    process.kill(before.get('proxy-1')!, 'SIGKILL')
    await upgraded(before)
    expect(await cluster.statuses(4)).to.deep.equal([200, 200, 200, 200])
  })
})
