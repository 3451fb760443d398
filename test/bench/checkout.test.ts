import { mkdir, mkdtemp, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { checkOut } from '../../bench/checkout.ts'
import { createProcesses, type Processes } from '../../bench/processes.ts'
import { describeWith } from '../support/requirements.ts'

const lockOf = (packages: object) => JSON.stringify({ name: 'two-versions', lockfileVersion: 3, packages })
const NOTHING = lockOf({ '': { name: 'two-versions' } })
const LOCAL = lockOf({
  '': { name: 'two-versions', dependencies: { local: 'file:local' } },
  local: { version: '1.0.0' },
  'node_modules/local': { resolved: 'local', link: true },
})

describeWith('git', 'the files of a commit', () => {
  let root: string
  let repository: string
  let scratch: string
  let processes: Processes

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'umg-bench-test-'))
    repository = join(root, 'repository')
    scratch = join(root, 'scratch')
    processes = createProcesses()
    await Promise.all([mkdir(join(repository, 'node_modules'), { recursive: true }), mkdir(scratch)])
    await git('init', '--quiet')
  })

  afterEach(async () => {
    await processes?.[Symbol.asyncDispose]()
    if (root) await rm(root, { recursive: true })
  })

  const git = (...args: readonly string[]) => {
    const author = ['-c', 'user.name=test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false']
    return processes.run({ name: 'git', program: 'git', args: ['-C', repository, ...author, ...args] })
  }

  async function commit(gateway: string, lock: string): Promise<void> {
    await writeFile(join(repository, 'gateway.txt'), gateway)
    await writeFile(join(repository, 'package-lock.json'), lock)
    await writeFile(join(repository, 'package.json'), JSON.stringify(JSON.parse(lock).packages['']))
    await mkdir(join(repository, 'local'), { recursive: true })
    await writeFile(join(repository, 'local/package.json'), '{ "name": "local", "version": "1.0.0" }')
    await git('add', '--all')
    await git('commit', '--quiet', '--message', gateway)
  }

  const checkedOut = (reference: string) => checkOut(reference, { processes, scratch }, repository)

  it('are in the scratch folder alone, with the dependencies of this checkout if both lock the same', async () => {
    await commit('old', NOTHING)
    await commit('new', NOTHING)
    const { version, folder } = await checkedOut('HEAD~1')
    expect(folder).to.match(/^.+[/]scratch[/]/)
    expect(version).to.equal((await git('rev-parse', '--short', 'HEAD~1')).trim())
    expect(await readFile(join(folder, 'gateway.txt'), 'utf8')).to.equal('old')
    expect(await readlink(join(folder, 'node_modules'))).to.equal(join(repository, 'node_modules'))
    expect((await git('worktree', 'list')).trim().split('\n')).to.have.length(1)
    expect(await git('status', '--porcelain')).to.equal('')
  })

  it('get the dependencies that they lock, if this checkout locks others', async () => {
    await commit('old', LOCAL)
    await commit('new', NOTHING)
    const { folder } = await checkedOut('HEAD~1')
    expect(await readlink(join(folder, 'node_modules/local'))).to.equal('../local')
  })

  it('are refused by name if there is no such commit', async () => {
    await commit('only', NOTHING)
    const complaint = await checkedOut('HEAD~1').catch(String)
    expect(complaint).to.equal('Error: there is no commit "HEAD~1" in this repository')
  })
})
