import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { find, itWith } from '../../support/requirements.ts'
import { Home } from './umg.ts'

const ROUTES =
  'version: 1\nchain: [{ plugin: auth }, { plugin: ./restless.ts }]\nnamespaces: { sandbox: { provider: sandbox } }\n'

/** A plugin with a timer, which keeps the process alive. */
const RESTLESS = `
import { defineChain, Type } from 'unified-model-gateway/plugin'
export default defineChain({
  apiVersion: 1,
  name: 'restless',
  schema: Type.Object({}),
  create() {
    setInterval(() => {}, 1000)
    return { handle: (_, next) => next() }
  },
})
`

describe('The command umg', () => {
  let home: Home

  before(async () => {
    home = await Home.create({
      'routes.yaml': ROUTES,
      'wrong.yaml': ROUTES.replace('./restless.ts', 'ahut'),
      'restless.ts': RESTLESS,
    })
  })

  after(() => home?.remove())

  for (const [args, code, output] of [
    [['validate'], 0, /^routes\.yaml is valid: 1 namespace, 2 links\n$/],
    [['validate', 'wrong.yaml'], 1, /^wrong\.yaml:2:\d+: .*did you mean "auth"\?[\s\S]*wrong\.yaml is not valid: 1 error\n$/],
    [['strat'], 2, /unknown command 'strat'\n\(Did you mean start\?\)/],
    [['keys', 'creat'], 2, /unknown command 'creat'\n\(Did you mean create\?\)/],
    [['keys', 'create'], 2, /required option '--name <name>'/],
    [['--help'], 0, /start .*\n +validate .*\n[\s\S]*keys /],
  ] as const) {
    it(`answers "${args.join(' ')}"`, async () => {
      const ended = await home.run(args).ended
      expect(code === 0 ? ended.stdout : ended.stderr).to.match(output)
      expect(ended.stderr).to.not.contain('    at ')
      expect(ended.code).to.equal(code)
    })
  }

  it('makes no database where there is none, unless it creates something, and then says so', async () => {
    for (const args of [['keys', 'list'], ['accounts', 'list'], ['usage'], ['keys', 'revoke', 'key_1'], ['requests', 'list']]) {
      const { code, stdout, stderr } = await home.run([...args, '--data', 'elsewhere']).ended
      expect({ code, stdout }, args.join(' ')).to.deep.equal({ code: 1, stdout: '' })
      expect(stderr).to.match(/^There is no database at \/.*elsewhere\/gateway\.db\. .*--data/)
    }
    expect(existsSync(join(home.path, 'elsewhere'))).to.equal(false)
    const create = ['keys', 'create', '--name', 'a', '--data', 'elsewhere']
    expect((await home.run(create).ended).stderr).to.match(/A new database was made, which no gateway has used: \/.*elsewhere/)
    expect((await home.run(create).ended).stderr).to.not.contain('new database')
  })

  itWith('oldNode', 'runs on the Node that npm installed with it if this one is too old', async () => {
    const { code, stdout } = await home.run(['validate'], { node: find('oldNode')! }).ended
    expect(stdout).to.match(/^routes\.yaml is valid/)
    expect(code).to.equal(0)
  })
})
