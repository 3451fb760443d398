import { expect } from 'chai'
import type { CommandIo } from '../../../core/cli/output.ts'
import { printStartError, type StartOptions } from '../../../core/cli/start/lifecycle.ts'

describe('a start that fails', () => {
  // The whole way, with a locked table, takes the 30 seconds that a query may take.
  it('says what to do when the database does not answer', () => {
    let printed = ''
    const stderr = { write: (text: string) => (printed += text) }
    const code = printStartError(new Error('Query read timeout'), {} as StartOptions, { stderr } as unknown as CommandIo)
    expect(code).to.equal(1)
    expect(printed).to.match(/^The database answers too slowly or not at all \(Query read timeout\)\. See that its server/)
  })
})
