import { expect } from 'chai'
import { validate } from '../../../core/cli/config/validate.ts'
import { FULL_CONFIG, FULL_ENV } from './full-config.ts'
import { type TemporaryFolder, temporaryFolder } from './temporary-folder.ts'

describe('umg validate', () => {
  let folder: TemporaryFolder

  before(() => {
    folder = temporaryFolder()
    folder.write('west.txt', 'value-of-the-file')
  })

  after(() => folder?.remove())

  async function run(text: string, { isTTY = false, env = {} }: { isTTY?: boolean; env?: NodeJS.ProcessEnv } = {}) {
    const file = folder.write('routes.yaml', text)
    const written = { stdout: '', stderr: '' }
    const stream = (name: 'stdout' | 'stderr') => ({
      isTTY,
      write(chunk: string) {
        written[name] += chunk
      },
    })
    const code = await validate(file, {}, { env: { ...FULL_ENV, ...env }, stdout: stream('stdout'), stderr: stream('stderr') })
    return { code, file, ...written }
  }

  it('prints a summary of a valid file, and exits with 0', async () => {
    const { code, file, stdout, stderr } = await run(FULL_CONFIG)
    expect({ code, stdout, stderr }).to.deep.equal({
      code: 0,
      stdout: `${file} is valid: 3 namespaces, 2 curated models, 2 links\n`,
      stderr: '',
    })
  })

  it('prints notices', async () => {
    const { code, stdout } = await run('version: 1\nnamespaces: {}\n')
    expect(code).to.equal(0)
    expect(stdout).to.match(/is valid: 0 namespaces, 0 links\nnote: the chain has no "auth"/)
  })

  it('prints all errors of an invalid file on stderr, and exits with 1', async () => {
    const { code, file, stdout, stderr } = await run('version: 2\nnamespace: {}\n')
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' })
    expect(stderr).to.match(/version must be 1[\s\S]*did you mean "namespaces"\?/)
    expect(stderr.trimEnd().split('\n').at(-1)).to.equal(`${file} is not valid: 2 errors`)
  })

  it('uses colours only on a terminal, and not if NO_COLOR is set', async () => {
    const ESCAPE = '\u001b['
    expect((await run('version: 2\n', { isTTY: true })).stderr).to.contain(ESCAPE)
    expect((await run('version: 2\n')).stderr).not.to.contain(ESCAPE)
    expect((await run('version: 2\n', { isTTY: true, env: { NO_COLOR: '1' } })).stderr).not.to.contain(ESCAPE)
  })
})
