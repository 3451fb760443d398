#!/usr/bin/env node
// The command `umg`: checks the version of Node, then runs main.ts.
import './node-version.mjs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

// Halves the start-up time. The cache is in the installation, because cached code is run: it needs the same write protection.
const cache = fileURLToPath(new URL('../.cache/', import.meta.url))
module.enableCompileCache(cache)
// A thread enables its own, by the environment.
process.env.NODE_COMPILE_CACHE ??= cache
await import('./main.ts')
