import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { COPIED } from '../../deploy/package/command.ts'
import { ROOT } from './installation.ts'

describe('A checkout', () => {
  let folder: string

  before(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'umg-checkout-')))
    for (const path of ['package.json', 'deploy/link-commands.mjs', 'core/umg.mjs', 'core/unified-model-gateway.mjs']) {
      cpSync(join(ROOT, path), join(folder, path))
    }
  })

  after(() => folder && rmSync(folder, { recursive: true }))

  it('lets its operator edit routes.yaml: package and image take the template, which is the same in Git', () => {
    expect(COPIED).to.not.include('routes.yaml')
    expect(readFileSync(join(ROOT, '.dockerignore'), 'utf8')).to.not.match(/^!routes\.yaml$/m)
    const inGit = (path: string) => execFileSync('git', ['show', `HEAD:${path}`], { cwd: ROOT, encoding: 'utf8' })
    const withoutSchema = (text: string) => text.replace(/^# yaml-language-server: .*$/m, '')
    expect(withoutSchema(inGit('routes.yaml'))).to.equal(withoutSchema(inGit('deploy/routes.yaml')))
  })

  it('has its commands in node_modules/.bin, also after a second npm start', () => {
    for (const _ of ['first', 'second']) execFileSync(process.execPath, [join(folder, 'deploy/link-commands.mjs')])
    for (const command of ['umg', 'unified-model-gateway']) {
      expect(realpathSync(join(folder, 'node_modules/.bin', command))).to.equal(join(folder, `core/${command}.mjs`))
    }
  })

  it('lets npm run no script of a package, and needs none that npm then leaves out', () => {
    expect(readFileSync(join(ROOT, '.npmrc'), 'utf8')).to.match(/^ignore-scripts=true$/m)
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
    const left = Object.keys(scripts).filter((name) => /^(pre|post|(pre|post)?install$|dependencies$)/.test(name))
    expect(left).to.deep.equal([])
    for (const name of ['start', 'test']) expect(scripts[name]).to.match(/^npm run --silent setup && /)
  })
})
