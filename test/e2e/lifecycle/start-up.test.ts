import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { SOURCES } from '../../support/command.ts'
import { Home } from './umg.ts'

const ROUTES = 'version: 1\nchain: [{ plugin: auth }]\nnamespaces: { sandbox: { provider: sandbox } }\n'

const LINE = ['commander', 'fastest-levenshtein']
const STORE = [...LINE, 'kysely']

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url))
/** The module that Node loads before the command. */
const LOADED = import.meta.resolve('./loaded-modules.mjs')
const script = 'node=$1; shift; "$node" --import "$LOADED" "$@" 3>loaded'

describe('a command starts fast:', () => {
  let home: Home

  /** Runs a command. Resolves to the packages that it loaded, and its errors. */
  async function start(args: readonly string[]) {
    const { stderr } = await home.run(args, { umg: SOURCES, env: { LOADED }, script }).ended
    const { packages, cache } = JSON.parse(await home.read('loaded')) as { packages: string[]; cache?: string }
    return { packages, cache, stderr }
  }

  before(async () => {
    home = await Home.create({ 'routes.yaml': ROUTES })
  })

  after(() => home?.remove())

  for (const [args, allowed] of [
    [['--help'], LINE],
    [['healthcheck', '--url', 'http://127.0.0.1:1'], LINE],
    [['keys', 'list'], STORE],
    [['requests', 'list'], STORE],
    [['usage'], STORE],
  ] as const) {
    it(`umg ${args.join(' ')} loads only what it needs`, async () => {
      const { packages, stderr } = await start(args)
      expect(allowed, stderr).to.include.members(packages)
    })
  }

  for (const [args, absent] of [
    [['schema'], ['koa', 'kysely', 'undici', 'pino', 'prom-client', '@aws-sdk/credential-providers', '@azure/identity']],
    [['validate'], ['koa', 'gpt-tokenizer', 'openid-client', 'pg', 'google-auth-library', '@smithy/signature-v4']],
  ] as const) {
    it(`umg ${args.join(' ')} loads no packages of other commands`, async () => {
      expect((await start(args)).packages).not.to.include.any.members(absent)
    })
  }

  it('compiled code is cached in the folder of the package', async () => {
    const { cache } = await start(['--help'])
    expect(cache).to.match(new RegExp(`^${PROJECT}\\.cache/`))
  })
})
