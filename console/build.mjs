// Builds the console into console/dist: always, or with --if-needed only where it is missing or older than its sources.
// What an installation for production lacks (npm ci --omit=dev) builds nothing: then a console/dist is expected to come along.
import { globSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('.', import.meta.url))

/** Milliseconds since 1970, 0 where there is none. */
const changed = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

function isUpToDate() {
  const built = changed(`${root}dist/index.html`)
  const sources = globSync(['{src,public}/**/*.*', 'index.html', 'vite.config.ts', '../package-lock.json'], { cwd: root })
  return sources.every((source) => changed(root + source) <= built)
}

/** Vite, or undefined where only the dependencies of production are installed. */
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
  await build?.({ configFile: `${root}vite.config.ts`, logLevel: 'warn' })
}
