import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { init } from '../../../core/cli/project/init.ts'
import { runCommand } from '../../support/run-command.ts'

describe('umg init in a checkout', () => {
  let project: string

  before(() => {
    project = realpathSync(mkdtempSync(join(tmpdir(), 'umg-init-')))
  })

  after(() => project && rmSync(project, { recursive: true }))

  it('takes the gateway from the checkout, never a package of that name from a registry', async () => {
    const { stdout } = await runCommand((io) => init(project, { version: '0.1.0', json: false }, io))
    const { dependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
    const [, folder = ''] = /^file:(.+)$/.exec(dependencies['unified-model-gateway']) ?? []
    expect(existsSync(join(project, folder, 'core/cli/project/init.ts'))).to.equal(true)
    expect(stdout).to.include(`package.json takes the gateway from ${folder}, where this one is from`)
  })
})
