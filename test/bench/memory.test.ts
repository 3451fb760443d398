import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { allocatedIn } from '../../bench/memory.ts'
import { until } from '../support/poll.ts'

/** Makes so many arrays of 80 bytes and more as it is told, and keeps few of them. */
const PROGRAM = `
const kept = []
process.on('message', (count) => {
  for (let made = 0; made < count; made++) kept[made % 100] = [made, 1, 2, 3, 4, 5, 6, 7]
  process.send('made')
})
process.send('ready')
`

describe('the count of allocations', () => {
  let folder: string
  let child: ChildProcess

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-bench-test-'))
    await writeFile(join(folder, 'program.mjs'), PROGRAM)
    const preload = new URL('../../bench/allocations.ts', import.meta.url)
    const env = { ...process.env, BENCH_ALLOCATIONS: join(folder), NODE_OPTIONS: `--import=${preload}` }
    child = fork(join(folder, 'program.mjs'), { env })
    await once(child, 'message')
    await rm(join(folder, 'program.mjs'))
    await until(async () => (await readdir(folder)).length === 1)
  })

  afterEach(async () => {
    child?.kill('SIGKILL')
    await rm(folder, { recursive: true })
  })

  async function make(count: number): Promise<number> {
    child.send(count)
    await once(child, 'message')
    return allocatedIn(folder)
  }

  it('has what was collected too, from its first question on', async () => {
    expect(await make(1_000_000)).to.equal(0)
    expect(await make(1_000_000)).to.be.within(80_000_000, 200_000_000)
    expect(await make(10)).to.be.below(1_000_000)
  })
})
