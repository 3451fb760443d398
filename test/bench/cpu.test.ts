import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect } from 'chai'
import { cpuBetween, cpuSnapshot } from '../../bench/cpu.ts'
import { itWith } from '../support/requirements.ts'

describe('the processor time of a process tree', () => {
  itWith('linux', 'contains what a grandchild has used', async () => {
    // The shell stays in between: it has something left to do.
    const shell = spawn('sh', ['-c', `"$0" -e 'console.log(process.pid); process.stdin.resume()'; exit 0`, process.execPath])
    const [printed] = await once(shell.stdout, 'data')
    const snapshot = cpuSnapshot(shell.pid!)
    shell.stdin.end()
    await once(shell, 'close')
    expect(snapshot.get(String(printed).trim())?.used).to.be.greaterThan(0)
  })

  it('is, between two snapshots, the sum of what each thread has used and waited in between', () => {
    const before = new Map([
      ['old', { used: 500, waited: 10 }],
      ['idle', { used: 70, waited: 7 }],
    ])
    const after = new Map([
      ['old', { used: 900, waited: 15 }],
      ['idle', { used: 70, waited: 7 }],
      ['new', { used: 30, waited: 1 }],
    ])
    expect(cpuBetween(before, after)).to.deep.equal({ used: 430, waited: 6 })
  })

  it('does not shrink when a thread ends', () => {
    const before = new Map([
      ['ended', { used: 5000, waited: 0 }],
      ['old', { used: 500, waited: 0 }],
    ])
    const after = new Map([['old', { used: 900, waited: 0 }]])
    expect(cpuBetween(before, after)).to.deep.equal({ used: 400, waited: 0 })
  })
})
