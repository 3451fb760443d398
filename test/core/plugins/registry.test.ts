import { once } from 'node:events'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import * as api from 'unified-model-gateway/plugin'
import { builtinNames, loadPlugin, type PluginKind } from '../../../core/plugins/registry.ts'
import { PRESETS } from '../../../plugins/providers/openai-compatible/presets.ts'
import { type TemporaryFolder, temporaryFolder } from '../config/temporary-folder.ts'

const RESOLVE_PLUGIN_API = new URL('../../../core/plugins/resolve-plugin-api.ts', import.meta.url)

/** A chain plugin written without the plugin API, with some of its parts replaced. */
const definition = (parts = ''): string =>
  `export default { kind: 'chain', apiVersion: 1, name: 'mine', schema: {}, create: () => ({}), ${parts} }`

/** The files of an npm package that can only be imported, not required. */
const PACKAGE_JSON = JSON.stringify({ type: 'module', exports: { import: './main.js' } })

describe('a plugin', () => {
  let folder: TemporaryFolder

  beforeEach(() => {
    folder = temporaryFolder()
  })

  afterEach(() => folder?.remove())

  const load = (name: string, kind: PluginKind = 'chain') => loadPlugin(name, kind, folder.path)

  async function refusal(name: string, kind: PluginKind = 'chain'): Promise<string> {
    const error: unknown = await load(name, kind).catch((reason: unknown) => reason)
    expect(error).to.have.property('name', 'PluginError')
    return (error as Error).message
  }

  function install(name: string, plugin = definition(`name: '${name}'`)): void {
    folder.write(`node_modules/${name}/package.json`, PACKAGE_JSON)
    folder.write(`node_modules/${name}/main.js`, plugin)
  }

  describe('in a file', () => {
    it('beside routes.yaml is found by its relative path', async () => {
      folder.write('mine.mjs', definition())
      expect(await load('./mine.mjs')).to.have.property('name', 'mine')
    })

    it('in another folder is found by a path upwards, an absolute path and a file URL', async () => {
      const path = folder.write('lib/mine.mjs', definition())
      const found = await load(path)
      expect(await loadPlugin('../lib/mine.mjs', 'chain', `${folder.path}/etc`)).to.equal(found)
      expect(await load(pathToFileURL(path).href)).to.equal(found)
    })

    it('of TypeScript outside the installation imports the same plugin API as the gateway', async () => {
      folder.write(
        'mine.ts',
        `import { defineChain, GatewayError, Secret, Type } from 'unified-model-gateway/plugin'
         import * as testing from 'unified-model-gateway/plugin/testing'
         const schema = Type.Object({})
         export const met: unknown = { GatewayError, Secret, testing }
         export default defineChain({ apiVersion: 1, name: 'mine', schema, create: () => ({ handle: (_ctx, next) => next() }) })`,
      )
      expect(await load('./mine.ts')).to.include({ kind: 'chain', name: 'mine' })
      const { met } = await import(`${folder.path}/mine.ts`)
      expect(met).to.include({ GatewayError: api.GatewayError, Secret: api.Secret })
      expect(met.testing).to.have.property('scriptedUpstream')
    })

    it('imports it in a worker thread too', async () => {
      folder.write('pure.ts', `export { API_VERSION } from 'unified-model-gateway/plugin'`)
      const code = `import { parentPort } from 'node:worker_threads'
        const { API_VERSION } = await import('./pure.ts')
        parentPort.postMessage(API_VERSION)`
      const worker = new Worker(folder.write('worker.mjs', code), { execArgv: ['--import', RESOLVE_PLUGIN_API.href] })
      expect(await once(worker, 'message')).to.deep.equal([api.API_VERSION])
      await worker.terminate()
    })

    it('that does not exist is refused with its path', async () => {
      expect(await refusal('./mine.ts')).to.contain(`${folder.path}/mine.ts does not exist`)
    })

    it('that is named without "./" is refused with a hint', async () => {
      folder.write('mine.ts', definition())
      expect(await refusal('mine.ts')).to.contain('write "./mine.ts"')
    })

    it('with a syntax error is refused with the line', async () => {
      const path = folder.write('mine.ts', 'export default {\n  kind: = 1,\n}\n')
      expect(await refusal('./mine.ts'))
        .to.match(/^could not be loaded: /)
        .and.contain(`(${path}:2)`)
    })

    it('that throws when it is loaded is refused with the error', async () => {
      folder.write('error.mjs', 'throw new Error("no licence\\nat all")')
      folder.write('string.mjs', 'throw "no licence"')
      expect(await refusal('./error.mjs')).to.equal('could not be loaded: no licence')
      expect(await refusal('./string.mjs')).to.equal('could not be loaded: no licence')
    })
  })

  describe('of the gateway', () => {
    it('is found by its name', async () => {
      expect(await load('auth')).to.include({ kind: 'chain', name: 'auth' })
      expect(await load('openai-compatible', 'provider')).to.include({ kind: 'provider', name: 'openai-compatible' })
    })

    it('takes precedence over a package of the same name', async () => {
      install('auth', definition('name: "stranger"'))
      install('umg-plugin-auth', definition('name: "stranger"'))
      expect(await load('auth')).to.have.property('name', 'auth')
    })

    it('is suggested for a misspelt name', async () => {
      expect(await refusal('ahut')).to.contain('did you mean "auth"?')
      expect(await refusal('openai_compatibel', 'provider')).to.contain('did you mean "openai-compatible"?')
    })

    it('in the wrong section is refused with the right one', async () => {
      expect(await refusal('openai-compatible')).to.equal('is a provider: name it under "namespaces", not in the chain')
      expect(await refusal('auth', 'provider')).to.equal('is a chain plugin: name it in the chain, not under "namespaces"')
    })

    it("is named with its two lines for each preset's name, also where a package has that name", async () => {
      install('openai', 'export default class OpenAI {}')
      const builtin = await builtinNames('provider')
      for (const preset of Object.keys(PRESETS).filter((name) => !builtin.includes(name)))
        expect(await refusal(preset, 'provider')).to.equal(
          `is a preset; write "provider: openai-compatible" and "config: { preset: ${preset}, … }"`,
        )
      expect(await refusal('openai', 'chain')).to.not.contain('preset')
    })

    it("is named for a vendor's other names", async () => {
      expect(await refusal('azure', 'provider')).to.equal('is not a provider; write "provider: azure-openai"')
      expect(await refusal('Google', 'provider')).to.equal('is not a provider; write "provider: gemini"')
      expect(await refusal('claude', 'provider')).to.equal('is not a provider; write "provider: anthropic"')
    })

    it('is named with what to write for a misspelt preset, and for a misspelt other name of a vendor', async () => {
      const said = 'is neither built in nor an installed package'
      const lines = 'It is a preset; write "provider: openai-compatible" and "config: { preset: mistral, … }"'
      expect(await refusal('mistrl', 'provider')).to.equal(`${said}; did you mean "mistral"? ${lines}`)
      expect(await refusal('opena', 'provider')).to.contain('did you mean "openai"?')
      expect(await refusal('gogle', 'provider')).to.equal(
        `${said}; did you mean "google"? It is not a provider; write "provider: gemini"`,
      )
      expect(await refusal('openai-compatble', 'provider')).to.equal(`${said}; did you mean "openai-compatible"?`)
    })

    it('cannot be named by a relative path', async () => {
      for (const name of ['..', '.', 'auth/..', 'auth/../auth', '']) expect(await refusal(name)).to.contain('neither built in')
    })
  })

  describe('from npm', () => {
    it('is found beside routes.yaml', async () => {
      install('audit-trail')
      install('@acme/audit')
      expect(await load('audit-trail')).to.have.property('name', 'audit-trail')
      expect(await load('@acme/audit')).to.have.property('name', '@acme/audit')
    })

    it('is found by its short name, the longest prefix first', async () => {
      for (const name of ['audit', 'umg-plugin-audit', 'unified-model-gateway-plugin-audit']) install(name)
      for (const name of ['trace', 'umg-plugin-trace']) install(name)
      expect(await load('audit')).to.have.property('name', 'unified-model-gateway-plugin-audit')
      expect(await load('trace')).to.have.property('name', 'umg-plugin-trace')
    })

    it('has another prefix as a provider', async () => {
      install('umg-plugin-vendor')
      install('umg-provider-vendor', definition('kind: "provider", name: "vendor"'))
      expect(await load('vendor', 'provider')).to.include({ kind: 'provider', name: 'vendor' })
    })

    it('is found in the installation of the gateway, after the folder of routes.yaml', async () => {
      expect(await refusal('koa')).to.equal('exports no plugin: end its module with "export default defineChain({…})"')
      install('koa')
      expect(await load('koa')).to.have.property('name', 'koa')
    })

    it('that cannot be imported is refused with the reason', async () => {
      folder.write('node_modules/odd/package.json', JSON.stringify({ exports: { './other': './main.js' } }))
      expect(await refusal('odd')).to.match(/^cannot be imported: .*exports/)
    })

    it('is never a URL', async () => {
      expect(await refusal('https://example.com/plugin.js')).to.contain('neither built in')
      expect(await refusal('data:text/javascript,export default 1')).to.contain('neither built in')
    })
  })

  describe('is refused', () => {
    const FAULTS: Readonly<Record<string, readonly [module: string, message: RegExp]>> = {
      'without a default export': ['export const plugin = 1', /^exports no plugin: .*defineChain/],
      'with a function for a plugin': ['export default () => {}', /^exports no plugin/],
      'that was not defined': ['export default { name: "mine" }', /^exports something that is not a plugin/],
      'of the other kind': [definition('kind: "provider"'), /^is a provider/],
      'made for a later API': [definition('apiVersion: 2'), /version 2 .* speaks version 1: .* or update the gateway/],
      'made for an earlier API': [definition('apiVersion: 0'), /version 0 .* speaks version 1: .* update the plugin/],
      'that does not say its API': [definition('apiVersion: undefined'), /give its definition "apiVersion: 1"/],
      'without a name': [definition('name: ""'), /has no name/],
      'without a schema': [definition('schema: undefined'), /has no schema/],
      'without a function to create it': [definition('create: {}'), /has no function "create"/],
    }

    for (const [fault, [module, message]] of Object.entries(FAULTS)) {
      it(fault, async () => {
        folder.write('mine.mjs', module)
        expect(await refusal('./mine.mjs')).to.match(message)
      })
    }
  })
})
