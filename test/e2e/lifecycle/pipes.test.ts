import { expect } from 'chai'
import fc from 'fast-check'
import { createKey } from '../../../core/keys/keys.ts'
import { openStore } from '../../../core/store/database.ts'
import { Home } from './umg.ts'

/** The output for so many is larger than the buffer of a pipe, which is 64 KiB. */
const MANY = 500

/** Each of them starts a process. */
const PIPES = 6

const ROUTES = 'version: 1\nchain: [{ plugin: auth }]\nnamespaces: { sandbox: { provider: sandbox } }\n'
const WRONG = ROUTES.replace('[{ plugin: auth }]', `[${'{ plugin: ahut }, '.repeat(MANY)}]`)

/** Prints the exit code of the command on stderr: the shell's exit code is that of the reader. */
const into = (reader: string): string => `{ "$@"; echo "exit code $?" >&2; } | ${reader}`

/** Writes into a pipe whose reader has ended before. */
const WITHOUT_READER = 'rm -f pipe; mkfifo pipe; : <pipe & exec 3>pipe; wait; exec "$@" >&3'

/** Writes into a pipe whose reader copies one line to stderr and ends. */
const READ_ONE_LINE = 'rm -f pipe; mkfifo pipe; { head -n 1 <pipe; echo gone; } >&2 & exec 3>pipe; exec "$@" >&3'

/** A plugin that prints a line for each call. */
const TALKATIVE = `
import { defineChain, Type } from 'unified-model-gateway/plugin'
export default defineChain({
  apiVersion: 1,
  name: 'talkative',
  schema: Type.Object({}),
  create: () => ({
    handle(_, next) {
      process.stdout.write('a call\\n')
      return next()
    },
  }),
})
`

describe('the output of a command into a pipe', () => {
  let home: Home

  before(async () => {
    home = await Home.create({
      'routes.yaml': ROUTES,
      'wrong.yaml': WRONG,
      'talkative.yaml': ROUTES.replace('auth', './talkative.ts'),
      'talkative.ts': TALKATIVE,
    })
    const store = await openStore(`sqlite:${home.path}/gateway.db`)
    await store.db.updateTable('accounts').set({ max_keys: MANY }).execute()
    for (let count = 0; count < MANY; count++) await createKey(store, { name: `key ${count}`, kind: 'live' })
    await store.close()
  })

  after(() => home?.remove())

  for (const [args, code] of [
    [['schema'], 0],
    [['validate', 'wrong.yaml', '--json'], 1],
    [['keys', 'list', '--json', '--database', 'sqlite:gateway.db'], 0],
  ] as const) {
    it(`is complete: umg ${args.join(' ')}`, async () => {
      const { stdout, stderr } = await home.run(args, { script: into('cat') }).ended
      expect(stdout).to.have.length.above(65_536)
      expect(() => JSON.parse(stdout)).not.to.throw()
      expect(stderr).to.equal(`exit code ${code}\n`)
    })
  }

  it('loses its reader: the command ends without a message', async () => {
    const { stdout, stderr } = await home.run(['schema'], { script: into('head -n 1') }).ended
    expect(stdout).to.equal('{\n')
    expect(stderr).to.equal('exit code 141\n')
  })

  it('is the same up to any byte after which its reader ends', async () => {
    const { stdout: whole } = await home.run(['schema'], { script: into('cat') }).ended
    const property = fc.asyncProperty(fc.integer({ min: 1, max: Buffer.byteLength(whole) }), async (bytes) => {
      const { stdout, stderr } = await home.run(['schema'], { script: into(`head -c ${bytes} | base64`) }).ended
      expect(Buffer.from(stdout, 'base64').equals(Buffer.from(whole).subarray(0, bytes)), `${bytes} bytes`).to.equal(true)
      // What the pipe still held was written.
      expect(stderr).to.match(/^exit code (?:0|141)\n$/)
    })
    await fc.assert(property, { numRuns: PIPES, examples: [[1], [65_536]] })
  })

  for (const args of [
    ['--help'],
    ['schema'],
    ['validate'],
    ['explain', 'sandbox/hello', '--json'],
    ['keys', 'list', '--json', '--database', 'sqlite:gateway.db'],
    ['requests', 'list', '--format', 'csv', '--database', 'sqlite:gateway.db'],
    ['usage', '--database', 'sqlite:gateway.db'],
    ['accounts', 'list', '--database', 'sqlite:gateway.db'],
  ]) {
    it(`has no reader: umg ${args.join(' ')} ends without a message`, async () => {
      const { code, stderr } = await home.run(args, { script: WITHOUT_READER }).ended
      expect(stderr).to.equal('')
      expect(code).to.equal(141)
    })
  }

  it('loses its reader: a gateway goes on serving', async () => {
    const gateway = home.run(['start', '--port', '0', '--routes', 'talkative.yaml', '--drain-delay', '0'], {
      script: READ_ONE_LINE,
    })
    const [, url] = await gateway.prints(/^listening on (\S+)\ngone$/m, 'stderr')
    for (const call of ['first', 'second']) {
      const reply = await fetch(`${url}/v1/models`)
      expect(await reply.text(), `the ${call} call`).to.include('API key')
    }
    gateway.signal('SIGTERM')
    expect(await gateway.ended).to.include({ code: 0 })
  })
})
