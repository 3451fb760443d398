import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { expect } from 'chai'
import { until } from '../../support/poll.ts'
import { describeWith } from '../../support/requirements.ts'
import { Home } from '../lifecycle/umg.ts'
import { clusterPerTest } from './cluster.ts'

const ROUTES = 'version: 1\nchain: [{ plugin: auth }]\nnamespaces: { sandbox: { provider: sandbox } }\n'

/** The ids of the processes that a process has started, and whose command has not ended. */
function childrenOf(pid: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => parentOf(child) === pid)
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' ? undefined : Number(parent)
  } catch {
    return undefined
  }
}

describeWith('linux', 'a supervisor that is killed while its processes start', () => {
  let home: Home

  beforeEach(async () => {
    home = await Home.create({ 'routes.yaml': ROUTES })
  })

  afterEach(() => home?.remove())

  for (const [when, count] of [
    ['as soon as there is one', 1],
    ['when there are all', 3],
  ] as const)
    it(`leaves none of them: ${when}`, async () => {
      const umg = home.run(['start', '--port', '0', '--workers', '2'])
      let children: readonly number[] = []
      await until(async () => {
        children = childrenOf(umg.pid)
        return children.length >= count
      })
      umg.signal('SIGKILL')
      await umg.ended
      await until(async () => children.every((child) => parentOf(child) === undefined))
    })
})

describeWith('linux', 'the folder of the sockets of a gateway', () => {
  const start = clusterPerTest()

  it('is made again when a cleaner of temporary folders has removed it, and control is replaced', async () => {
    const gateway = await start()
    await gateway.statuses(2)
    const folder = dirname(socketOf(gateway.pids.get('control')!)!)
    await rm(folder, { recursive: true })
    process.kill(gateway.pids.get('control')!, 'SIGKILL')
    await until(async () => (await fetch(`${gateway.url}/metrics`)).status === 200)
    expect(await gateway.statuses(4)).to.deep.equal([200, 200, 200, 200])
  })
})

/** The path of control's socket, as the kernel lists it. */
function socketOf(pid: number): string | undefined {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => /^socket:\[(\d+)\]$/.exec(readlinkOf(`/proc/${pid}/fd/${fd}`))?.[1] ?? []),
  )
  const lines = readFileSync('/proc/net/unix', 'utf8').split('\n')
  return lines
    .map((line) => line.split(/\s+/))
    .find(([, , , , , , inode, path]) => inodes.has(inode!) && path?.endsWith('/control.sock'))?.[7]
}

function readlinkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
