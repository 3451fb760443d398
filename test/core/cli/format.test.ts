import { globSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import fc from 'fast-check'
import { parse } from 'yaml'
import { format } from '../../../core/cli/config/format.ts'
import { formatYaml } from '../../../core/config/file/format.ts'
import { runCommand } from '../../support/run-command.ts'
import { FULL_CONFIG } from '../config/full-config.ts'
import { type TemporaryFolder, temporaryFolder } from '../config/temporary-folder.ts'

const PROJECT = new URL('../../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, PROJECT), 'utf8')

/** Tables of the project, and of its docs. */
const TABLES = [
  FULL_CONFIG,
  read('routes.yaml'),
  ...globSync('docs/**/*.md', { cwd: PROJECT }).flatMap((page) =>
    [...read(page).matchAll(/```yaml\n(version: 1\n[\s\S]*?)```/g)].map(([, table]) => table!),
  ),
]

const commentsIn = (text: string) => [...text.matchAll(/(?:^|\s)(#.*?)\s*$/gm)].map(([, comment]) => comment)

describe('umg fmt', () => {
  let folder: TemporaryFolder

  before(() => {
    folder = temporaryFolder()
  })

  after(() => folder?.remove())

  const fmt = async (text: string, check = false) => {
    const file = folder.write('routes.yaml', text)
    const { code, stdout, stderr } = await runCommand((io) => format(file, { check }, io))
    return { code, stdout, stderr, text: readFileSync(file, 'utf8') }
  }

  it('keeps comments, quotes and the order of keys', async () => {
    const { code, text } = await fmt(`# The table.
version:   1 # the first


namespaces:
    east:   # ours
        provider: "sandbox"
        models: [ a,b ]
        # Until spring.
        timeouts: {connect: 2s}
    west: { provider: sandbox,
            models: [ 'c' ] }
# The end.
`)
    expect(code).to.equal(0)
    expect(text).to.equal(`# The table.
version: 1 # the first

namespaces:
  east:   # ours
    provider: "sandbox"
    models: [a, b]
    # Until spring.
    timeouts: { connect: 2s }
  west: { provider: sandbox,
          models: [ 'c' ] }
# The end.
`)
  })

  it('changes nothing that a table says, and formats it once', () => {
    const edit = fc.record({ at: fc.nat(), what: fc.constantFrom('# a comment', '', '# "x": {', '   # deeper') })
    fc.assert(
      fc.property(fc.constantFrom(...TABLES), fc.array(edit, { maxLength: 6 }), (table, edits) => {
        const lines = table.split('\n')
        for (const { at, what } of edits) lines.splice(1 + (at % lines.length), 0, what)
        const text = lines.join('\n')
        let formatted: string
        try {
          formatted = formatYaml(text)
        } catch (error) {
          // It would have lost or moved a comment.
          expect((error as Error).name).to.equal('UnformattableText')
          return
        }
        expect(parse(formatted)).to.deep.equal(parse(text))
        expect(commentsIn(formatted)).to.deep.equal(commentsIn(text))
        expect(formatYaml(formatted)).to.equal(formatted)
      }),
      { numRuns: 300 },
    )
  })

  it('has nothing to change in the tables of the project and its docs', () => {
    for (const table of TABLES) expect(formatYaml(table)).to.equal(table)
  })

  it('with --check only says whether the file is formatted', async () => {
    const { code, stdout, text } = await fmt('version:  1\n', true)
    expect({ code, text }).to.deep.equal({ code: 1, text: 'version:  1\n' })
    expect(stdout).to.contain('is not formatted')
    expect(await fmt('version: 1\n', true)).to.include({ code: 0 })
  })

  it('leaves a file alone that is not YAML, and says where', async () => {
    const broken = `version: 1\nnamespaces: { a: \${env:B} }\n`
    const { code, stderr, text } = await fmt(broken)
    expect({ code, text }).to.deep.equal({ code: 2, text: broken })
    expect(stderr).to.contain('routes.yaml:2:18: inside { } and [ ], a reference needs quotes')
    expect((await runCommand((io) => format('no/such.yaml', {}, io))).code).to.equal(2)
  })
})
