import { Readable } from 'node:stream'
import { expect } from 'chai'
import { Command } from 'commander'
import { addKeyCommands } from '../../../core/cli/keys/commands.ts'
import { generateKeyCommand, hashKeyCommand } from '../../../core/cli/keys/declared.ts'
import { createSecret } from '../../../core/keys/format.ts'
import { startTestGateway } from '../../support/gateway.ts'
import { runCommand } from '../../support/run-command.ts'

/** Runs a command as it is typed. */
const umg = (...args: readonly string[]) =>
  runCommand(async (io) => {
    const program = new Command()
    addKeyCommands(program, io)
    await program.parseAsync(args, { from: 'user' })
    const code = Number(process.exitCode)
    // That of the test run.
    process.exitCode = undefined
    return code
  })

const generate = (options = {}) => runCommand(async (io) => generateKeyCommand(options, io))
const hash = (text: string, options = {}) => runCommand((io) => hashKeyCommand(options, Readable.from([text]), io))

describe('umg keys for routes.yaml', () => {
  for (const [kind, options] of [
    ['live', {}],
    ['test', { test: true }],
  ] as const) {
    it(`generate a ${kind} key that works when the file declares its hash`, async () => {
      const { code, stdout, stderr } = await generate(options)
      const secret = stdout.trim()
      expect(code).to.equal(0)
      expect(stderr).to.include(`kind: ${kind}`).and.not.include(secret)
      const [declared] = /sha256:[0-9a-f]{64}/.exec(stderr)!
      const gateway = await startTestGateway({
        routes: {
          chain: [{ plugin: 'auth' }],
          namespaces: { sandbox: { provider: 'sandbox' } },
          keys: [{ name: 'nightly', hash: declared, kind, models: ['*'] }],
        },
      })
      const { status } = await gateway.fetch('/v1/models', { key: secret })
      await gateway.stop()
      expect(status).to.equal(200)
    })
  }

  it('hash the secret on stdin as generate does, with or without a line end', async () => {
    const { secret, hash: declared } = JSON.parse((await generate({ json: true })).stdout)
    expect(await hash(secret)).to.deep.equal({ code: 0, stdout: `${declared}\n`, stderr: '' })
    expect((await hash(`${secret}\n`)).stdout).to.equal(`${declared}\n`)
    expect(JSON.parse((await hash(secret, { json: true })).stdout)).to.deep.equal({ kind: 'live', hash: declared })
  })

  it('hash refuses a secret as an argument, which other users of the machine could read, and does not repeat it', async () => {
    const secret = createSecret('live')
    const { code, stdout, stderr } = await umg('keys', 'hash', secret)
    expect([code, stdout]).to.deep.equal([1, ''])
    expect(stderr).to.include('umg keys hash < nightly.key').and.not.include(secret)
  })

  for (const [title, text, reason] of [
    ['an empty text', '\n', 'There is no text on stdin'],
    ['a secret of something else', 'sk-proj-0123456789', 'not a key of this gateway'],
    ['a key with a typo', createSecret('live').replace(/.$/, '-'), 'not a key of this gateway'],
    ['an admin key', createSecret('admin'), 'an admin key, which cannot be declared'],
  ] as const) {
    it(`hash refuses ${title}, and does not repeat it`, async () => {
      const { code, stdout, stderr } = await hash(text)
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' })
      expect(stderr).to.include(reason)
      if (text.trim() !== '') expect(stderr).to.not.include(text.trim())
    })
  }
})
