import { expect } from 'chai'
import { listPlugins } from '../../../core/cli/config/plugins.ts'
import { runCommand } from '../../support/run-command.ts'
import { plugin } from '../config/full-config.ts'
import { type TemporaryFolder, temporaryFolder } from '../config/temporary-folder.ts'

const ROUTES = `version: 1
chain:
  - plugin: auth
  - plugin: ${plugin('audit')}
  - plugin: ./missing.ts
namespaces:
  east: { provider: openai-compatible }
  west: { provider: openai-compatible }
  far: { provider: umg-far }
`

const FAR = `export default { kind: 'provider', apiVersion: 1, name: 'far', schema: {}, create() { throw new Error('created') } }`

describe('umg plugins list', () => {
  let folder: TemporaryFolder

  before(() => {
    folder = temporaryFolder()
    folder.write(
      'node_modules/umg-far/package.json',
      '{ "name": "umg-far", "version": "1.2.3", "type": "module", "exports": "./index.js" }',
    )
    folder.write('node_modules/umg-far/index.js', FAR)
  })

  after(() => folder?.remove())

  const list = async (file: string) => {
    const { code, stdout } = await runCommand((io) => listPlugins(file, { json: true }, io))
    return { code, plugins: JSON.parse(stdout) as { name: string; from: string; lines: number[]; error?: string }[] }
  }

  it('shows where each plugin is from, and the lines that name it', async () => {
    const { code, plugins } = await list(folder.write('routes.yaml', ROUTES))
    const byName = (name: string) => plugins.find((each) => each.name === name)
    expect(code).to.equal(1)
    expect(byName('auth')).to.deep.equal({ kind: 'chain', name: 'auth', from: 'built in', lines: [3] })
    expect(byName('openai-compatible')).to.deep.include({ from: 'built in', lines: [7, 8] })
    expect(byName('gemini')).to.deep.include({ from: 'built in', lines: [] })
    expect(byName(plugin('audit'))).to.deep.include({ from: plugin('audit'), lines: [4] })
    expect(byName('umg-far')).to.deep.include({ from: 'package umg-far@1.2.3', lines: [9] })
    expect(byName('./missing.ts')?.error).to.contain('missing.ts does not exist')
  })

  it('shows the built-in ones where there is no file', async () => {
    const { code, plugins } = await list(`${folder.path}/nowhere.yaml`)
    expect(code).to.equal(0)
    expect(new Set(plugins.map(({ from }) => from))).to.deep.equal(new Set(['built in']))
    const { stdout } = await runCommand((io) => listPlugins(`${folder.path}/nowhere.yaml`, {}, io))
    expect(stdout)
      .to.match(/^KIND +NAME +FROM +LINES\n/)
      .and.match(/^chain +auth +built in +-$/m)
  })

  it('says that a file is no YAML', async () => {
    const { code, stderr } = await runCommand((io) => listPlugins(folder.write('broken.yaml', 'a: [b'), {}, io))
    expect(code).to.equal(2)
    expect(stderr).to.contain('umg validate shows the errors')
  })
})
