/** Writes the pages that are made of the code: `npm run docs`. */
import { writeFileSync } from 'node:fs'
import { pluginApiPage } from './plugin-api.ts'
import { providersPage } from './providers.ts'

writeFileSync(new URL('../plugin-api.md', import.meta.url), pluginApiPage())
writeFileSync(new URL('../providers.md', import.meta.url), await providersPage())
