#!/usr/bin/env node
// The command `umg`: runs main.ts. If this Node is too old, on the one that was installed with the gateway.
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { isTooOld } from './node-version.mjs'
import { findPinnedNode, runOn } from './pinned-node.mjs'

const pinned = isTooOld ? findPinnedNode() : undefined
if (pinned !== undefined) runOn(pinned)
else {
  await import('./require-node.mjs')
  // Halves the start-up time. The cache is in the installation, because cached code is run: it needs the same write protection.
  const cache = fileURLToPath(new URL('../.cache/', import.meta.url))
  module.enableCompileCache(cache)
  // A thread enables its own, by the environment.
  process.env.NODE_COMPILE_CACHE ??= cache
  await import('./main.ts')
}
