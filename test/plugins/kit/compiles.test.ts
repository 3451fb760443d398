import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { readText } from '../../support/sources.ts'
import { createPlugin, DOCUMENTED_FILES, install, run } from './author.ts'

interface TsConfig {
  readonly compilerOptions: { readonly types: readonly string[]; readonly [option: string]: unknown }
}

/** The tsconfig.json that docs/plugins.md tells authors to use. */
const DOCUMENTED: TsConfig = JSON.parse(/```json\n(\{\n {2}"compilerOptions"[\s\S]*?)```/.exec(readText('docs/plugins.md'))![1]!)

describe('The TypeScript of a new plugin and of docs/plugins.md', () => {
  let folder: string
  let homes: readonly string[]

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-compile-'))
    homes = [await createPlugin(folder, 'provider'), await createPlugin(folder, 'chain')]
    await install(folder)
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    for (const [name, code] of Object.entries(DOCUMENTED_FILES)) await writeFile(join(folder, name), code)
  })

  after(() => rm(folder, { recursive: true, force: true }))

  it('has the same compiler options', async () => {
    for (const home of homes) {
      const { compilerOptions }: TsConfig = JSON.parse(await readFile(join(home, 'tsconfig.json'), 'utf8'))
      expect(compilerOptions).to.deep.equal({
        ...DOCUMENTED.compilerOptions,
        types: [...DOCUMENTED.compilerOptions.types, 'mocha'],
      })
    }
  })

  it('compiles', async () => {
    // In one run: most of the time goes to the gateway's own types.
    const include = ['*.ts', ...homes.flatMap((home) => [`${home}/src`, `${home}/test`])]
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ extends: `${homes[0]}/tsconfig.json`, include }))
    // In one thread: each of several would check those types anew.
    expect(await run('tsc', ['-p', folder, '--singleThreaded']).catch(({ stdout }) => stdout)).to.equal('')
  }).timeout(120_000)
})
