import { execFileSync } from 'node:child_process'
import { expect } from 'chai'
import { SOURCES } from '../../support/command.ts'
import { Home } from './umg.ts'

const ROUTES = 'version: 1\nnamespaces:\n  sandbox: { provider: sandbox }\n'

/** Modules that change Node, or undici, as another version of them might. */
const CHANGES: readonly { readonly what: string; readonly code: string; readonly named: RegExp }[] = [
  {
    what: 'a Node that frames the chunks of each reply itself',
    code: `import { OutgoingMessage } from 'node:http'
Object.defineProperty(OutgoingMessage.prototype, 'chunkedEncoding', { get: () => true, set() {} })`,
    named: /lacks what the gateway needs: ServerResponse\.chunkedEncoding\. Run Node 24 or 26, /,
  },
  {
    what: 'an undici without a module that the gateway imports',
    code: `import { registerHooks } from 'node:module'
registerHooks({
  resolve(name, context, next) {
    if (name === 'undici/lib/dispatcher/pool.js') throw new Error('there is no ' + name)
    return next(name, context)
  },
})`,
    named: /lacks what the gateway needs: there is no undici\/lib\/dispatcher\/pool\.js\. Run Node 24 or 26, /,
  },
]

describe('this Node', () => {
  it('knows the flags of V8 that a gateway sets: V8 ignores what it does not know', () => {
    const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
    for (const flag of ['--external-memory-accounted-in-global-limit', '--max-semi-space-size'])
      expect(known.replaceAll('_', '-')).to.contain(`  ${flag} (`)
  })
})

describe('the start of a gateway', () => {
  let home: Home

  afterEach(() => home?.remove())

  for (const { what, code, named } of CHANGES) {
    for (const workers of ['1', '2']) {
      it(`fails on ${what}, and says what to do, with --workers ${workers}`, async () => {
        home = await Home.create({ 'routes.yaml': ROUTES, 'changed.mjs': code })
        const env = { NODE_OPTIONS: '--import=./changed.mjs' }
        // The bundled command has undici's modules in it.
        const {
          code: exit,
          stdout,
          stderr,
        } = await home.run(['start', '--port', '0', '--workers', workers], { env, umg: SOURCES }).ended
        expect(stderr).to.match(named)
        expect(stdout).to.not.contain('listening on')
        expect(exit).to.equal(1)
      })
    }
  }
})
