import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { Command } from 'commander'
import { addBackupCommands } from '../../core/cli/backup/commands.ts'
import { addCallCommands } from '../../core/cli/calls/commands.ts'
import { addConfigCommands } from '../../core/cli/config/commands.ts'
import { explain } from '../../core/cli/config/explain.ts'
import { addGatewayCommands } from '../../core/cli/gateway/commands.ts'
import { addKeyCommands } from '../../core/cli/keys/commands.ts'
import { addPeopleCommands } from '../../core/cli/people/commands.ts'
import { addProjectCommands } from '../../core/cli/project/commands.ts'
import { addStartCommand } from '../../core/cli/start/commands.ts'
import { type TemporaryFolder, temporaryFolder } from '../core/config/temporary-folder.ts'
import { runCommand } from '../support/run-command.ts'

const PROJECT = new URL('../../', import.meta.url)
const UMG = new URL('core/umg.mjs', PROJECT).pathname
const read = (name: string): string => readFileSync(new URL(name, PROJECT), 'utf8')
const DOC = read('docs/commands.md')

/** Options that the page names without a row: they are those of another command. */
const ELSEWHERE = ['--data', '--database']

const umg = new Command('umg')
const io = { env: {}, stdout: process.stdout, stderr: process.stderr }
const neverEnds = (): never => {
  throw new Error('no command is run')
}
const leavesOf = (command: Command): readonly Command[] =>
  command.commands.length > 0 ? command.commands.flatMap(leavesOf) : [command]
const nameOf = (command: Command): string =>
  command.parent === umg ? command.name() : `${command.parent?.name()} ${command.name()}`

addConfigCommands(umg, io, neverEnds)
/** Those that the page is about. */
const commands = leavesOf(umg)
addProjectCommands(umg, io, '1.0.0')
addStartCommand(umg, io, neverEnds)
addGatewayCommands(umg, io, neverEnds)
addKeyCommands(umg, io)
addPeopleCommands(umg, io)
addCallCommands(umg, io)
addBackupCommands(umg, io, '1.0.0')

function sectionOf(command: Command): string {
  return new RegExp(`^## umg ${nameOf(command)}\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, 'm').exec(DOC)?.[1] ?? ''
}

describe('docs/commands.md', () => {
  for (const command of commands) {
    it(`has every option of umg ${nameOf(command)}, and none that is not`, () => {
      const rows = [...sectionOf(command).matchAll(/^\| `(--[a-z-]+)/gm)].map(([, option]) => option!)
      const options = command.options.map(({ long }) => long!).filter((long) => !ELSEWHERE.includes(long))
      expect([...new Set(rows)].sort()).to.deep.equal(options.sort())
    })

    it(`has the way to write umg ${nameOf(command)}`, () => {
      expect(sectionOf(command)).to.match(new RegExp(`^\\n\`umg ${nameOf(command)} [^\`]+\`\n`))
    })
  }

  describe('shows', () => {
    let folder: TemporaryFolder

    before(() => {
      folder = temporaryFolder()
    })

    after(() => folder?.remove())

    it('what umg explain prints of the table in routes.md', async () => {
      const [, table = ''] = /```yaml\n(version:[\s\S]+?)```/.exec(read('docs/routes.md')) ?? []
      folder.write('my-audit.ts', MY_AUDIT)
      const routes = folder.write('routes.yaml', table.replace(/file:[^}]+/, 'env:CLAUDE_KEY'))
      const [, written = ''] = /```\n\$ umg explain gpt-4o --key nightly --failing openai=429\n([\s\S]+?)```/.exec(DOC) ?? []
      const options = {
        routes,
        key: 'nightly',
        failing: new Map([['openai', '429' as const]]),
        data: 'unused',
      } as const
      const { stdout } = await runCommand((io) => explain('gpt-4o', options, io), { OPENAI_API_KEY: 'a', CLAUDE_KEY: 'b' })
      expect(written).to.equal(stdout.replaceAll(`${folder.path}/`, ''))
    })
  })
})

describe('the docs', () => {
  it('name only programs of node_modules/.bin that npm ci puts there', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { bin?: Record<string, string> }> }
    const programs = Object.values(packages).flatMap(({ bin = {} }) => Object.keys(bin))
    for (const page of globSync('{*.md,docs/**/*.md}', { cwd: PROJECT }))
      for (const [, program] of read(page).matchAll(/node_modules\/\.bin\/(\w+)/g)) expect(programs, page).to.include(program)
  })

  it('tell operators only commands and options that there are', () => {
    const leaves = new Map(leavesOf(umg).map((command) => [nameOf(command), command]))
    for (const page of ['docs/accounts.md', 'docs/backup.md', 'docs/deployment.md', 'docs/operations.md', 'docs/runbooks.md']) {
      const written = [...read(page).matchAll(/(?:^|`|; |-- |gateway |umg-\S+ )umg ([a-z][^`\n#;|]*)/gm)].map(
        ([, words]) => words!,
      )
      expect(written, page).not.to.have.length(0)
      for (const words of written) {
        const [first, second] = words.split(' ')
        const command = leaves.get(`${first} ${second}`) ?? leaves.get(first!)
        if (command === undefined)
          expect(
            [...leaves.keys()].map((name) => name.split(' ')[0]),
            `${page}: umg ${words}`,
          ).to.include(words)
        const options = command?.options.map(({ long }) => long) ?? []
        expect(options, `${page}: umg ${words}`).to.include.members([...words.matchAll(/--[a-z-]+/g)].map(String))
      }
    }
  })
})

describe('umg', () => {
  for (const command of leavesOf(umg)) {
    it(`shows examples of umg ${nameOf(command)} that can be written so`, () => {
      let help = ''
      command
        .configureOutput({
          writeOut(text) {
            help += text
          },
        })
        .outputHelp()
      const examples = [...help.matchAll(/^ {2}(umg .*)$/gm)].map(([, example]) => example!)
      expect(examples).not.to.deep.equal([])
      for (const example of examples) {
        expect(example).to.match(new RegExp(`^umg ${nameOf(command)}\\b`))
        const known = command.options.map(({ long }) => long)
        expect(known).to.include.members([...example.matchAll(/--[a-z-]+/g)].map(String))
      }
    })
  }

  it('prints JSON of every result with --json', () => {
    const others = leavesOf(umg).filter(({ options }) => !options.some(({ long }) => long === '--json'))
    // What they print is a file.
    const files = ['audit export', 'fmt', 'schema']
    expect(others.map(nameOf).sort(), 'these have none').to.deep.equal([...files, 'start'])
  })

  it('asks what was meant by a command that it does not know', () => {
    let stderr = ''
    try {
      execFileSync(process.execPath, [UMG, 'explian', 'gpt-4o'], { encoding: 'utf8', stdio: 'pipe' })
    } catch (error) {
      stderr = (error as { stderr: string }).stderr
      expect((error as { status: number }).status).to.equal(2)
    }
    expect(stderr).to.contain("unknown command 'explian'").and.contain('Did you mean explain?')
  })
})

const MY_AUDIT = `export default {
  kind: 'chain', apiVersion: 1, name: 'my-audit', schema: { type: 'object' }, create: () => ({ handle: (_, next) => next() })
}
`
