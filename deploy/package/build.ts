/** Builds the npm package in dist/, or in the folder of the argument: `npm pack ./dist` and `npm publish ./dist` take it from there. */
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ROOT } from './paths.ts'
import { buildRuntime } from './runtime.ts'
import { declareTypes } from './types.ts'

const PACKAGE = resolve(process.argv[2] ?? join(ROOT, 'dist'))

await rm(PACKAGE, { recursive: true, force: true })
await Promise.all([buildRuntime(PACKAGE), declareTypes(join(PACKAGE, 'types'))])
