import { existsSync, readdirSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import http from 'node:http'
import { join } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'
import { builtPath, keepModuleUrls } from './module-urls.ts'
import { ROOT } from './paths.ts'

/** The entries that are not found by their URLs: the command, and what package.json exports. */
const ENTRIES = ['core/main.ts', 'core/sdk/api.ts', 'core/testing/kit.ts']

/** Resolved where the package is installed: peers of the kit, and native additions that nothing needs. */
const EXTERNAL = /^(?:openai|mocha|pg-native|@napi-rs\/nice)(?:\/|$)/

/** The result of bundling. */
export interface Bundle {
  /** The files that were bundled. */
  readonly modules: readonly string[]
  /** Paths in the package that its modules read, or look for modules in. */
  readonly files: ReadonlySet<string>
}

/**
 * Bundles the gateway with all its npm packages into a folder: a process that loads a few large files starts faster than with a
 * thousand small ones.
 */
export async function bundle(folder: string): Promise<Bundle> {
  const files = new Set<string>()
  const entries = new Set([...ENTRIES, ...builtins()])
  const build = await rolldown({
    input: Object.fromEntries([...entries].map((path) => [builtPath(path), join(ROOT, path)])),
    platform: 'node',
    external: EXTERNAL,
    experimental: { nativeMagicString: true },
    checks: { pluginTimings: false },
    plugins: [ownPluginApi, piscinaThread, httpWithoutWebSocket, keepModuleUrls({ entries, files })],
    onLog(level, log, next) {
      // Of npm packages: nothing here can change them.
      if (log.code !== 'EVAL' && log.code !== 'CIRCULAR_DEPENDENCY') next(level, log)
    },
  })
  const { output } = await build.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name]',
    chunkFileNames: 'core/chunks/[name]-[hash].js',
    sourcemap: true,
    keepNames: true,
    minifyInternalExports: false,
  })
  await build.close()
  await Promise.all(output.map(({ fileName }) => (fileName.endsWith('.map') ? shortenMap(join(folder, fileName)) : undefined)))
  return { modules: output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : [])), files }
}

/** The plugins that come with the gateway: they are loaded by their names. */
function builtins(): readonly string[] {
  return ['plugins/chain', 'plugins/providers'].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .map((name) => `${folder}/${name}/index.ts`)
      .filter((path) => existsSync(join(ROOT, path))),
  )
}

/** The plugins that come with the gateway import the modules that core imports. */
const ownPluginApi: Plugin = {
  name: 'own-plugin-api',
  resolveId: {
    filter: { id: /^unified-model-gateway\// },
    handler: (id) => join(ROOT, id === 'unified-model-gateway/plugin' ? 'core/sdk/api.ts' : 'core/testing/kit.ts'),
  },
}

const PISCINA_THREAD = 'core/workers/piscina.js'

/** Piscina starts its threads with a file beside its own. */
const piscinaThread: Plugin = {
  name: 'piscina-thread',
  transform: {
    filter: { id: /\/piscina\/dist\/index\.js$/ },
    handler(code, id, { magicString }) {
      const path = "(0, node_path_1.resolve)(__dirname, 'worker.js')"
      const at = code.indexOf(path)
      if (at === -1) this.error("Piscina names its thread's file in another way: change this plugin")
      this.emitFile({ type: 'chunk', id: id.replace('index.js', 'worker.js'), fileName: PISCINA_THREAD })
      magicString!.overwrite(at, at + path.length, `"package-path:${PISCINA_THREAD}"`)
      return { code: magicString! }
    },
  },
}

const HTTP = '\0http'

/** As an ES module, `node:http` loads its WebSocket client at once: 45 ms and 12 MiB for each process, for what nothing here uses. */
const httpWithoutWebSocket: Plugin = {
  name: 'http-without-websocket',
  resolveId: {
    filter: { id: /^(?:node:)?http$/ },
    handler: (_id, _importer, { kind }) => (kind === 'require-call' ? null : HTTP),
  },
  load: {
    filter: { id: /^\0http$/ },
    handler() {
      const names = Object.keys(http).filter((name) => !['WebSocket', 'CloseEvent', 'MessageEvent'].includes(name))
      return `const http = process.getBuiltinModule('node:http')\nexport default http\nexport const { ${names.join(', ')} } = http`
    },
  },
}

/** Leaves of a source map what leads to the gateway's own sources: those of npm packages would be two thirds of the package. */
async function shortenMap(file: string): Promise<void> {
  const map = JSON.parse(await readFile(file, 'utf8')) as { sources: string[]; sourcesContent: (string | null)[] }
  const foreign = map.sources.map((source) => source.includes('node_modules/'))
  if (foreign.includes(false)) {
    const sourcesContent = map.sourcesContent.map((text, index) => (foreign[index] ? null : text))
    await writeFile(file, JSON.stringify({ ...map, sourcesContent }))
    return
  }
  const code = file.replace(/\.map$/, '')
  await writeFile(code, (await readFile(code, 'utf8')).replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n'))
  await rm(file)
}
