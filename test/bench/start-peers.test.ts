import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { asUpstream, CHAT } from '../../bench/apis.ts'
import type { Peer } from '../../bench/peers.ts'
import { createProcesses, type Processes } from '../../bench/processes.ts'
import { startPeers } from '../../bench/start-peers.ts'
import { describeWith } from '../support/requirements.ts'

/** A program of this machine as a peer. */
const peerOf = (name: string, rest: Partial<Peer>): Peer => ({
  name,
  source: { registry: 'none' },
  program: 'node',
  args: [],
  asks: asUpstream,
  switchedOn: 'nothing',
  ...rest,
})

const SERVER = `require('node:net').createServer().listen(+process.argv[1], '127.0.0.1'); console.log(process.argv[2], process.env.SETTING)`

describeWith('linux', 'the peers of a run', () => {
  let scratch: string
  let processes: Processes
  before(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'umg-bench-test-'))
    processes = createProcesses()
  })
  after(async () => {
    await processes?.[Symbol.asyncDispose]()
    if (scratch) await rm(scratch, { recursive: true })
  })

  /** Resolves when a process has stopped where it is. */
  async function paused(pid: number): Promise<void> {
    while (!/^State:\s+T/m.test(await readFile(`/proc/${pid}/status`, 'latin1'))) await setImmediate()
  }

  const start = (peers: readonly Peer[], progress: (message: string) => void = () => {}) => {
    const direct = { name: 'direct', port: 19_000, asks: asUpstream }
    return startPeers(peers, { processes, scratch, cores: undefined }, { direct, key: 'sk-live-key' }, progress)
  }

  it('serve on a port of their own, are asked as the table says, and wait until they are measured', async () => {
    const serving = peerOf('serving', {
      args: ['-e', SERVER, '{port}', '{key} of {upstream}'],
      env: { SETTING: 'set' },
      asks: (api) => ({ ...asUpstream(api), headers: { 'x-upstream': 'http://127.0.0.1:{upstream}' } }),
    })
    const { subjects, failures } = await start([serving])
    expect(failures).to.deep.equal([])
    const [{ name, asks, pid }] = subjects as [(typeof subjects)[number]]
    expect(name).to.equal('serving')
    expect(asks(CHAT)).to.deep.equal({ ...asUpstream(CHAT), headers: { 'x-upstream': 'http://127.0.0.1:19000' } })
    expect(await readFile(join(scratch, 'serving/output.log'), 'utf8')).to.equal('sk-live-key of 19000 set\n')
    await paused(pid!)
  })

  it('that cannot be had or started are named with the reason, and the others are started', async () => {
    const messages: string[] = []
    const peers = [
      peerOf('absent', { program: 'no-such-program' }),
      peerOf('broken', { args: ['-e', 'console.error("no licence"); process.exit(3)'] }),
      peerOf('last', { args: ['-e', SERVER, '{port}'] }),
    ]
    const { subjects, failures } = await start(peers, (message) => messages.push(message))
    expect(subjects.map(({ name }) => name)).to.deep.equal(['last'])
    expect(failures).to.deep.equal([
      { subject: 'absent', reason: 'there is no no-such-program on the PATH: put one there to measure it' },
      { subject: 'broken', reason: 'broken ended; it printed:\nno licence\n' },
    ])
    expect(messages).to.contain('absent is left out: there is no no-such-program on the PATH: put one there to measure it')
  })
})
