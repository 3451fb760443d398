import { expect } from 'chai'
import { writeTable } from '../../../core/cli/output.ts'
import { runCommand } from '../../support/run-command.ts'

describe('a table that a command prints', () => {
  it('contains no control characters, which third-party text could steer the terminal with', async () => {
    const rows = [{ actor: '\u001b]0;owned\u0007eve', object: 'a\nb\u009b31m' }]
    const columns = { WHO: (row: (typeof rows)[0]) => row.actor, WHAT: (row: (typeof rows)[0]) => row.object }
    const { stdout } = await runCommand(async (io) => {
      writeTable(rows, { columns, empty: 'none' }, io)
      return 0
    })
    expect(stdout).to.match(/^WHO +WHAT\n.*eve +.*31m\n$/)
    expect(stdout).to.not.match(/(?!\n)\p{Cc}/u)
  })
})
