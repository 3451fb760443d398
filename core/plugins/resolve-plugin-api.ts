import { registerHooks } from 'node:module'

/**
 * Lets a plugin anywhere on the disk import the public plugin API, and gives it the very modules that the gateway runs: without this a
 * `.ts` file beside routes.yaml could not resolve the package, or would meet a second copy of it whose `Secret` is another class.
 * Hooks are per thread: a worker takes this file by `--import`.
 */

const SEAM = new Map([
  ['unified-model-gateway/plugin', new URL('../sdk/api.ts', import.meta.url).href],
  ['unified-model-gateway/plugin/testing', new URL('../testing/kit.ts', import.meta.url).href],
])

registerHooks({
  resolve(specifier, context, nextResolve) {
    const url = SEAM.get(specifier)
    return url === undefined ? nextResolve(specifier, context) : { url, shortCircuit: true }
  },
})
