// Runs before a command. At its end, writes the npm packages that it loaded and the folder of compiled code to descriptor 3.
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
