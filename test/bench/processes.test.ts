import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { largestMemoryOf, memoryOf } from '../../bench/memory.ts'
import { createProcesses } from '../../bench/processes.ts'
import { describeWith } from '../support/requirements.ts'

/** Says that it runs, and that it was asked to end. */
const PROGRAM = `process.once('SIGINT', () => { console.log('bye'); process.exit() }); setInterval(() => {}, 1000); console.log('here')`

describeWith('linux', 'the programs of the benchmark', () => {
  let scratch: string
  before(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'umg-bench-test-'))
  })
  after(async () => {
    if (scratch) await rm(scratch, { recursive: true })
  })

  const node = (script: string) => ({ name: 'a program', program: process.execPath, args: ['-e', script] })

  it('stop where they are when paused, and still end with the benchmark', async () => {
    const log = join(scratch, 'output.log')
    const processes = createProcesses()
    const service = processes.serve(node(PROGRAM), log)
    await service.ready(() => (service.output().includes('here') ? true : undefined))
    const state = async () => /^State:\s+(\w)/m.exec(await readFile(`/proc/${service.pid}/status`, 'latin1'))?.[1]

    service.pause()
    expect(await service.ready(async () => ((await state()) === 'T' ? 'paused' : undefined))).to.equal('paused')
    expect(memoryOf(service.pid)).to.be.above(1)
    // One process: but what it shares with others that start meanwhile counts for less.
    expect(largestMemoryOf(service.pid)).to.be.above(1)
    await processes[Symbol.asyncDispose]()
    expect(service.output()).to.contain('bye')
  })

  it('are ended when they take longer than they may', async () => {
    await using processes = createProcesses()
    const failure = await processes.run({ ...node('setInterval(() => {}, 1000)'), limitMs: 200 }).catch(String)
    expect(failure).to.contain('a program did not end within 0.2 seconds')
  })
})
