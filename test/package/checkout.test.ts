import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
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

  it('has its commands in node_modules/.bin, also after a second npm ci', () => {
    for (const _ of ['first', 'second']) execFileSync(process.execPath, [join(folder, 'deploy/link-commands.mjs')])
    for (const command of ['umg', 'unified-model-gateway']) {
      expect(realpathSync(join(folder, 'node_modules/.bin', command))).to.equal(join(folder, `core/${command}.mjs`))
    }
  })
})
