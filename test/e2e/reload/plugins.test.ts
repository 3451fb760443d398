import { mkdir, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { reloadAfter, replaceFile, table, tableInUse } from './reloading.ts'

const ROUTES = table('one').replace('namespaces:', '  - plugin: ./plugins/stamp.ts\nnamespaces:')

/** A link that sets a header with a word of its own and a word of another file. */
const stamp = (word: string, more = '') => `
import { defineChain, Type } from 'unified-model-gateway/plugin'
import { other } from './words/other.ts'
${more}
export default defineChain({
  apiVersion: 1,
  name: 'stamp',
  schema: Type.Object({}),
  create: () => ({
    async handle(ctx, next) {
      await next()
      ctx.set('x-stamp', '${word} ' + other)
    },
  }),
})
`
const other = (word: string) => `export const other: string = '${word}'\n`

describe('a local plugin', () => {
  let gateway: TestGateway
  const at = (name: string): string => join(gateway.folder, name)
  const write = (name: string, text: string) => replaceFile(at(name), text)

  beforeEach(async () => {
    const files = { 'plugins/stamp.ts': stamp('one'), 'plugins/words/other.ts': other('1') }
    gateway = await startTestGateway({ routes: ROUTES, files, times: { load: 2000 } })
  })

  afterEach(() => gateway?.stop())

  async function stamped(): Promise<string | null> {
    const reply = await gateway.fetch('/v1/models')
    await reply.text()
    return reply.headers.get('x-stamp')
  }

  const HAS_CHANGED = ['~ link ./plugins/stamp.ts: plugin: ./plugins/stamp.ts has changed']

  it('is loaded again when it is edited', async () => {
    for (const word of ['two', 'three']) {
      const { ok, trigger, difference } = await reloadAfter(gateway, () => write('plugins/stamp.ts', stamp(word)))
      expect({ ok, trigger, difference }).to.deep.equal({ ok: true, trigger: 'file', difference: HAS_CHANGED })
      expect(await stamped()).to.equal(`${word} 1`)
    }
  })

  it('is loaded again when a file that it imports is edited', async () => {
    for (const word of ['2', '3']) {
      const { ok, difference } = await reloadAfter(gateway, () => write('plugins/words/other.ts', other(word)))
      expect({ ok, difference }).to.deep.equal({ ok: true, difference: HAS_CHANGED })
      expect(await stamped()).to.equal(`one ${word}`)
    }
  })

  it('stays in use while its new version cannot be loaded', async () => {
    const MISTAKES = [
      [stamp('two').replace('defineChain({', 'defineChain({{'), /\(.*stamp\.ts:\d+\)/],
      [stamp('two', `throw new Error('not today')`), /could not be loaded: not today/],
      [stamp('two', `import './words/missing.ts'`), /could not be loaded: Cannot find module .*missing\.ts/],
      [
        stamp('two', 'await new Promise(() => {})'),
        /this file was not loaded within 2 seconds: a plugin's module waits for something, or this process has too much other work/,
      ],
    ] as const
    for (const [text, message] of MISTAKES) {
      const { ok, diagnostics } = await reloadAfter(gateway, () => write('plugins/stamp.ts', text))
      expect(ok).to.equal(false)
      expect(diagnostics).to.match(message)
      expect(await stamped()).to.equal('one 1')
    }
    await reloadAfter(gateway, () => write('plugins/stamp.ts', stamp('two')))
    expect(await stamped()).to.equal('two 1')
  })

  it('is loaded once the file that it imports exists', async () => {
    await reloadAfter(gateway, () => write('plugins/stamp.ts', stamp('two', `import './words/late.ts'`)))
    expect(await stamped()).to.equal('one 1')
    expect(await reloadAfter(gateway, () => write('plugins/words/late.ts', ''))).to.include({ ok: true })
    expect(await stamped()).to.equal('two 1')
  })

  it('is closed if create() exceeds the time limit, and does not prevent the next reload', async () => {
    const created = Promise.withResolvers<void>()
    const closed = Promise.withResolvers<void>()
    Object.assign(globalThis, { created, closed })
    const hangs = stamp('two')
      .replace('create: () => ({', 'create: () => created.promise.then(() => ({ close: closed.resolve,')
      .replace(/\}\),\n\}\)\n$/, '})),\n})\n')
    const { ok, diagnostics } = await reloadAfter(gateway, () => write('plugins/stamp.ts', hangs))
    expect({ ok, diagnostics }).to.deep.equal({
      ok: false,
      diagnostics: `${at('routes.yaml')}:6:5: chain plugin stamp: create() did not end within 2 seconds: check what it waits for`,
    })
    await reloadAfter(gateway, () => write('plugins/stamp.ts', stamp('three')))
    expect(await stamped()).to.equal('three 1')
    created.resolve()
    await closed.promise
    expect(await stamped()).to.equal('three 1')
  })

  it('finds the files that its config names beside routes.yaml, not in the working folder', async () => {
    const reads = stamp('two')
      .replace('create: () => ({', 'create: (_, host) => ({')
      .replace(`'two ' + other`, `readFileSync(join(host.directory, 'words/list.txt'), 'utf8')`)
      .replace(/^/, `import { readFileSync } from 'node:fs'\nimport { join } from 'node:path'\n`)
    await mkdir(at('words'))
    await write('words/list.txt', 'beside')
    await reloadAfter(gateway, () => write('plugins/stamp.ts', reads))
    expect(await stamped()).to.equal('beside')
  })

  it('is not loaded again if a mounted table changes and its own files do not', async () => {
    const mount = async (name: string, routes: string) => {
      await mkdir(at(`..${name}/plugins/words`), { recursive: true })
      await write(`..${name}/routes.yaml`, routes)
      await write(`..${name}/plugins/stamp.ts`, stamp('one', `globalThis.loads = (globalThis.loads ?? 0) + 1`))
      await write(`..${name}/plugins/words/other.ts`, other('1'))
      await symlink(`..${name}`, at('..data_tmp'))
      await rename(at('..data_tmp'), at('..data'))
    }
    await mount('first', ROUTES)
    await rm(at('plugins'), { recursive: true })
    await symlink('..data/plugins', at('plugins'))
    await reloadAfter(gateway, async () => {
      await symlink('..data/routes.yaml', at('link'))
      await rename(at('link'), at('routes.yaml'))
    })
    const { loads } = globalThis as { readonly loads?: number }
    const { difference } = await reloadAfter(gateway, async () => {
      await mount('second', ROUTES.replace('x-table: one', 'x-table: two'))
      await rm(at('..first'), { recursive: true })
    })
    expect(difference).to.deep.equal(['~ link header-stamping: config.response.x-table: one → two'])
    expect(await tableInUse(gateway)).to.equal('two')
    expect(globalThis).to.include({ loads })
  })
})
