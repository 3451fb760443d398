import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { type TemporaryFolder, temporaryFolder } from '../core/config/temporary-folder.ts'
import { COMMAND_VARIABLE, SOURCES } from './command.ts'
import { remedies } from './requirements.ts'
import { readText } from './sources.ts'

const PROJECT = fileURLToPath(new URL('../../', import.meta.url))
const SUPPORT = JSON.stringify(import.meta.resolve('./requirements.ts'))

/** How mocha runs test files, and its flags for it. */
const MODES: readonly (readonly [how: string, flags: readonly string[]])[] = [
  ['in one process', []],
  ['in several processes', ['--config', 'test/support/parallel.mjs']],
]

describe('a run of the tests', () => {
  let folder: TemporaryFolder

  before(() => {
    folder = temporaryFolder()
  })

  after(() => folder?.remove())

  /** Runs mocha on files of tests, as the project configures it. */
  async function run(tests: string | readonly string[], env: NodeJS.ProcessEnv, ...flags: readonly string[]) {
    const files = [tests].flat().map((text, index) => folder.write(`${index}.test.mjs`, text))
    const child = spawn(process.execPath, [join(PROJECT, 'node_modules/mocha/bin/mocha.js'), ...files, ...flags], {
      cwd: PROJECT,
      // Named, so that no run builds one: these tests start none.
      env: { PATH: process.env.PATH, [COMMAND_VARIABLE]: SOURCES, ...env },
    })
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    return { stdout, stderr, code }
  }

  describe('with tests that need PostgreSQL', () => {
    const TESTS = `import { itWith } from ${SUPPORT}\nitWith('postgres', 'does something', async () => {})`
    const SERVER = { UMG_TEST_POSTGRES: 'postgres://127.0.0.1/test' }

    for (const [how, flags] of MODES) {
      it(`begins with what it skips, and what to do about it: ${how}`, async () => {
        const { stdout, code } = await run(TESTS, {}, ...flags)
        expect(stdout).to.match(/^Skipped here:\n {2}tests of PostgreSQL: set UMG_TEST_POSTGRES=postgres:.*\n[\s\S]*1 pending\n/)
        expect(code).to.equal(0)
      })

      it(`fails where nothing may be skipped: ${how}`, async () => {
        const { stdout, code } = await run(TESTS, {}, ...flags, '--forbid-pending')
        expect(stdout).to.match(/^Skipped here:[\s\S]*1 failing\n/)
        expect(code).to.equal(1)
      })
    }

    it('skips nothing where there is a server, and does not speak of it', async () => {
      const { stdout, code } = await run(TESTS, SERVER, '--forbid-pending')
      expect(stdout)
        .to.match(/^\n[\s\S]*1 passing/)
        .and.to.not.include('Skipped')
      expect(code).to.equal(0)
    })
  })

  it('finds in CI what its tests need, since .ci/run installs it', () => {
    const named = remedies().flatMap((remedy) => /^(?:no|set) ([\w-]+)/.exec(remedy)?.[1] ?? [])
    expect(named).to.include.members(['UMG_TEST_POSTGRES', 'nginx'])
    expect(named.filter((name) => !readText('.ci/run').includes(name))).to.deep.equal([])
  })

  it('ends by itself if a fixture cannot be started: what was opened for it is closed, and other suites run', async () => {
    const tests = `
      import { startFixture } from ${JSON.stringify(import.meta.resolve('../e2e/client-faults/fixture.ts'))}
      describe('a suite', () => {
        let fixture
        before(async () => { fixture = await startFixture({ chain: [{ plugin: 'absent' }] }) })
        after(() => fixture?.stop())
        it('is not run', () => {})
      })
      it('is run', () => {})`
    const { stdout, stderr, code } = await run(tests, {})
    expect(stdout).to.match(/1 passing[\s\S]* 1 failing[\s\S]* a suite\n\s+"before all" hook/)
    expect(stderr).to.equal('')
    expect(code).to.equal(1)
  })

  for (const [how, flags] of MODES) {
    it(`ends though a test leaves something open, and fails with what it was: ${how}`, async () => {
      const leak = `import { createServer } from 'node:net'\nit('leaves a server', () => { createServer().listen(0, '127.0.0.1') })`
      const { stdout, code } = await run([leak, 'it("is innocent", () => {})'], {}, ...flags)
      expect(stdout).to.match(
        /2 passing[\s\S]* 1 failing[\s\S]* Left open by .*, so that this run would not end: .*\bTCPServerWrap\b/,
      )
      expect(code).to.equal(1)
    })
  }
})
