// Runs before a command: at its end, tells on descriptor 3 which npm packages it has loaded, and where compiled code is kept.
import { writeSync } from 'node:fs'
import { getCompileCacheDir, registerHooks } from 'node:module'

const packages = new Set()

registerHooks({
  load(url, context, next) {
    const [name] = /(?<=\/node_modules\/)(?:@[^/]+\/)?[^/]+(?!.*\/node_modules\/)/.exec(url) ?? []
    if (name !== undefined) packages.add(name)
    return next(url, context)
  },
})

process.on('exit', () => writeSync(3, JSON.stringify({ packages: [...packages], cache: getCompileCacheDir() })))
