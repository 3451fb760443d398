#!/usr/bin/env node
// The command `umg`: makes sure of Node, then hands over to main.ts.
import './node-version.mjs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

// Halves the time to start. Beside the code, since what is cached is run: who may write there may change the code too.
module.enableCompileCache(fileURLToPath(new URL('../.cache/', import.meta.url)))
await import('./main.ts')
