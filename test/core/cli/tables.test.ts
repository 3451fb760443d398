import { Writable } from 'node:stream'
import { expect } from 'chai'
import { writeTable } from '../../../core/cli/store.ts'

describe('a table that a command prints', () => {
  it('has nothing in it that steers the terminal, whatever strangers called themselves', () => {
    let printed = ''
    const stdout = new Writable({
      write(chunk, _, done) {
        printed += chunk
        done()
      },
    })
    writeTable({ stdout, stderr: stdout } as never, [
      ['WHO', 'WHAT'],
      ['\u001b]0;owned\u0007eve', 'a\nb\u009b31m'],
    ])
    expect(printed).to.match(/^WHO +WHAT\n.*eve +.*31m\n$/)
    expect(printed).to.not.match(/(?!\n)\p{Cc}/u)
  })
})
