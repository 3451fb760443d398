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

  it('replaces all processes on SIGHUP, one after the other, and serves every call meanwhile', async () => {
    const before = cluster.pids
    const over = new AbortController()
    const statuses: number[] = []
    const load = Array.from({ length: 4 }, async () => {
      while (!over.signal.aborted) statuses.push(...(await cluster.statuses(1)))
    })
    await upgrade()
    cluster.umg.signal('SIGHUP')
    await upgraded(before)
    over.abort()
    await Promise.all(load)
    expect(new Set(statuses)).to.deep.equal(new Set([200]))
    const said = cluster.umg.stdout.match(/"msg":"another version was installed, replacing all processes"/g)
    expect(said).to.have.length(1)
    expect(cluster.umg.stdout).to.not.contain('a process of the gateway has ended')
  })

  it('replaces the others too when a process that has ended was replaced by the new version', async () => {
    const before = cluster.pids
    await upgrade()
    process.kill(before.get('proxy-1')!, 'SIGKILL')
    await upgraded(before)
    expect(await cluster.statuses(4)).to.deep.equal([200, 200, 200, 200])
  })
})
