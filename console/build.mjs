// Builds the console into console/dist: always, or with --if-needed only if it is missing or older than its sources.
// An installation for production (npm ci --omit=dev) has no Vite and builds nothing: it must include console/dist.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const root = import.meta.dirname
const index = join(root, 'dist/index.html')

/** Milliseconds since 1970; 0 if the file is absent. */
const changed = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

function isUpToDate() {
  const built = changed(index)
  const folders = ['src', 'public'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)),
  )
  const sources = [...folders, 'index.html', 'vite.config.ts', '../package-lock.json']
  return sources.every((source) => changed(join(root, source)) <= built)
}

/** Vite, or undefined if only the dependencies of production are installed. */
async function vite() {
  try {
    return await import('vite')
  } catch (error) {
    if (error.code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}

if (!(process.argv.includes('--if-needed') && isUpToDate())) {
  const { build } = (await vite()) ?? {}
  await build?.({ configFile: join(root, 'vite.config.ts'), logLevel: 'warn' })
}
