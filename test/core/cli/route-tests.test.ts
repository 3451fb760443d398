import { expect } from 'chai'
import { testRoutes } from '../../../core/cli/config/route-tests.ts'
import { runCommand } from '../../support/run-command.ts'
import { type TemporaryFolder, temporaryFolder } from '../config/temporary-folder.ts'
import { ACME_ENV, ACME_TABLE } from './acme-table.ts'

describe('umg routes test', () => {
  let folder: TemporaryFolder

  before(() => {
    folder = temporaryFolder()
  })

  after(() => folder?.remove())

  async function test(expectations: string, table = ACME_TABLE) {
    const file = folder.write('routes.yaml', `${table}${expectations}`)
    const { code, stdout, stderr } = await runCommand((io) => testRoutes(file, {}, io), ACME_ENV)
    return { code, stdout: stdout.replaceAll(`${folder.path}/`, ''), stderr: stderr.replaceAll(`${folder.path}/`, '') }
  }

  it('reports each expectation that holds', async () => {
    const { code, stdout } = await test(`expect:
  gpt-4o: openai/gpt-5.5
  acme/smart:
    - { failing: { openai: 5xx, local/qwen3: 429 }, to: local/mistral }
    - { failing: { openai/gpt-5.5: 429, local: connect }, to: upstream_unreachable }
  openai/o4-mini:
    - { failing: { openai: not_found }, to: model_not_found }
`)
    expect(stdout).to.equal(`routes.yaml
  ✔ gpt-4o → openai/gpt-5.5
  ✔ acme/smart, where openai fails (5xx) and local/qwen3 fails (429), → local/mistral
  ✔ acme/smart, where openai/gpt-5.5 fails (429) and local fails (connect), → upstream_unreachable
  ✔ openai/o4-mini, where openai fails (not_found), → model_not_found

4 passing
`)
    expect(code).to.equal(0)
  })

  it('reports the line of one that does not hold, and the ways that calls go', async () => {
    const { code, stdout } = await test('expect:\n  gpt-4o: local/qwen3\n  openai/gpt-5.5: openai/gpt-5.5\n')
    const lines = stdout.split('\n')
    expect(lines[1]).to.equal('  ✖ gpt-4o → local/qwen3   routes.yaml:50')
    expect(lines[2]).to.match(/^ {7}7[3-7] % {2}openai\/gpt-5\.5$/)
    expect(lines.slice(-3)).to.deep.equal(['', '1 passing, 1 failing', ''])
    expect(code).to.equal(1)
  })

  it('gives each simulated call a full retry budget, after any number of calls', async () => {
    const targets = 'targets: [{ model: local/qwen3 }], fallbacks: [local/mistral]'
    const table = ACME_TABLE.replace('asleep:', `first: { ${targets} }\n      second: { ${targets} }\n      asleep:`)
    const expected = '[{ failing: { local/qwen3: 429 }, to: local/mistral }]'
    const { stdout } = await test(`expect: { acme/first: ${expected}, acme/second: ${expected} }\n`, table)
    expect(stdout).to.match(/2 passing\n$/)
  })

  it('assumes that a limit of a namespace is reached only where an expectation says so', async () => {
    const table = ACME_TABLE.replace('  openai:\n', '  openai:\n    limits: { requests: 1/month }\n')
    const { stdout } = await test(
      `expect:
  openai/gpt-5.5:
    - to: openai/gpt-5.5
    - { failing: { openai: limited }, to: namespace_limit_reached }
  acme/smart:
    - { failing: { openai: limited, local/qwen3: timeout }, to: local/mistral }
`,
      table,
    )
    expect(stdout).to.match(/3 passing\n$/)
  })

  it('accepts either of two models with equal shares', async () => {
    for (const model of ['local/qwen3', 'local/mistral'])
      expect((await test(`expect: { acme/spare: ${model} }\n`)).code).to.equal(0)
  })

  it('accepts that a model is not found if its namespaces are left out', async () => {
    expect((await test('expect: { acme/asleep: model_not_found }\n')).code).to.equal(0)
  })

  it('is reproducible', async () => {
    const seen = [await test('expect: { acme/spare: openai/gpt-5.5 }\n'), await test('expect: { acme/spare: openai/gpt-5.5 }\n')]
    expect(seen[0]).to.deep.equal(seen[1])
  })

  it('reports that there are no expectations', async () => {
    const { code, stdout, stderr } = await test('')
    expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' })
    expect(stderr).to.contain('routes.yaml has no expectations: write them under "expect"')
  })

  it('prints the errors of a table that is not valid', async () => {
    const { code, stderr } = await test('expect: { acme/smrat: openai/gpt-5.5 }\n')
    expect(code).to.equal(2)
    expect(stderr).to.contain('did you mean "smart"?')
  })
})
